package runfolder_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// edit replaces a text of a golden tree.
type edit struct{ name, from, to string }

// validate checks that the schema takes a golden tree, and refuses each edit of it.
func validate(t *testing.T, golden string, edits []edit) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(runfolder.Schemas()["tree"]))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tree.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("tree.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", golden))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range append([]edit{{}}, edits...) {
		text := strings.Replace(string(b), edit.from, edit.to, 1)
		if edit.name != "" && text == string(b) {
			t.Fatalf("%s: the edit changes nothing", edit.name)
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", edit.name, err)
		}
		if err := schema.Validate(instance); (err == nil) != (edit.name == "") {
			t.Errorf("%q: %v", edit.name, err)
		}
	}
}

// TestTreeSchemaOfModels: the schema takes the golden tree with a leaf model, and refuses
// what Decode refuses in its form.
func TestTreeSchemaOfModels(t *testing.T) {
	validate(t, "modelled.json", []edit{
		{"a model in version 1", `"version": 2`, `"version": 1`},
		{"version 2 without a model", `"model": {`, `"other": {`},
		{"version 3 without boosters", `"version": 2`, `"version": 3`},
		{"a booster in version 2", `"intercept": [0.25], `, `"intercept": [0.25], "booster": 0, `},
		{
			"boosters in version 2", `"nodes": [`,
			`"boosters": [[[{"feature": "age", "ge": 30.5, "yes": [1], "no": [1]}]]], "nodes": [`,
		},
		{"a model of an inner node", `"test": {`, `"model": {"intercept": [0], "terms": []}, "test": {`},
		{"no intercept", `"intercept": [0.25], `, ``},
		{"an empty intercept", `"intercept": [0.25]`, `"intercept": []`},
		{"no knots", `"at": [20, 30]`, `"at": []`},
		{"equal knots", `"at": [20, 30]`, `"at": [20, 20]`},
		{"a value that is no list", `[[-1], [2]]`, `[-1, 2]`},
		{"no missing", `, "missing": [0.5]`, ``},
		{"an unknown key", `"intercept": [0.25], `, `"intercept": [0.25], "link": "logit", `},
	})
}

// TestTreeSchemaOfBoosters is TestTreeSchemaOfModels for leaf models with boosters.
func TestTreeSchemaOfBoosters(t *testing.T) {
	validate(t, "boosted.json", []edit{
		{"boosters in version 2", `"version": 3`, `"version": 2`},
		{"version 4", `"version": 3`, `"version": 4`},
		{"no boosters", `"boosters": [`, `"others": [`},
		{"an empty booster", `"boosters": [`, `"boosters": [[],`},
		{"an empty tree", `"boosters": [`, `"boosters": [[[]],`},
		{"no cut and no value", `"ge": 30.5, "yes"`, `"yes"`},
		{"a cut and a value", `"ge": 30.5, "yes"`, `"ge": 30.5, "is": "a", "yes"`},
		{"no feature", `"feature": "age", "ge"`, `"ge"`},
		{"missing to no", `"missing": true, "yes"`, `"missing": false, "yes"`},
		{"no yes", `"yes": [0.5], `, ``},
		{"no no", `, "no": 1`, ``},
		{"the first split as a side", `"no": 1`, `"no": 0`},
		{"an empty side", `"yes": [0.5]`, `"yes": []`},
		{"a number below 0", `"booster": 0`, `"booster": -1`},
		{"a booster that is no number", `"booster": 0`, `"booster": [0]`},
		{"an unknown key", `"ge": 30.5, "yes"`, `"ge": 30.5, "lt": 40, "yes"`},
	})
}
