package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/export"
	"github.com/espalier-ml/espalier/io/longtest"
)

// read reads a tree of the tests of package tree.
func read(t *testing.T, path string) *tree.Tree {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := tree.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// verify runs a tree in a format on its golden rows and on further ones.
func verify(t *testing.T, m *tree.Tree, format string, more [][]export.Cell) {
	t.Helper()
	verifyRows(t, m, format, append(export.GoldenRows(m), more...))
}

// verifyRows runs a tree in a format on rows.
func verifyRows(t *testing.T, m *tree.Tree, format string, rows [][]export.Cell) {
	t.Helper()
	verifyOptions(t, m, export.Options{Format: format}, rows)
}

// verifyOptions runs a tree in a format, with options, on rows.
func verifyOptions(t *testing.T, m *tree.Tree, o export.Options, rows [][]export.Cell) {
	t.Helper()
	if !export.Runs(o) {
		t.Skipf("waits for what runs %s%s: a C or Java compiler, Python 3, onnxruntime, Node.js, ESPALIER_PMML; a "+
			"server of PostgreSQL, duckdb and sqlglot of PyPI, the jars of ESPALIER_SPARK", o.Format, o.Dialect)
	}
	cases, err := export.Cases(m, rows)
	if err != nil {
		t.Fatal(err)
	}
	target, err := export.NewTarget(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	differences, err := target.Compare(t.Context(), cases, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences {
		t.Error(d)
	}
}

// TestExports: each format predicts what the tree predicts, by the real language: tests of all
// kinds, dates, groups of prices, leaf models, boosters, thresholds.
func TestExports(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../induce/tree/testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	// The other trees are similar, and a compiler takes a second. Some rows of the decided trees are at the threshold.
	few := []string{"both", "dated", "multiway", "set", "boosted_sets", "decided", "decided_boosted", "decided_models"}
	random := rand.New(rand.NewPCG(19, 1))
	tried := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "schema" || !longtest.Enabled() && !slices.Contains(few, name) {
			continue
		}
		tried++
		m := read(t, file)
		rows := randomRows(random, m, 300)
		for _, format := range withoutDialects() {
			models := slices.Contains([]string{"boosted_sets", "decided_boosted", "decided_models"}, name)
			if slow(format) && !models || format == "pmml" && name != "boosted_sets" && models {
				continue // PMML: see TestRefused
			}
			if slow(format) && name == "decided_boosted" {
				continue // the other two trees have thresholds and boosters
			}
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				verify(t, m, format, rows)
			})
		}
	}
	if tried < len(few) {
		t.Errorf("%d trees: want those of package tree", tried)
	}
}

// withoutDialects returns the formats but SQL, whose dialects have tests of their own.
func withoutDialects() []string {
	return slices.DeleteFunc(export.Formats(), func(format string) bool { return format == "sql" })
}

// slow reports whether a format takes many seconds for a tree. Few trees are tried in it, unless all
// are wanted.
func slow(format string) bool {
	return !longtest.Enabled() && slices.Contains([]string{"java", "pmml", "onnx"}, format)
}

// randomRows returns rows of values near the cuts, and of listed and unlisted texts.
func randomRows(random *rand.Rand, t *tree.Tree, n int) [][]export.Cell {
	t = t.Tested()
	rows := make([][]export.Cell, n)
	for i := range rows {
		rows[i] = make([]export.Cell, len(t.Features))
		for f := range rows[i] {
			feature := &t.Features[f]
			switch {
			case random.IntN(8) == 0:
			case feature.Kind == dataset.Categorical && random.IntN(4) == 0:
				rows[i][f] = export.TextCell("none of them")
			case feature.Kind == dataset.Categorical:
				rows[i][f] = export.TextCell(feature.Values[random.IntN(len(feature.Values))])
			default:
				x := random.NormFloat64() * 10
				if len(feature.Cuts) > 0 {
					x += feature.Cuts[random.IntN(len(feature.Cuts))]
				}
				rows[i][f] = export.NumberCell(x)
			}
		}
	}
	return rows
}

