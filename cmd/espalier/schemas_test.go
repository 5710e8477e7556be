package main_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/pipelines"
)

// documentOf names the JSON Schema of a file that a verb has written, by the place
// of the file below the verb's output; "": it is for Espalier alone.
func documentOf(t *testing.T, verb, file string) string {
	t.Helper()
	file = filepath.ToSlash(file)
	switch {
	case strings.HasPrefix(file, "checkpoints/"):
		return ""
	case verb == "predict" && file == "manifest.json":
		return "predictions"
	case verb == "synth" && file == "manifest.json":
		return "synth"
	case strings.HasPrefix(file, "frontier/") || file == "_tree.json":
		return "tree"
	}
	name := strings.TrimSuffix(path.Base(file), ".json")
	if !slices.Contains(schemas(t), name) {
		t.Errorf("%s writes %s, of which no JSON Schema is in schemas: add one", verb, file)
		return ""
	}
	return name
}

// schemaFile returns the path of the JSON Schema of a document.
func schemaFile(document string) string {
	return filepath.Join("..", "..", "io", "runfolder", "schemas", document+".schema.json")
}

// schemas returns the names of the documents that have a JSON Schema.
func schemas(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(schemaFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".schema.json")
	}
	return files
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
		if document := documentOf(t, verb, below); document != "" {
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

// TestSchemas: each document that a verb writes has a JSON Schema that holds, and
// each schema is that of such a document.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	input := mixed(t, 900, parquetio.WriteOptions{})
	out := func(name string) string { return filepath.Join(dir, name) }
	seen := make(map[string]int)
	for _, argv := range [][]string{
		{"train", "--input", input, "--label", "class", "--output", out("run")},
		{"predict", "--model", out("run"), "--input", input, "--output", out("scored")},
		{"evaluate", "--model", out("run"), "--input", input, "--output", out("metrics.json")},
		{"synth", "--rows", "300", "--output", out("made-up")},
	} {
		espalier(t, append(argv, "--progress", "none")...).wants(t, 0)
		output := argv[slices.Index(argv, "--output")+1]
		for document, n := range validateAll(t, argv[0], output) {
			seen[document] += n
		}
	}
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
	for _, document := range schemas(t) {
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
	for _, document := range schemas(t) {
		b, err := os.ReadFile(schemaFile(document))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
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

// TestSchemasListTheSettings: the config of a manifest has the settings of its verb, in the
// schema as in the declarations.
func TestSchemasListTheSettings(t *testing.T) {
	train, predict, synth := pipelines.DefaultConfig(), pipelines.DefaultPredictConfig(), pipelines.DefaultSynthConfig()
	for document, settings := range map[string][]setting.Setting{
		"manifest": train.Settings(), "predictions": predict.Settings(), "synth": synth.Settings(),
	} {
		var schema struct {
			Properties struct {
				Config struct{ Properties map[string]any }
			}
		}
		if err := json.Unmarshal(read(t, schemaFile(document)), &schema); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(setting.Names(settings)))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(schema.Properties.Config.Properties))); diff != "" {
			t.Errorf("%s.schema.json, properties of config (-settings +schema):\n%s", document, diff)
		}
	}
}
