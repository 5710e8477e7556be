package onnx_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/onnx"
)

// TestChecker: ONNX's own checker accepts models with all kinds of tests, leaf models and
// boosters, and infers the shapes of their outputs. Package export runs models.
func TestChecker(t *testing.T) {
	t.Parallel()
	if exec.Command("python3", "-c", "import onnx").Run() != nil {
		t.Skip("waits for Python with onnx: pip install onnx")
	}
	files, err := filepath.Glob("../../../induce/tree/testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-c", `
import sys, onnx
for file in sys.argv[1:]:
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    print(*(o.name for o in model.graph.output))
`}
	for _, file := range files {
		if filepath.Base(file) == "schema.json" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		model, err := onnx.Encode(m, "model", "about", nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), filepath.Base(file)+".onnx")
		if err := os.WriteFile(path, model, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.Command("python3", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := strings.Repeat("label probabilities leaf tests cost\n", len(args)-2)
	if string(out) != want || len(args) < 7 {
		t.Errorf("outputs of %d models: %s", len(args)-2, out)
	}
}