// hostile are names and texts that end strings, comments and lines, or that mean something.
func hostile() []string {
	return []string{
		`"`, `'`, "`", `\`, `*/`, `//`, `#`, "\n", "\r\n", `\u000a`, `C:\u000aQ`, `\\u000a`, `\u0041`, `\x41\101\N{DIGIT ONE}`, `&#10;&amp;`, `]]>--><!\[CDATA\[`, `??/`, `%s%d`, `{{"{{"}}.}}`, `${x}`, "a\tb",
		"</script><script>alert(1)</script>", "'; DROP TABLE model; --", "class", "def", "func", "int", "Row", "LEAVES", "",
		" ", "a", "A", "a ", "\u202egnp.exe", "\u00e9t\u00e9", "\U0001f600", "\x01\x1f\x7f", strings.Repeat("long ", 2000),
		"a\x00b", "\u2028", "9lives", "__proto__", "constructor", "toString", "_", "__init__", "None", "null", "nil",
	}
}

// renamed returns a tree whose features, classes and values have other names.
func renamed(t *testing.T, m *tree.Tree, random *rand.Rand, without func(rune) bool) *tree.Tree {
	t.Helper()
	names := slices.DeleteFunc(hostile(), func(s string) bool { return strings.ContainsFunc(s, without) })
	fresh := func() func() string {
		taken := map[string]bool{}
		return func() string {
			s := names[random.IntN(len(names))]
			for taken[s] {
				s += names[random.IntN(len(names))]
			}
			taken[s] = true
			return s
		}
	}
	m = m.Tested()
	next := fresh()
	for i := range m.Features {
		f := &m.Features[i]
		f.Name = next()
		value := fresh()
		for k := range f.Values {
			f.Values[k] = value()
		}
	}
	class := fresh()
	m.Label.Column = next()
	for k := range m.Label.Classes {
		m.Label.Classes[k] = class()
	}
	return m
}

// TestHostileNames: no name leaves its string or its comment, and no two become the same.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	sets, trees := 1, []string{"boosted"}
	if longtest.Enabled() {
		sets, trees = 40, []string{"both", "multiway", "set", "boosted"}
	}
	for set := range sets {
		for _, name := range trees {
			for _, format := range withoutDialects() {
				t.Run(fmt.Sprintf("%d/%s/%s", set, name, format), func(t *testing.T) {
					t.Parallel()
					without := func(r rune) bool { // refused, see TestRefused
						return format == "c" && r == 0 || format == "pmml" && r < ' ' && !strings.ContainsRune("\t\n\r", r)
					}
					random := rand.New(rand.NewPCG(20, uint64(set)))
					m := renamed(t, read(t, "../../induce/tree/testdata/golden/"+name+".json"), random, without)
					verify(t, m, format, randomRows(random, m, 50))
				})
			}
		}
	}
}

// chain returns a tree of two features with the given number of levels: each level asks for one
// value, and one side of it is a leaf.
func chain(levels int) *tree.Tree {
	t := &tree.Tree{Label: tree.Label{Column: "y", Classes: []string{"a", "b"}}}
	cuts := make([]float64, levels)
	for i := range cuts {
		cuts[i] = float64(i)
	}
	t.Features = []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: cuts, Cost: 1}}
	for i := range levels {
		inner := 2 * i
		t.Nodes = append(t.Nodes,
			tree.Node{
				Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 1}, RawClassWeights: []int64{1, 1},
				Probabilities: []float64{0.5, 0.5},
				Test:          &tree.Test{Test: split.Test{Kind: split.Threshold, Code: levels - i}, Cost: 1},
				Branches:      []tree.Branch{{Outcome: 1, Child: inner + 1}, {Outcome: 0, Child: inner + 2, Missing: true}},
			},
			leafOf(i, levels))
	}
	t.Nodes = append(t.Nodes, leafOf(levels, levels))
	return t
}

func leafOf(i, of int) tree.Node {
	p := float64(i) / float64(of+1)
	n := tree.Node{
		Rows: 1, Objects: 1, Weight: 1, ClassWeights: []int64{1, 1}, RawClassWeights: []int64{1, 1},
		Probabilities: []float64{1 - p, p},
	}
	if p > 0.5 {
		n.Class = 1
	}
	return n
}

