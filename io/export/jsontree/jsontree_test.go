package jsontree_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/docs"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestSchema: documents of trees with all kinds of tests, leaf models and boosters are valid.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
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
		document, err := jsontree.Encode(m, []string{"about"}, textview.Paths(m))
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

// compiled returns the schema of the documents.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("plain_tree.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestDocs: the example of docs/files.md is a valid document, and docs/exports.md leads to the interpreter that
// --verify runs.
func TestDocs(t *testing.T) {
	t.Parallel()
	files, _ := docs.Find("files")
	_, example, _ := strings.Cut(files.Text, "\n```json\n")
	example, _, _ = strings.Cut(example, "\n```")
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(example))
	if err != nil {
		t.Fatalf("%q: %v", example, err)
	}
	if err := compiled(t).Validate(value); err != nil {
		t.Error(err)
	}
	exports, _ := docs.Find("exports")
	if !strings.Contains(exports.Text, "](../io/export/jsontree/plain_tree.py)") || len(jsontree.Interpreter()) == 0 {
		t.Error("docs/exports.md does not link to the interpreter")
	}
}
