package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
)

// narrowest is the narrowest page on which everything fits.
const narrowest = 60

// fits checks that no line of a text is wider than a page or has characters that break it.
func fits(t *testing.T, what, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := runewidth.StringWidth(line); n > width {
			t.Errorf("%s at %d: %d characters: %s", what, width, n, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s: control characters: %q", what, line)
		}
	}
}

// chain is a chain of tests, on values of 12 characters.
func chain(depth int) *tree.Tree {
	values := make([]string, depth)
	for i := range values {
		values[i] = fmt.Sprintf("東京 %05d", i)
	}
	t := &tree.Tree{
		Label: tree.Label{Column: "class", Classes: []string{strings.Repeat("very ", 30) + "no", "yes"}},
		Features: []dataset.Feature{{
			Name: "the name of a feature", Kind: dataset.Categorical, Values: values,
			Cost: 1,
		}},
		Algorithm: tree.Algorithm{Name: "c45"},
	}
	for i := range depth {
		t.Nodes = append(t.Nodes,
			tree.Node{
				Weight: 10, ClassWeights: []int64{5, 5},
				Test:     &tree.Test{Test: split.Test{Kind: split.Equals, Code: i}, Cost: 1},
				Branches: []tree.Branch{{Outcome: 1, Child: 2*i + 1}, {Child: 2*i + 2, Missing: true, Other: true}},
			},
			tree.Node{Weight: 5, ClassWeights: []int64{5, 0}})
	}
	t.Nodes = append(t.Nodes, tree.Node{Weight: 5, ClassWeights: []int64{0, 5}})
	for i := range t.Nodes {
		t.Nodes[i].RawClassWeights = t.Nodes[i].ClassWeights
	}
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

// TestWidths: no line is wider than the page, no value of a tree is lost, and without a
// limit nothing is cut.
func TestWidths(t *testing.T) {
	leaves := []metric.Leaf{{
		Probabilities: []float64{0.75, 0.25}, Weights: []int64{3, 1}, Rows: 4, Billed: 1,
		Tests: 1,
	}}
	some := metric.Evaluate(leaves, []string{"no", "yes"}, 1)
	priced := some
	priced.SetErrorCosts([][]float64{{0, 1}, {5, 0}})
	for width := narrowest; width <= 200; width += 7 {
		for name, what := range map[string]func(*strings.Builder) error{
			"every test":  func(b *strings.Builder) error { return report.Text(b, every(), width) },
			"a deep tree": func(b *strings.Builder) error { return report.Text(b, chain(25), width) },
			"figures": func(b *strings.Builder) error {
				return report.Figures(b, []report.Part{{Name: "validation", Metrics: &some}}, width)
			},
			"error costs": func(b *strings.Builder) error {
				return report.Figures(b, []report.Part{{Name: "validation", Metrics: &priced}}, width)
			},
		} {
			var b strings.Builder
			if err := what(&b); err != nil {
				t.Fatal(err)
			}
			fits(t, name, b.String(), width)
			if name != "a deep tree" {
				continue
			}
			for i := range 25 {
				if !strings.Contains(b.String(), fmt.Sprintf("%05d ", i)) {
					t.Errorf("at %d the value of level %d is lost:\n%s", width, i, b.String())
				}
			}
		}
	}
	var b strings.Builder
	if err := report.Text(&b, chain(60), 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), strings.Repeat("   ", 59)+"└─ the name of a feature != 東京 00059 ") {
		t.Errorf("cut, though there is no width:\n%s", b.String())
	}
}