// TestDeep: no target finds a deep tree too much.
func TestDeep(t *testing.T) {
	t.Parallel()
	for _, format := range withoutDialects() {
		if format == "sql" || slow(format) { // sql: see TestDeepAndLargeSQL
			continue
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			verify(t, chain(60), format, nil)
		})
	}
}

// TestManyFeatures: a row may have more values than a record of Java holds.
func TestManyFeatures(t *testing.T) {
	t.Parallel()
	const features = 200
	m := chain(features)
	m.Features = nil
	for i := range features {
		m.Features = append(m.Features, dataset.Feature{
			Name: fmt.Sprintf("x %d", i), Kind: dataset.Numeric, Cuts: []float64{float64(i)}, Cost: 1,
		})
		m.Nodes[2*i].Test.Feature, m.Nodes[2*i].Test.Code = i, 1
	}
	m.Features[7] = dataset.Feature{Name: "color", Kind: dataset.Categorical, Values: []string{"red", "blue"}, Cost: 1}
	m.Nodes[14].Test.Kind = split.Equals
	formats := []string{"java"}
	if longtest.Enabled() {
		formats = withoutDialects()
	}
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			verify(t, m, format, randomRows(rand.New(rand.NewPCG(1, 9)), m, 100))
		})
	}
}

// setsTree returns a tree of three levels whose tests ask for random sets of values of one feature, or for another
// feature. Half of the sets have the unlisted values.
func setsTree(random *rand.Rand, values int) *tree.Tree {
	shop := dataset.Feature{Name: "shop", Kind: dataset.Categorical, Type: dataset.Text, Cost: 1}
	shop.Values = []string{"", `"`, `a \ "b"`, "it's", "a b", "tab\tand\nline", "é", " ", "日本", "\\"}
	for i := len(shop.Values); i < values; i++ {
		shop.Values = append(shop.Values, fmt.Sprintf("v%d", i*7919%values))
	}
	x := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0}, Cost: 1}
	t := &tree.Tree{Label: tree.Label{Column: "y", Classes: []string{"a", "b"}}, Features: []dataset.Feature{shop, x}}
	const inner = 7
	for i := range inner {
		n := leafOf(i, 2*inner)
		test := split.Test{Feature: 1, Kind: split.Threshold, Code: 1}
		if i != 1 {
			test = split.Test{Kind: split.In, Set: split.NewCodeSet(values+1, func(code int) bool {
				return code == 3*i || code != 3*i+1 && code != shop.OtherCode() && random.IntN(2) == 0 ||
					code == shop.OtherCode() && i%2 == 0
			})}
		}
		other := test.Outcome(shop.OtherCode(), shop.MissingCode())
		n.Test = &tree.Test{Test: test, Cost: 1}
		n.Branches = []tree.Branch{
			{Outcome: 1, Child: 2*i + 1, Other: i != 1 && other == 1},
			{Outcome: 0, Child: 2*i + 2, Other: i != 1 && other == 0, Missing: true},
		}
		t.Nodes = append(t.Nodes, n)
	}
	for i := range inner + 1 {
		t.Nodes = append(t.Nodes, leafOf(inner+i, 2*inner))
	}
	return t
}

// TestSets: tests for sets of values are the same in all formats, with values that need quotes, and with thousands.
func TestSets(t *testing.T) {
	t.Parallel()
	for _, values := range []int{300, 10_000} {
		random := rand.New(rand.NewPCG(58, uint64(values)))
		m := setsTree(random, values)
		rows := randomRows(random, m, 300)
		for _, v := range m.Features[0].Values {
			rows = append(rows, []export.Cell{export.TextCell(v), {}})
		}
		for _, o := range variants() {
			heavy := slow(o.Format) || o.Dialect == "postgresql"
			if !longtest.Enabled() && (heavy != (values > 300) || o.Dialect == "duckdb" || o.Dialect == "bigquery") {
				continue // each at one size, where what runs it starts within seconds
			}
			o.With.Path = values == 300 && o.Format != "sql" || o.Format == "java" // longer than a constant of a class
			t.Run(fmt.Sprint(values, "/", o.Format, o.Dialect), func(t *testing.T) {
				t.Parallel()
				verifyOptions(t, m, o, append(export.GoldenRows(m), rows...))
			})
		}
	}
}

