package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestFrontierVerb: the list has all trees, a promotion names both runs, and all of its documents are valid.
func TestFrontierVerb(t *testing.T) {
	output := filepath.Join(t.TempDir(), "run")
	input := filepath.Join("example", "tic-tac-toe.parquet")
	espalier(t, "train", "--input", input, "--label", "class", "--output", output, "--progress", "none", "--folds", "2", "--certificate", "none").wants(t, 0)
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
	byAccuracy := espalier(t, "frontier", output, "--merit", "accuracy", "--dry_run", "--progress", "none")
	byAccuracy.wants(t, 0)
	if !strings.Contains(byAccuracy.stdout, "merit (accuracy)") || strings.Contains(listed.stdout, "merit (") {
		t.Errorf("the lists do not name the merit:\n%s\n%s", listed.stdout, byAccuracy.stdout)
	}
	bySize := espalier(t, "frontier", output, "--by", "leaves", "--max_cost", "5", "--progress", "none")
	bySize.wants(t, 0)
	var sizes runfolder.Frontier
	asJSON = espalier(t, "frontier", output, "--by", "leaves", "--max_cost", "5", "--json", "--progress", "none")
	asJSON.wants(t, 0)
	if err := json.Unmarshal([]byte(asJSON.stdout), &sizes); err != nil || len(sizes.Points) < 5 ||
		!strings.Contains(bySize.stdout, fmt.Sprintf("%d trees by size", len(sizes.Points))) {
		t.Fatalf("%d points, %v:\n%s", len(sizes.Points), err, bySize.stdout)
	}
	for i := range sizes.Points {
		if q := &sizes.Points[i]; q.MaxCost > 5 || i > 0 && q.Leaves <= sizes.Points[i-1].Leaves {
			t.Errorf("tree %d of the list by size has %d leaves and costs %v at most", i, q.Leaves, q.MaxCost)
		}
	}
	third := filepath.Join(t.TempDir(), "third")
	promoted := espalier(t, "frontier", output, "--promote", "003", "--output", third, "--progress", "none")
	promoted.wants(t, 0)
	if !strings.Contains(dry.stdout, "without --dry_run") || !strings.Contains(strings.Join(strings.Fields(promoted.stdout), " "),
		"wrote "+third+", a run with tree 003 of "+output) {
		t.Errorf("%s\n%s", dry.stdout, promoted.stdout)
	}
	if seen := validateAll(t, "train", third); seen["manifest"] != 1 || seen["tree"] != len(f.Points)+1 {
		t.Errorf("validated %v", seen)
	}
	from := espalier(t, "show", third, "--origin")
	if text := strings.Join(strings.Fields(from.stdout), " "); !strings.Contains(text, ", from the frontier of "+output+",") {
		t.Errorf("the origin does not name the first run:\n%s", from.stdout)
	}
	espalier(t, "export", third).wants(t, 2, "--format is missing: want c, java, ")
	for _, argv := range [][]string{
		{"frontier"},
		{"frontier", output, "x"},
		{"frontier", filepath.Join(output, "none")},
		{"frontier", output, "--promote", "3"},
		{"frontier", output, "--output", third},
		{"frontier", output, "--promote", "2", "--output", third},
		{"frontier", output, "--merit", "gini", "--dry_run"},
		{"frontier", output, "--by", "size"},
		{"frontier", output, "--by", "leaves", "--promote", "3"},
		{"frontier", output, "--by", "leaves", "--output", filepath.Join(t.TempDir(), "new")},
	} {
		espalier(t, argv...).wants(t, 2)
	}
}

// TestFrontierInStores: a promotion reads and writes folders of an object store. A folder without _SUCCESS is replaced
// only with --overwrite.
func TestFrontierInStores(t *testing.T) {
	longtest.Skip(t)
	for _, scheme := range []string{"gs", "s3"} {
		cl := newCloud(t, scheme)
		run := cl.url + "/run"
		cl.train(t, cl.url+"/*.parquet", run, "--ignore", fiveColumns(), "--split", "70/10/20", "--algorithm", "c45",
			"--tests", "threshold").wants(t, 0)
		output := cl.url + "/promoted"
		promote := []string{"frontier", run, "--promote", "1", "--output", output, "--without_rows", "--progress", "none"}
		espalier(t, promote...).wants(t, 0, "")
		read := func(name string) string {
			b, err := cl.store.ReadAll(t.Context(), output+"/"+name, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		if read("tree.json") != read("frontier/001.json") || !strings.Contains(read("manifest.json"), `"run": "`+run+`"`) {
			t.Errorf("%s: the run has another tree", scheme)
		}
		if err := cl.store.Remove(t.Context(), output+"/_SUCCESS"); err != nil { // as if it was killed
			t.Fatal(err)
		}
		espalier(t, promote...).wants(t, 2, "has an unfinished run")
		espalier(t, append(promote, "--overwrite")...).wants(t, 0, "")
		if _, err := cl.store.Stat(t.Context(), output+"/_SUCCESS"); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}
