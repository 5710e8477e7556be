package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// schemaOf names the JSON Schema of a file that a verb has written, by the place of the file
// below the verb's output; "": it is for Espalier alone.
func schemaOf(t *testing.T, verb, file string) string {
	t.Helper()
	file = filepath.ToSlash(file)
	kind := runfolder.Training
	switch {
	case strings.HasPrefix(file, "checkpoints/"):
		return ""
	case verb == "ask": // prints a line
		return verb
	case file == "labelled.json", file == "plain.json": // of evaluate --against
		return "comparison"
	case verb == "predict":
		kind = runfolder.Predictions
	case verb == "import":
		kind = runfolder.Imported
	}
	d := kind.DocumentOf(file)
	if d == nil || d.Schema == "" {
		t.Errorf("%s writes %s, which runfolder.Documents does not list with a JSON Schema", verb, file)
		return ""
	}
	return d.Schema
}

// validateAll validates all JSON that a verb has written to its output by its
// schema, and returns how many documents of each kind there were.
func validateAll(t *testing.T, verb, output string) map[string]int {
	t.Helper()
	seen := make(map[string]int)
	err := filepath.WalkDir(output, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".json" {
			return err
		}
		below, err := filepath.Rel(output, file)
		if below == "." {
			below = filepath.Base(file)
		}
		if document := schemaOf(t, verb, below); document != "" {
			validate(t, document, file)
			seen[document]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestSchemas: every document of a verb is valid by its JSON Schema, and every schema
// belongs to a document.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	input := mixed(t, 900, parquetio.WriteOptions{})
	out := func(name string) string { return filepath.Join(dir, name) }
	letters := out("letters.csv")
	if err := os.WriteFile(letters, []byte("a,class\n1,x\n2,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, argv := range [][]string{
		{"train", "--input", input, "--label", "class", "--output", out("run")},
		{"train", "--input", input, "--label", "class", "--output", out("other"), "--select", "first", "--max_depth", "3"},
		{"predict", "--model", out("run"), "--input", input, "--output", out("scored")},
		{"evaluate", "--model", out("run"), "--input", input, "--output", out("metrics.json")},
		{"evaluate", out("run"), "--against", out("other"), "--input", input, "--output", out("labelled.json")},
		{"evaluate", out("run"), "--against", out("other"), "--input", input, "--output", out("plain.json"), "--label", "none"},
		{"import", letters, "--output", out("imported")},
	} {
		espalier(t, append(argv, "--progress", "none")...).wants(t, 0)
		output := argv[slices.Index(argv, "--output")+1]
		for document, n := range validateAll(t, argv[0], output) {
			seen[document] += n
		}
	}
	drift := espalier(t, "drift", "--model", out("run"), "--input", input, "--json", "--progress", "none")
	if err := os.WriteFile(out("drift.json"), []byte(drift.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	validate(t, "drift", out("drift.json"))
	seen["drift"]++
	seen["attempt"], seen["latest"], seen["origin"] = 1, 1, 1 // TestRetrainDays and TestOrigin validate them
	seen["live"] = 1                                          // TestLiveFigures validates it
	seen["notice"] = 1                                        // TestNight validates it
	ask := exec.Command(binary, "ask", out("run"), "--json")
	ask.Stdin = strings.NewReader(strings.Repeat("\n", 20)) // unknown
	answer, err := ask.Output()
	if err == nil {
		err = os.WriteFile(out("ask.json"), answer, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen["ask"] += validateAll(t, "ask", out("ask.json"))["ask"]
	for document := range runfolder.Schemas() {
		if seen[document] == 0 {
			t.Errorf("schemas/%s.schema.json is that of no document written: %v", document, seen)
		}
	}
	if seen["tree"] < 4 || seen["frontier"] != 1 {
		t.Errorf("documents written: %v, want trees of the frontier and the frontier among them", seen)
	}
}

// TestSchemasAreClosed: schemas allow no key that they do not describe, so that a
// new one must be described.
func TestSchemasAreClosed(t *testing.T) {
	for document, b := range runfolder.Schemas() {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		objects := 0
		var walk func(at string, value any)
		walk = func(at string, value any) {
			switch v := value.(type) {
			case map[string]any:
				if v["type"] == "object" {
					objects++
					if _, ok := v["additionalProperties"]; !ok {
						t.Errorf("%s.schema.json%s: an object without additionalProperties", document, at)
					}
				}
				for key, inner := range v {
					walk(at+"/"+key, inner)
				}
			case []any:
				for _, inner := range v {
					walk(at, inner)
				}
			}
		}
		walk("", schema)
		if objects == 0 {
			t.Errorf("%s.schema.json describes no object", document)
		}
	}
}
