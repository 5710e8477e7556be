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

// TestTreeSchemaOfModels: the schema takes the golden tree with a leaf model, and refuses
// what Decode refuses in its form.
func TestTreeSchemaOfModels(t *testing.T) {
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
	b, err := os.ReadFile(filepath.Join("..", "..", "induce", "tree", "testdata", "golden", "modelled.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct{ name, from, to string }{
		{"", "", ""},
		{"a model in version 1", `"version": 2`, `"version": 1`},
		{"version 2 without a model", `"model": {`, `"other": {`},
		{"version 3", `"version": 2`, `"version": 3`},
		{"a model of an inner node", `"test": {`, `"model": {"intercept": [0], "terms": []}, "test": {`},
		{"no intercept", `"intercept": [0.25], `, ``},
		{"an empty intercept", `"intercept": [0.25]`, `"intercept": []`},
		{"no knots", `"at": [20, 30]`, `"at": []`},
		{"equal knots", `"at": [20, 30]`, `"at": [20, 20]`},
		{"a value that is no list", `[[-1], [2]]`, `[-1, 2]`},
		{"no missing", `, "missing": [0.5]`, ``},
		{"an unknown key", `"intercept": [0.25], `, `"intercept": [0.25], "link": "logit", `},
	} {
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