// TestTable: by hand. The column of the highest rank is dropped first, then the widest is
// cut. A newline in a cell is escaped.
func TestTable(t *testing.T) {
	table := report.NewTable(report.Column{Head: "name", Left: true}, report.Column{Head: "a", Rank: 1},
		report.Column{Head: "b", Rank: 2}, report.Column{Head: "c"})
	table.Add("a\nrow", "1", "22", "333")
	table.Add("another long row", "4444", "5", "6")
	for width, want := range map[int]string{
		0:  "name                 a   b    c\na\\nrow               1  22  333\nanother long row  4444   5    6\n",
		30: "name                 a    c\na\\nrow               1  333\nanother long row  4444    6\n",
		25: "name                c\na\\nrow            333\nanother long row    6\n",
		17: "name            c\na\\nrow        333\nanother lo..    6\n",
	} {
		var b strings.Builder
		if err := table.Write(&b, width); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
}

// TestWrapped: by hand.
func TestWrapped(t *testing.T) {
	for width, want := range map[int]string{
		0: "one two three", 13: "one two three", 12: "one two\n  three",
		7: "one two\n  three", 4: "one\n  two\n  three",
	} {
		if got := report.Wrapped("one two three", width, "  "); got != want {
			t.Errorf("at %d: %q, want %q", width, got, want)
		}
	}
}

// TestFeatures: by hand, of every: age is tested on 1000, 400, 100, 300 and 200 rows at
// 1 each, job on 600, 250 and 150 at 2.5; 4.5 together is the expected cost.
func TestFeatures(t *testing.T) {
	tr := every()
	tr.Features[1].Name = "job\nor"
	want := `feature  rows asked  tests a row  paid a row  of all paid
job\nor       60.0%        1.000         2.5        55.6%
age          100.0%        2.000           2        44.4%
`
	var b strings.Builder
	if err := report.Features(&b, tr, 0); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	with := 7.5 // a set-up of 5 with the first test on job
	tr.Nodes[2].Test.Billed = &with
	b.Reset()
	if err := report.Features(&b, tr, 0); err != nil || !strings.Contains(b.String(), "5.5        73.3%\n") {
		t.Errorf("%v\n%s\nwant what is billed, 5.5", err, b.String())
	}
	b.Reset()
	if err := report.Features(&b, &tree.Tree{Nodes: []tree.Node{{Weight: 1}}}, 0); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q of a tree without tests", err, b.String())
	}
	b.Reset()
	if err := report.Features(&b, manyFeatures(30), 80); err != nil || strings.Count(b.String(), "\n") != 12 ||
		!strings.Contains(b.String(), "(20 others)") {
		t.Errorf("%v\n%s\nwant 10 features and others", err, b.String())
	}
}

// manyFeatures is a chain with another feature at each level.
func manyFeatures(n int) *tree.Tree {
	t := chain(n)
	t.Features = nil
	for i := range n {
		t.Features = append(t.Features, dataset.Feature{
			Name: fmt.Sprintf("f%d", i), Kind: dataset.Categorical,
			Values: []string{"a"}, Cost: 1,
		})
		t.Nodes[2*i].Test.Feature, t.Nodes[2*i].Test.Code = i, 0
	}
	return t
}

// TestClasses: by hand. Three in four rows of a class are predicted right, the others as the
// next class. Weights are in half units.
func TestClasses(t *testing.T) {
	made := func(classes int, scale int64) *metric.Metrics {
		var leaves []metric.Leaf
		names := make([]string, classes)
		for k := range classes {
			names[k] = fmt.Sprintf("class\t%c", 'A'+k)
			leaf := metric.Leaf{
				Probabilities: make([]float64, classes), Class: k, Weights: make([]int64, classes),
				Rows: 4,
			}
			leaf.Probabilities[k], leaf.Weights[k] = 1, 3*scale
			leaf.Weights[(k+1)%classes] = scale/2 + scale%2*int64(k+1)
			leaves = append(leaves, leaf)
		}
		m := metric.Evaluate(leaves, names, scale)
		return &m
	}
	var b strings.Builder
	for _, c := range []struct {
		metrics *metric.Metrics
		width   int
	}{
		{made(3, 1), 0},
		{made(3, 2), 80},
		{made(3, 2), 60},
		{made(8, 1), 100},
		{made(8, 1), 80},
		{made(12, 1), 0},
		{made(1, 1), 0},
	} {
		var one strings.Builder
		if err := report.Classes(&one, report.Part{Name: "class (test)", Metrics: c.metrics}, c.width); err != nil {
			t.Fatal(err)
		}
		if c.width > 0 {
			fits(t, "classes", one.String(), c.width)
		}
		fmt.Fprintf(&b, "%d classes at %d:\n%s\n", len(c.metrics.PerClass), c.width, one.String())
	}
	golden(t, "per_class", b.String())
}
