package tree_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestTested: only tested features are kept, in their order, and the predictions by name
// stay the same.
func TestTested(t *testing.T) {
	fewer := 0
	for _, family := range families() {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(21, seed))
			full := randomTree(r, family, 1+r.IntN(12))
			before := full.Encode()
			lean := full.Tested()
			if !bytes.Equal(full.Encode(), before) {
				t.Fatalf("tests %s, seed %d: the tree itself has changed", family, seed)
			}
			named := make(map[string]bool)
			for i := range full.Nodes {
				if n := &full.Nodes[i]; !n.Leaf() {
					named[full.Features[n.Test.Feature].Name] = true
				}
			}
			want := slices.DeleteFunc(slices.Clone(full.Features),
				func(f dataset.Feature) bool { return !named[f.Name] })
			if diff := cmp.Diff(want, lean.Features, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("tests %s, seed %d: features (-want +got):\n%s", family, seed, diff)
			}
			fewer += len(full.Features) - len(lean.Features)
			decoded, err := tree.Decode(lean.Encode())
			if err != nil {
				t.Fatalf("tests %s, seed %d: %v", family, seed, err)
			}
			sameOfAll(t, full.Scorer(), decoded.Scorer(), r)
		}
	}
	if fewer == 0 {
		t.Error("no tree left a feature out: the test shows nothing")
	}
}

// sameOfAll compares two scorers of the same inputs on random rows.
func sameOfAll(t *testing.T, a, b *tree.Scorer, r *rand.Rand) {
	t.Helper()
	inputs := a.Features()
	if len(inputs) != len(b.Features()) {
		t.Fatalf("%d inputs, want %d", len(b.Features()), len(inputs))
	}
	values := make([]tree.Value, len(inputs))
	for range 20 {
		for i := range inputs {
			switch {
			case r.IntN(5) == 0:
				values[i] = tree.Value{}
			case inputs[i].Kind == dataset.Numeric:
				values[i] = tree.Number(40 * r.Float64())
			default:
				values[i] = tree.Text([]string{"a", "no", "yes", "", "new"}[r.IntN(5)])
			}
		}
		want, err := a.Predict(values)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Predict(values)
		if err != nil || got.Leaf != want.Leaf || got.Cost != want.Cost {
			t.Fatalf("leaf %v (%v), want %d", got, err, want.Leaf)
		}
	}
}

// smallSchema is a schema with the features of random trees, and with other columns.
func smallSchema() *tree.Schema {
	s := &tree.Schema{Label: tree.Label{Column: `the "label"`, Classes: []string{"a", "\n"}}}
	s.Columns = append(s.Columns, tree.SchemaColumn{Name: "key", Role: "key", Physical: "INT64"})
	fs := features()
	fs[0].Group, fs[0].GroupCost, fs[4].Range = "blood", 3.5, []float64{-1, 40}
	for i := range fs {
		s.Columns = append(s.Columns, tree.SchemaColumn{
			Name: fs[i].Name, Role: "feature", Physical: "DOUBLE",
			Logical: "STRING", Feature: &fs[i],
		})
	}
	s.Columns = append(s.Columns, tree.SchemaColumn{Name: "c", Role: "constant", Physical: "DOUBLE"})
	return s
}

// TestSchemaRoundTrip: encoding and decoding a schema gives the same schema, and a feature
// is written as in tree.json.
func TestSchemaRoundTrip(t *testing.T) {
	want := smallSchema()
	b := want.Encode()
	got, err := tree.DecodeSchema(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := got.Encode(); !bytes.Equal(again, b) {
		t.Errorf("encoded again:\n%s, want\n%s", again, b)
	}
	golden(t, "schema.json", b)
	for _, f := range want.Features() {
		one := tree.Tree{Features: []dataset.Feature{f}}
		_, line, _ := bytes.Cut(one.Encode(), []byte(`"features": [`))
		line, _, _ = bytes.Cut(bytes.TrimSpace(line), []byte("\n"))
		_, members, _ := bytes.Cut(line, []byte(`"type": `))
		if !bytes.Contains(b, members) {
			t.Errorf("schema.json does not spell the feature as tree.json: %s", members)
		}
	}
}

// TestSchemaFaults: a faulty feature has the same error as in tree.json.
func TestSchemaFaults(t *testing.T) {
	const head = `{"format": "espalier/schema", "version": 1, ` +
		`"label": {"column": "y", "classes": ["a", "b"]}, "columns": [`
	for content, want := range map[string]string{
		`[]`:                            "not a schema.json",
		`{"format": "espalier/schema"}`: "version 0",
		`{"format": "espalier/tree"}`:   `format "espalier/tree"`,
		head + `{}]}`:                   "without a name",
		head + `{"name": 3}]}`:          "not a schema.json",
		`{"format": "espalier/schema", "version": 1}`:                                           "label.classes",
		head + `{"name": "x", "role": "feature", "cuts": [1]}]}`:                                "want numeric or categorical",
		head + `{"name": "x", "role": "feature", "type": "numeric", "cuts": [2, 1]}]}`:          "cuts must increase",
		head + `{"name": "x", "role": "feature", "type": "numeric", "cuts": [1], "cost": -1}]}`: "cost -1",
	} {
		if _, err := tree.DecodeSchema([]byte(content)); err == nil ||
			!bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%s: %v, want an error with %q", content, err, want)
		}
	}
	// An early schema.json, without cuts and values.
	s, err := tree.DecodeSchema([]byte(head +
		`{"name": "x", "role": "feature", "physical": "DOUBLE", "type": "numeric", "codes": 3}]}`))
	if err != nil || len(s.Features()) != 0 || len(s.Columns) != 1 {
		t.Errorf("%+v, %v: want a column without a feature", s, err)
	}
}
