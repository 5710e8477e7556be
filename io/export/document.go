package export

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export/jsontree"
	"github.com/espalier-ml/espalier/io/export/onnx"
	"github.com/espalier-ml/espalier/io/export/pmml"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/io/usage"
)

// Formats that are read by other programs and are not source code.

//go:embed drivers/*.py drivers/*.java
var readers embed.FS

// documents lists the formats that are read by other programs.
func documents() []fileFormat {
	o := reader{
		format: "onnx", file: "model.onnx", driver: "run_onnx.py", run: []string{"python3", "run_onnx.py"},
		probe: func() bool { return exec.Command("python3", "-c", "import onnxruntime, numpy").Run() == nil },
		needs: "Python 3 with onnxruntime: pip install onnxruntime",
	}
	jars := filepath.Join(os.Getenv(pmmlJars), "*")
	p := reader{
		format: "pmml", file: "model.pmml", driver: "RunPMML.java", run: []string{"java", "-cp", jars, "RunPMML.java"},
		probe: func() bool {
			found, err := filepath.Glob(filepath.Join(os.Getenv(pmmlJars), "pmml-evaluator*.jar"))
			return err == nil && len(found) > 0 && installed("javac")
		},
		needs: "a JDK of Java 17, and set " + pmmlJars + " to a folder with org.jpmml:pmml-evaluator-metro and what it needs",
	}
	j := reader{
		format: "json", file: "model.json", driver: "run_plain.py", run: []string{"python3", "run_plain.py"},
		more:  map[string][]byte{"plain_tree.py": jsontree.Interpreter()},
		probe: func() bool { return installed("python3") }, needs: "Python 3, whose program python3 is not there",
	}
	return []fileFormat{p.as(writePMML), o.as(writeONNX), j.as(writeJSON)}
}

// pmmlJars is the variable with the folder of the jars of a PMML evaluator.
const pmmlJars = "ESPALIER_PMML"

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func writeJSON(t *tree.Tree, o Options) ([]byte, error) {
	about := slices.Concat(head(t, o), []string{
		"A row begins at node 0. If its value has the test, it goes to the node yes, otherwise to no, without a value to " +
			"missing; a test \"switch\" looks the value up in cases, and else goes to other.",
		"A node without a test is a leaf: it has the class, the probabilities in the order of classes, tests (how many " +
			"were asked) and their cost.",
	}, units(t))
	return jsontree.Encode(t, about, pathsOf(t, o))
}

func writeONNX(t *tree.Tree, o Options) ([]byte, error) {
	about := slices.Concat(head(t, o), []string{
		"Inputs: one for each feature, of the shape rows x 1. Numbers are doubles, and NaN is missing. Texts are strings; " +
			"features in the metadata has the text that stands for a missing one.",
		"Outputs: label is the class, probabilities has rows x classes in the order of classes in the metadata, leaf is " +
			"the number of the leaf, tests is how many were asked, cost is theirs.",
	}, units(t))
	return onnx.Encode(t, nameOr(o.Name), strings.Join(about, "\n"), pathsOf(t, o))
}

func writePMML(t *tree.Tree, o Options) ([]byte, error) {
	about := slices.Concat(head(t, o), []string{
		"An evaluator of PMML 4.4 takes the fields of the data dictionary by their names; a field without a value is missing.",
		"It returns the class under its name, probability(CLASS) of each class, leaf (the number of the leaf), tests (how " +
			"many were asked) and cost (theirs).",
	}, units(t))
	return pmml.Encode(t, nameOr(o.Name), about, pathsOf(t, o))
}

// units returns a line about the features that are points in time, or nothing.
func units(t *tree.Tree) []string {
	var names, local []string
	for _, f := range t.Tested().Features {
		if f.Unit != dataset.Plain {
			names = append(names, f.Name)
		}
		if f.Zone == dataset.Local {
			local = append(local, f.Name)
		}
	}
	clock := ""
	if len(local) > 0 {
		clock = "; local, by the clock of the place, are " + firsts(local)
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"A date is the number of days since 1970-01-01, a timestamp that of microseconds since then in UTC, and " +
		"a time of day that since midnight: " + firsts(names) + clock + "."}
}

// pathsOf returns the text of the path of each leaf, if predictions include it.
func pathsOf(t *tree.Tree, o Options) []string {
	if !o.With.Path {
		return nil
	}
	return textview.Paths(t)
}

// nameOr returns a name, or model if it is empty.
func nameOr(name string) string { return cmp.Or(name, "model") }

// reader is a program that reads a format.
type reader struct {
	format string
	file   string   // name of the file of the tree
	driver string   // file in drivers, which prints the predictions
	run    []string // followed by the file of the rows
	more   map[string][]byte
	probe  func() bool // reports whether it is installed
	needs  string      // what to install
}

// as returns the format with a function that writes it.
func (r reader) as(write func(t *tree.Tree, o Options) ([]byte, error)) fileFormat {
	return fileFormat{
		name: r.format, write: write, paths: true,
		runs: func(Options) bool { return r.probe() },
		run: func(_ context.Context, t *tree.Tree, o Options) (runner, error) {
			if !r.probe() {
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
