package export

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"os/exec"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
	"github.com/espalier-ml/espalier/io/export/onnx"
	"github.com/espalier-ml/espalier/io/usage"
)

// Formats that other programs read: no source code.

//go:embed drivers/*.py
var readers embed.FS

// documents lists the formats that other programs read.
func documents() []fileFormat {
	o := reader{
		format: "onnx", file: "model.onnx", driver: "run_onnx.py", run: []string{"python3", "run_onnx.py"},
		probe: []string{"python3", "-c", "import onnxruntime, numpy"},
		needs: "Python 3 with onnxruntime: pip install onnxruntime",
	}
	j := reader{
		format: "json", file: "model.json", driver: "run_plain.py", run: []string{"python3", "run_plain.py"},
		more:  map[string][]byte{"plain_tree.py": jsontree.Interpreter()},
		probe: []string{"python3", "--version"}, needs: "Python 3, whose program python3 is not there",
	}
	return []fileFormat{o.as(writeONNX), j.as(writeJSON)}
}

func writeJSON(t *tree.Tree, o Options) ([]byte, error) { return jsontree.Encode(t, head(t, o.Digest)) }

func writeONNX(t *tree.Tree, o Options) ([]byte, error) {
	name := o.Name
	if name == "" {
		name = "model"
	}
	return onnx.Encode(t, name, strings.Join(head(t, o.Digest), "\n"))
}

// reader is a program that reads a format.
type reader struct {
	format string
	file   string   // of the tree
	driver string   // among drivers; prints the predictions
	run    []string // the file of the rows follows
	more   map[string][]byte
	probe  []string // fails if something is not installed
	needs  string   // what people install
}

// as returns the format with a function that writes it.
func (r reader) as(write func(t *tree.Tree, o Options) ([]byte, error)) fileFormat {
	return fileFormat{
		name: r.format, write: write,
		runs: func(Options) bool { return r.found() },
		run: func(_ context.Context, t *tree.Tree, o Options) (runner, error) {
			if !r.found() {
				return nil, usage.Errorf("--verify runs the file: install %s", r.needs)
			}
			content, err := write(t, o)
			if err != nil {
				return nil, fmt.Errorf("--format %s: %w", r.format, err)
			}
			driver, err := readers.ReadFile("drivers/" + r.driver)
			if err != nil {
				return nil, fmt.Errorf("verify: %w", err)
			}
			files := map[string][]byte{r.file: content, r.driver: driver}
			maps.Copy(files, r.more)
			return newBenchOf(r.run, files)
		},
	}
}

func (r *reader) found() bool { return exec.Command(r.probe[0], r.probe[1:]...).Run() == nil }
