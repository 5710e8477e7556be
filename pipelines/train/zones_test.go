package train_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestZones: tree.json distinguishes timestamps in UTC and local timestamps, a tree without
// timestamps has no zones, and rows of the other zone get a warning.
func TestZones(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct{ name, zone, other string }{
		{"timestamp us", `"unit": "timestamp", "zone": "utc"`, "timestamp us local"},
		{"timestamp us local", `"unit": "timestamp", "zone": "local"`, "timestamp ms"},
		{"int96", `"unit": "timestamp", "cuts"`, ""},
		{"date", `"unit": "date", "cuts"`, ""},
	} {
		encoded, err := trainTree(t, typed(t, folder, c.name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := tree.Decode(encoded)
		if err != nil || !strings.Contains(string(encoded), c.zone) || string(m.Encode()) != string(encoded) {
			t.Errorf("%s: %v; want %s in:\n%.400s", c.name, err, c.zone, encoded)
		}
		if c.other == "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "tree.json")
		if err := os.WriteFile(file, encoded, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, rows := range []string{c.name, "int96", c.other, "text of timestamps"} { // the texts are in UTC
			reporter := new(silent)
			_, _, err := pipelines.Evaluate(t.Context(), config.Evaluate{
				Model: file, Input: []string{typed(t, t.TempDir(), rows)},
			}, reporter)
			warned := strings.Contains(strings.Join(reporter.warnings, "\n"), "whatever the distance of the place from UTC")
			if err != nil || warned != (rows == c.other || rows == "text of timestamps" && c.other == "timestamp ms") {
				t.Errorf("a tree of %s on %s: error %v, warnings %q", c.name, rows, err, reporter.warnings)
			}
		}
	}
}

// TestMixedZones: timestamps of both kinds in the files of one input are told.
func TestMixedZones(t *testing.T) {
	folder := t.TempDir()
	files := []string{typed(t, folder, "timestamp us"), typed(t, folder, "timestamp us local"), typed(t, folder, "text of timestamps")}
	for _, input := range [][]string{files[:2], files[:1], files[1:2], files[1:]} {
		c := oneTree()
		c.Input, c.Label, c.Split, c.Output = input, "class", dataset.Shares{100, 0, 0}, filepath.Join(t.TempDir(), "run")
		reporter := new(silent)
		_, err := train.Train(t.Context(), c, reporter)
		warned := strings.Contains(strings.Join(reporter.warnings, "\n"), "all are read as they stand")
		if err != nil || warned != (len(input) == 2) {
			t.Errorf("%q: %v, warnings %q", input, err, reporter.warnings)
		}
	}
}