// variants returns all formats, and all dialects of SQL.
func variants() []export.Options {
	var list []export.Options
	for _, format := range withoutDialects() {
		list = append(list, export.Options{Format: format})
	}
	for _, dialect := range export.Dialects() {
		list = append(list, export.Options{Format: "sql", Dialect: dialect})
	}
	return list
}

func TestRefused(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	nul := read(t, "../../induce/tree/testdata/golden/both.json")
	nul.Label.Classes[0] = "a\x00b"
	decided := read(t, "../../induce/tree/testdata/golden/decided_models.json")
	for _, test := range []struct {
		name string
		tree *tree.Tree
		o    export.Options
		want string
	}{
		{"format", m, export.Options{Format: "cobol"}, `--format "cobol": want one of c,`},
		{"no format", m, export.Options{}, "want one of"},
		{"keyword", m, export.Options{Format: "c", Name: "for"}, `--name "for": want a name`},
		{"name", m, export.Options{Format: "c", Name: "a-b"}, "letters, digits"},
		{"NUL", nul, export.Options{Format: "c"}, "has a NUL, which ends texts of this language"},
		{"threshold of models in PMML", decided, export.Options{Format: "pmml"}, "leaf models, and error costs or a threshold"},
		{"NUL in XML", nul, export.Options{Format: "pmml"}, `"a\x00b" has the character U+0000, which XML cannot hold`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := export.Write(&bytes.Buffer{}, test.tree, test.o)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: want %s", err, test.want)
			}
		})
	}
}

// TestInterest: comments at the leaves say the probability and the rows of the class of interest.
func TestInterest(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/billed.json").WithDecision(&tree.Decision{Positive: "p"})
	for _, format := range []string{"c", "java", "python", "javascript", "sql"} {
		var b bytes.Buffer
		if err := export.Write(&b, m, export.Options{Format: format, Dialect: "sqlite"}); err != nil {
			t.Fatal(err)
		}
		if want := `leaf 5: "n" ("p" 0.2, 1 of 5 rows)`; !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %s in\n%s", format, want, b.String())
		}
	}
}

// TestGoldenFile: the document has a row for each leaf, and spells what JSON has no number for.
func TestGoldenFile(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	cases, err := export.Cases(m, export.GoldenRows(m))
	if err != nil {
		t.Fatal(err)
	}
	b, err := export.GoldenFile(m, cases)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Features []string
		Rows     []struct {
			Values []any
			Leaf   int
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	leaves := map[int]bool{}
	for _, row := range doc.Rows {
		leaves[row.Leaf] = true
		if len(row.Values) != len(doc.Features) {
			t.Fatalf("%d values for %d features", len(row.Values), len(doc.Features))
		}
	}
	for id := range m.Nodes {
		if m.Nodes[id].Leaf() && !leaves[id] {
			t.Errorf("no golden row reaches leaf %d", id)
		}
	}
	for _, want := range []string{`"NaN"`, `"+Inf"`, `"-Inf"`, `"-0"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no row has the number %s", want)
		}
	}
	if !export.IsExport(b) {
		t.Error("the document is not known as one of export's")
	}
}

// TestSingleLeaf: each language takes a tree that reads no value, and predicts the same class for all rows.
func TestSingleLeaf(t *testing.T) {
	t.Parallel()
	m := read(t, "../../induce/tree/testdata/golden/both.json")
	m.Nodes = m.Nodes[:1]
	m.Nodes[0].Test = nil
	m.Nodes[0].Branches = nil
	m.Measure()
	for _, format := range withoutDialects() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			verify(t, m, format, [][]export.Cell{{}, {}})
		})
	}
}
