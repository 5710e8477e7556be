package main_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestDataflowDryRun: offline, with the input in an emulated bucket, each job is
// translated, and nothing is written. What a run on Dataflow lacks is told.
func TestDataflowDryRun(t *testing.T) {
	longtest.Skip(t)
	c := newCloud(t, "gs")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none"))
	args := []string{
		"train", "--runner", "dataflow", "--dry_run", "--label", "class", "--progress", "none", "--output",
		"gs://bucket/run", "--input",
	}
	engine := []string{"--project", "project", "--region", "europe-west1", "--staging_location", "gs://bucket/staging"}
	espalier(t, append(args, c.url+"/*.parquet")...).wants(t, 2, "--project", "--region", "--staging_location")
	local := mixed(t, 100, parquetio.WriteOptions{})
	o := espalier(t, append(append(args, local), engine...)...)
	o.wants(t, 0, "warning: a run would end with: --runner dataflow: "+local, "gs://")
	outcome{stderr: o.stdout}.wants(t, 0, "translated for Dataflow: summarise, coalesce, level, grow, evaluate")
	espalier(t, append(append(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--dry_run" }), local),
		engine...)...).wants(t, 2, "dataflow", local, "gs://")
	o = espalier(t, append(append(args, c.url+"/*.parquet"), engine...)...)
	o.wants(t, 0)
	outcome{stderr: o.stdout}.wants(t, 0, "translated for Dataflow: summarise, coalesce, level, grow, evaluate",
		"no row was read or written")
	if list, err := c.store.List(t.Context(), "gs://bucket/run/**"); err == nil {
		t.Errorf("the dry run has written %v", list)
	}
}
