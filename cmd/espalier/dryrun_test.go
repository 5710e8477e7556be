package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestDryRun: the estimate goes to stdout, and there is no trace of it
// elsewhere.
func TestDryRun(t *testing.T) {
	input := mixed(t, 3000, parquetio.WriteOptions{RowsPerGroup: 500})
	for _, memory := range []string{"-1", "0", "200"} {
		o, output := train(t, input, "--dry_run", "--memory_objects", memory)
		o.wants(t, 0)
		for _, want := range []string{"rows", "3,000", "objects", "passes over objects", "shuffle", "memory", "estimate"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("stdout lacks %q:\n%s", want, o.stdout)
			}
		}
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			t.Fatal(err)
		}
		if left := files(t, filepath.Dir(output)); len(left) > 0 || o.stderr != "" {
			t.Errorf("left behind: %v; stderr: %s", left, o.stderr)
		}
	}
	o, _ := train(t, filepath.Join(t.TempDir(), "none.parquet"), "--dry_run")
	o.wants(t, 2, "--input")
}

// TestPeakMemory: the peak of a process is foreseen within a factor of 2, and
// the run tells what it expects.
func TestPeakMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a run without -short: half a million rows")
	}
	o, folder := synth(t, "--rows", "5e5")
	o.wants(t, 0)
	output := filepath.Join(t.TempDir(), "run")
	o = espalier(t, "train", "--input", filepath.Join(folder, "*.parquet"), "--label", "class", "--output", output,
		"--select", "first", "--certificate", "none", "--memory_objects", "1e5", "--progress", "plain")
	o.wants(t, 0, "expecting 500,000 rows")
	validate(t, "manifest", filepath.Join(output, "manifest.json"))
	var m runfolder.Manifest
	if err := json.Unmarshal(read(t, filepath.Join(output, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	if e, r := m.Estimate.DriverMemory, m.Measured.DriverMemory; e > 2*r || r > 2*e {
		t.Errorf("%d bytes foreseen, %d measured", e, r)
	}
}
