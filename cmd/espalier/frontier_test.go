package main_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestFrontierVerb: the list has all trees, a promotion is told with the way back, and all
// documents stay valid.
func TestFrontierVerb(t *testing.T) {
	output := filepath.Join(t.TempDir(), "run")
	input := filepath.Join("example", "tic-tac-toe.parquet")
	espalier(t, "train", "--input", input, "--label", "class", "--output", output, "--progress", "none").wants(t, 0)
	listed := espalier(t, "frontier", output)
	listed.wants(t, 0)
	var f runfolder.Frontier
	asJSON := espalier(t, "frontier", output, "--json")
	asJSON.wants(t, 0)
	if err := json.Unmarshal([]byte(asJSON.stdout), &f); err != nil || len(f.Points) < 10 {
		t.Fatalf("%d points, %v", len(f.Points), err)
	}
	if rows := strings.Count(listed.stdout, "\n0"); rows != len(f.Points) { // each begins with its number
		t.Errorf("%d rows for %d trees:\n%s", rows, len(f.Points), listed.stdout)
	}
	dry := espalier(t, "frontier", output, "--max_leaves", "4", "--dry_run", "--progress", "none")
	dry.wants(t, 0)
	promoted := espalier(t, "frontier", output, "--promote", "003", "--progress", "none")
	promoted.wants(t, 0)
	if !strings.Contains(dry.stdout, "would become") || !strings.Contains(promoted.stdout, "tree 003 is the run's tree now") {
		t.Errorf("%s\n%s", dry.stdout, promoted.stdout)
	}
	if seen := validateAll(t, "train", output); seen["manifest"] != 1 || seen["tree"] != len(f.Points)+1 {
		t.Errorf("validated %v", seen)
	}
	for _, argv := range [][]string{{"frontier"}, {"frontier", output, "x"}, {"frontier", filepath.Join(output, "none")}} {
		espalier(t, argv...).wants(t, 2)
	}
}

// TestFrontierInStores: a tree is promoted in a folder of an object store. A
// folder without _SUCCESS, which a killed promotion leaves, is mended by the same command.
func TestFrontierInStores(t *testing.T) {
	for _, scheme := range []string{"gs", "s3"} {
		cl := newCloud(t, scheme)
		run := cl.url + "/run"
		cl.train(t, cl.url+"/*.parquet", run, "--ignore", fiveColumns(), "--split", "70/10/20", "--algorithm", "c45",
			"--tests", "threshold").wants(t, 0)
		espalier(t, "frontier", run, "--promote", "1", "--without_rows", "--progress", "none").wants(t, 0, "")
		read := func(name string) string {
			b, err := cl.store.ReadAll(t.Context(), run+"/"+name, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		if read("tree.json") != read("frontier/001.json") || !strings.Contains(read("manifest.json"), "promotions") {
			t.Errorf("%s: the run has another tree", scheme)
		}
		if err := cl.store.Remove(t.Context(), run+"/_SUCCESS"); err != nil { // as if it was killed
			t.Fatal(err)
		}
		espalier(t, "frontier", run, "--promote", "1", "--without_rows", "--progress", "none").wants(t, 0, "")
		if _, err := cl.store.Stat(t.Context(), run+"/_SUCCESS"); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}
