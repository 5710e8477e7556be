package textview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
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
		Probabilities: []float64{0.75, 0.25}, Weights: []int64{3, 1}, Rows: 4, Cost: 1,
		Tests: 1,
	}}
	some := metric.Evaluate(leaves, []string{"no", "yes"}, 1)
	priced := some
	priced.ExpectedErrorCost = new(1.25) // 5 for the row of yes among four
	for width := narrowest; width <= 200; width += 7 {
		for name, what := range map[string]func(*strings.Builder) error{
			"every test":  func(b *strings.Builder) error { return textview.Text(b, every(), width) },
			"a deep tree": func(b *strings.Builder) error { return textview.Text(b, chain(25), width) },
			"figures": func(b *strings.Builder) error {
				return textview.FiguresTable([]runfolder.MeasuredPart{{Name: "validation", Metrics: &some}}).Write(b, width)
			},
			"error costs": func(b *strings.Builder) error {
				return textview.FiguresTable([]runfolder.MeasuredPart{{Name: "validation", Metrics: &priced}}).Write(b, width)
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
	if err := textview.Text(&b, chain(60), 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), strings.Repeat("   ", 59)+"└─ the name of a feature != 東京 00059 ") {
		t.Errorf("cut, though there is no width:\n%s", b.String())
	}
}

// TestTable: by hand. The column of the highest rank is dropped first, then the widest is
// cut. A newline in a cell is escaped.
func TestTable(t *testing.T) {
	table := textview.NewTable(textview.Column{Head: "name", Left: true}, textview.Column{Head: "a", Rank: 1},
		textview.Column{Head: "b", Rank: 2}, textview.Column{Head: "c"})
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
		if got := textview.Wrapped("one two three", width, "  "); got != want {
			t.Errorf("at %d: %q, want %q", width, got, want)
		}
	}
}

// TestFeatures: by hand, of three features with a cost of 4 and 2 bits together. Those whose loss
// takes the most AUC come first, and unmeasured ones last.
func TestFeatures(t *testing.T) {
	is := func(x float64) *float64 { return &x }
	list := []importance.Feature{
		{Name: "free", RowsAsked: 0.5, ExpectedTests: 0.5, Impurity: 0.5},
		{Name: "age", RowsAsked: 1, ExpectedTests: 2, ExpectedCost: 3, Impurity: 1, AUCLost: is(0.015)},
		{Name: "job\nor", RowsAsked: 0.6, ExpectedTests: 1, ExpectedCost: 1, Impurity: 0.5, AUCLost: is(0.25)},
	}
	want := `feature  AUC lost  AUC per cost  of impurity  paid a row  of all paid  rows asked  tests a row
job\nor    0.2500        0.2500        25.0%           1        25.0%       60.0%        1.000
age        0.0150        0.0050        50.0%           3        75.0%      100.0%        2.000
free            -             -        25.0%           0         0.0%       50.0%        0.500
`
	var b strings.Builder
	if err := textview.Features(&b, list, 0); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := textview.Features(&b, nil, 0); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q of a tree without tests", err, b.String())
	}
	var many []importance.Feature
	for i := range 30 {
		many = append(many, importance.Feature{Name: fmt.Sprintf("f%d", i), ExpectedCost: 1, Impurity: 1, AUCLost: is(float64(i))})
	}
	b.Reset()
	if err := textview.Features(&b, many, 80); err != nil || strings.Count(b.String(), "\n") != 12 ||
		!strings.Contains(b.String(), "(20 others)") || !strings.Contains(b.String(), "\nf29 ") {
		t.Errorf("%v\n%s\nwant 10 features and others", err, b.String())
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 81 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}

// TestNeighbours: by hand. The neighbours of a tree at cost 10 are the nearest ones at 9 or less
// and at 11 or more; without such ones the last tree of the side. The area of the tree at cost 10 is .03
// too high, and so are those that are compared with it.
func TestNeighbours(t *testing.T) {
	is := func(x float64) *float64 { return &x }
	var points []runfolder.Point
	for i, cost := range []float64{2, 8, 9, 9.5, 10, 10.5, 12, 20} {
		points = append(points, runfolder.Point{
			Tree: fmt.Sprintf("frontier/%03d.json", i), Complexity: tree.Complexity{ExpectedCost: cost, Leaves: i + 1},
			Merit: 0.5 + cost/100, Folds: is(0.6), Test: metric.Judgement{AUC: is(0.25)}, Selected: cost == 10,
		})
	}
	points[4].Optimism = is(0.03)
	want := `instead   tree    cost  change  leaves  AUC (folds)   change  test AUC   change
cheaper    002   9.000  -1.000       3       0.5600  -0.0100    0.2500  +0.0000
costlier   006  12.000  +2.000       7       0.5900  +0.0200    0.2500  +0.0000
`
	var b strings.Builder
	if err := textview.Neighbours(&b, points, 0); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := textview.Neighbours(&b, points[3:6], 0); err != nil || !strings.Contains(b.String(), "003   9.500") ||
		!strings.Contains(b.String(), "005  10.500") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := textview.Neighbours(&b, points[4:5], 0); err != nil || b.Len() > 0 {
		t.Errorf("%v, %q of one tree", err, b.String())
	}
}

// TestClasses: by hand. Three in four rows of a class are predicted right, the fourth row as the
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
		m := metric.Evaluate(leaves, names, float64(scale))
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
		if err := textview.Classes(&one, "class (test)", c.metrics, c.width); err != nil {
			t.Fatal(err)
		}
		if c.width > 0 {
			fits(t, "classes", one.String(), c.width)
		}
		fmt.Fprintf(&b, "%d classes at %d:\n%s\n", len(c.metrics.PerClass), c.width, one.String())
	}
	golden(t, "per_class", b.String())
}
