package export_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// batch is how many files are compiled at once.
const batch = 50

// batchOf is how a format runs many files and their golden tests at once: all with the number of
// files, then one for each file.
type batchOf struct {
	format, command string
	name            func(set int) string // of --name
	file, test      string               // with the number of the set for %d, twice in folders
	all             string               // the name of a file that runs all
	head, each, end string               // parts of its lines
}

func batches() []batchOf {
	plain := func(int) string { return "" }
	return []batchOf{
		{
			"c", "for f in golden*.c; do cc -o golden $f -lm && ./golden >out || { cat out; exit 1; }; done", plain,
			"model%d.c", "golden%d.c", "all", "", "", "",
		},
		{
			"java", "javac -d . s*/*.java All.java && java -cp . All",
			func(set int) string { return fmt.Sprintf("s%d.Model", set) }, "s%d/Model.java", "s%d/ModelTest.java", "All.java",
			"public class All { public static void main(String[] a) {\n", "s%d.ModelTest.check();\n", "}}\n",
		},
		{
			"python", "python3 -B all.py", plain, "model%d.py", "golden%d.py", "all.py", "import unittest\n",
			"from golden%[1]d import GoldenRows as G%[1]d\n", "unittest.main()\n",
		},
		{
			"javascript", "node all.mjs", plain, "model%d.mjs", "golden%d.mjs", "all.mjs", "", "import \"./golden%d.mjs\";\n", "",
		},
	}
}

// TestNameSets: names that end strings, comments and lines, in many trees;
// ESPALIER_NAME_SETS is their number.
func TestNameSets(t *testing.T) {
	t.Parallel()
	sets := 3
	if longtest.Enabled() {
		sets = 40
	}
	if n, err := strconv.Atoi(os.Getenv("ESPALIER_NAME_SETS")); err == nil {
		sets = n
	}
	for from := 0; from < sets; from += batch {
		for _, b := range batches() {
			if slow(b.format) {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s", from, b.format), func(t *testing.T) {
				if !export.Runs(export.Options{Format: b.format}) {
					t.Skipf("waits for what runs %s", b.format)
				}
				folder := files(t, b.files(t, from, min(from+batch, sets)))
				if out, err := run(t, folder, b.command); err != nil {
					t.Errorf("%v: %.3000s", err, out)
				}
			})
		}
	}
}

// files returns the files of a batch.
func (b *batchOf) files(t *testing.T, from, to int) map[string][]byte {
	t.Helper()
	const most = 25 // rows of a set: names are long
	contents := make(map[string][]byte)
	var all strings.Builder
	all.WriteString(b.head)
	for set := from; set < to; set++ {
		random := rand.New(rand.NewPCG(21, uint64(set)))
		without := func(r rune) bool { return b.format == "c" && r == 0 } // refused, see TestRefused
		golden := []string{"multiway", "boosted", "both", "dated"}[set%4]
		m := renamed(t, read(t, "../../induce/tree/testdata/golden/"+golden+".json"), random, without)
		rows := export.GoldenRows(m)
		random.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		cases, err := export.Cases(m, rows[:min(most, len(rows))])
		if err != nil {
			t.Fatal(err)
		}
		file, test := fmt.Sprintf(b.file, set), fmt.Sprintf(b.test, set)
		o := export.Options{
			Format: b.format, Name: b.name(set), File: file[strings.LastIndexByte(file, '/')+1:],
			With: export.With{Path: set%2 == 0},
		}
		contents[file] = written(t, m, o)
		if contents[test], err = export.GoldenTest(m, cases, o, test[strings.LastIndexByte(test, '/')+1:]); err != nil {
			t.Fatal(err)
		}
		if b.each != "" {
			fmt.Fprintf(&all, b.each, set)
		}
	}
	all.WriteString(b.end)
	contents[b.all] = []byte(all.String())
	return contents
}

// TestEscapes: each hostile text is a feature, a value and a class of one tree in each language, as
// itself: what looks like an escape is none.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, format := range export.Formats() {
		dialects := []string{""}
		if format == "sql" {
			dialects = export.Dialects()
		}
		for _, dialect := range dialects {
			if !longtest.Enabled() && (format == "pmml" || format == "onnx" || dialect == "spark" || dialect == "bigquery") {
				continue
			}
			t.Run(format+dialect, func(t *testing.T) {
				t.Parallel()
				names := slices.DeleteFunc(hostile(), func(s string) bool {
					return strings.Contains(s, "\x00") || len(s) > 1000 || format == "pmml" && strings.Contains(s, "\x01")
				})
				slices.Sort(names)
				names = slices.Compact(names)
				m := &tree.Tree{
					Label:    tree.Label{Column: `\u000a*/`, Classes: names},
					Features: []dataset.Feature{{Name: `C:\u000aQ "*/ %s`, Kind: dataset.Categorical, Values: names, Cost: 1}},
				}
				weights := make([]int64, len(names))
				m.Nodes = []tree.Node{{
					ClassWeights: weights, RawClassWeights: weights, Weight: 1, Probabilities: make([]float64, len(names)),
					Test: &tree.Test{Test: split.Test{Kind: split.Multiway}, Cost: 1},
				}}
				var rows [][]export.Cell
				for i, name := range names {
					leaf := m.Nodes[0]
					leaf.Test, leaf.Branches = nil, nil
					leaf.Class, leaf.Probabilities = i, make([]float64, len(names))
					leaf.Probabilities[i] = 1
					m.Nodes = append(m.Nodes, leaf)
					m.Nodes[0].Branches = append(m.Nodes[0].Branches,
						tree.Branch{Outcome: i, Child: i + 1, Missing: i == 0, Other: i == 0})
					rows = append(rows, []export.Cell{export.TextCell(name)})
				}
				m.Measure()
				verifyOptions(t, m, export.Options{Format: format, Dialect: dialect}, rows)
			})
		}
	}
}
