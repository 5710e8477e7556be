package jsontree_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
	"github.com/espalier-ml/espalier/io/report"
)

// TestSchema: documents of trees with all kinds of tests, leaf models and boosters are valid.
func TestSchema(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsontree.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../induce/tree/testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "schema.json" {
			continue
		}
		m, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsontree.Encode(m, []string{"about"}, report.Paths(m))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("%d trees: want those of package tree", tried)
	}
}

// TestDocs: the page has the interpreter as it is run by --verify.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```python\n"+string(jsontree.Interpreter())+"```\n") {
		t.Error("docs/files.md does not have the interpreter of this package: write it there")
	}
}
