package main_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// TestFeaturesAreSpelledAlike compares the members of a feature in
// schemas/schema.schema.json with those in schemas/tree.schema.json.
func TestFeaturesAreSpelledAlike(t *testing.T) {
	type object struct {
		Properties map[string]any
		Required   []string
	}
	read := func(document string, to any) {
		if err := json.Unmarshal(runfolder.Schemas()[document], to); err != nil {
			t.Fatal(err)
		}
	}
	type kinds struct{ OneOf []object }
	var tree struct {
		Defs struct{ Feature kinds } `json:"$defs"`
	}
	var schema struct {
		Defs struct {
			Column kinds `json:"schema-column"`
		} `json:"$defs"`
	}
	read("tree", &tree)
	read("schema", &schema)
	features, columns := tree.Defs.Feature.OneOf, schema.Defs.Column.OneOf
	if len(features) != 2 || len(columns) != 3 {
		t.Fatalf("%d kinds of feature and %d of column, want 2 and, with those that are no features, 3", len(features),
			len(columns))
	}
	for i, feature := range features {
		column := columns[i+1]
		for _, own := range []string{"role", "physical", "logical"} {
			delete(column.Properties, own)
		}
		if diff := cmp.Diff(feature.Properties, column.Properties); diff != "" {
			t.Errorf("feature %d (-tree +schema):\n%s", i, diff)
		}
	}
}

// TestUnknownVerb: the error is about the verb, whatever flags follow it.
func TestUnknownVerb(t *testing.T) {
	for verb, want := range map[string]string{"trian": `unknown verb "trian"; did you mean "train"?`, "p.csv": `unknown verb "p.csv" (`} {
		for _, flags := range [][]string{nil, {"--input", "x"}, {"--output=x", "--label", "y"}} {
			espalier(t, append([]string{verb}, flags...)...).wants(t, 2, want)
		}
	}
	espalier(t, "--input", "x").wants(t, 2, "unknown flag: --input")
}
