package export

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
)

// IsTest reports whether a file of golden rows is named like a test in the language of a format. It
// returns an error if the file is named like code of another language.
func IsTest(format, file string) (bool, error) {
	f, err := formatOf(format)
	if err != nil {
		return false, err
	}
	ending := path.Ext(file)
	if ending == ".js" {
		ending = ".mjs"
	}
	if f.language != nil && ending == f.language.ending {
		return true, nil
	}
	if slices.ContainsFunc(languages(), func(l language) bool { return l.ending == ending }) {
		return false, usage.Errorf("--golden %s: a test of --format %s is no such file; want JSON, as in golden.json", file,
			format)
	}
	return false, nil
}

// GoldenTest returns the cases as a test in the language of a format, in the form that is usual
// there. The test must be in the same folder as the file that o describes. file is the name of the
// test, without folders.
func GoldenTest(t *tree.Tree, cases []Case, o Options, file string) ([]byte, error) {
	f, err := formatOf(o.Format)
	if err != nil {
		return nil, err
	}
	l := f.language
	p, err := newProgram(t, l, o)
	if err != nil {
		return nil, err
	}
	g := &goldenTest{program: p, File: file, Class: strings.TrimSuffix(file, l.ending)}
	if l.packages && !isIdentifier(g.Class) {
		return nil, usage.Errorf("--golden %s: a class is in a file of its name, as in ModelTest.java", file)
	}
	for i := range cases {
		g.Rows = append(g.Rows, g.row(&cases[i]))
	}
	return filled(files, "templates/tests/"+l.format+".tmpl", g)
}

// goldenTest is what the templates of tests write.
type goldenTest struct {
	*program

	File  string
	Class string // class of a Java test
	Rows  []testRow
}

// testRow is a row with its prediction.
type testRow struct {
	Values        string // literals, with commas between them
	Class         int
	Probabilities string
	Leaf, Tests   int
	Cost          string
	Near          string // greatest error of the probabilities
	Path          []string
}

func (g *goldenTest) row(c *Case) testRow {
	values := make([]string, len(c.Cells))
	for i, cell := range c.Cells {
		values[i] = g.literal(&g.Features[i], cell)
	}
	near := "0.0"
	if g.tree.Nodes[c.Want.Leaf].Model != nil {
		near = "1e-12" // the exp of languages differs
	}
	return testRow{
		Values: strings.Join(values, ", "), Class: slices.Index(g.Label.Classes, c.Want.Class),
		Probabilities: g.Numbers(c.Want.Probabilities), Leaf: c.Want.Leaf, Tests: c.Want.Tests,
		Cost: g.Number(c.Want.Cost), Near: near, Path: g.path(c.Want.Leaf),
	}
}

// literal returns a value of a row.
func (g *goldenTest) literal(f *feature, c Cell) string {
	l := g.language
	switch {
	case c.Text != nil:
		return l.text(*c.Text)
	case c.Number == nil && f.Numeric:
		return l.missingNumber
	case c.Number == nil:
		return l.missingText
	case math.IsNaN(*c.Number):
		return l.specials[0]
	case math.IsInf(*c.Number, 1):
		return l.specials[1]
	case math.IsInf(*c.Number, -1):
		return l.specials[2]
	case *c.Number == 0 && math.Signbit(*c.Number):
		return l.specials[3]
	default:
		return l.number(*c.Number)
	}
}

// RowParts returns the rows in parts that fit into Java methods.
func (g *goldenTest) RowParts() [][]testRow {
	return parts(g.Rows, func(testRow) int { return 12 + len(g.Features) + 2*len(g.Label.Classes) })
}

// Longest returns the number of tests on the longest path of the rows, plus one.
func (g *goldenTest) Longest() int {
	longest := 0
	for i := range g.Rows {
		longest = max(longest, g.Rows[i].Tests)
	}
	return longest + 1
}
