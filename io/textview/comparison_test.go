package textview_test

import (
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestNodes has a line for each kind of place.
func TestNodes(t *testing.T) {
	leaf := func(class string, alone int) *runfolder.PlaceNode {
		return &runfolder.PlaceNode{Predicts: class, Alone: alone}
	}
	asks := func(text string, alone int) *runfolder.PlaceNode {
		return &runfolder.PlaceNode{Asks: text, Alone: alone}
	}
	path := []string{"x >= 2", "color = red"}
	c := runfolder.ComparedNodes{
		A: 21, B: 25, Unchanged: 15, Changed: 4, Removed: 2, Added: 6, Estimates: runfolder.OtherEstimates{Leaves: 3, Share: 0.25},
		Prices: []runfolder.ComparedPrice{{Feature: "x", A: 1, B: 2.5}},
		Differences: []runfolder.Place{
			{Kind: comparison.MovedCut, A: asks("x >= 2", 0), B: asks("x >= 3", 0), Share: 1, Other: &runfolder.OtherRoute{Share: 0.125}},
			{Kind: comparison.OtherTest, Path: path, A: asks("y >= 1", 2), B: asks("z >= 1", 1), Share: 0.5},
			{Kind: comparison.Added, Path: path[:1], A: leaf("yes", 0), B: asks("y >= 1", 2), Share: 0.25},
			{Kind: comparison.Removed, Path: path[:1], A: asks("y >= 1", 1), B: leaf("no", 0), Share: 0.2},
			{Kind: comparison.OtherClass, Path: path[:1], A: leaf("yes", 0), B: leaf("no", 0), Share: 0.1},
			{Kind: comparison.Added, Path: path[1:], B: asks("y >= 1", 3), Share: 0.05},
			{Kind: comparison.Removed, Path: path[1:], A: leaf("no", 1), Share: 0.001},
		},
	}
	want := strings.Join([]string{
		"nodes: 21 of A, 25 of B; 15 are the same, 4 changed, 2 removed, 6 added",
		"  of these, 3 leaves with the same class and other probabilities (25.0% of the rows)",
		"  a test of x costs 2.5 by B, 1 by A",
		" 100.0% of the rows, at the root: B asks x >= 3, A asks x >= 2 (12.5% of the rows take the other branch)",
		"  50.0% of the rows, where x >= 2 and color = red: B asks z >= 1, A asks y >= 1 (below: 2 nodes removed, 1 added)",
		"  25.0% of the rows, where x >= 2: B asks y >= 1, A predicts yes (2 nodes added)",
		"  20.0% of the rows, where x >= 2: B predicts no, A asks y >= 1 (1 node removed)",
		"  10.0% of the rows, where x >= 2: B predicts no, A predicts yes",
		"   5.0% of the rows, where color = red: B has a branch of its own with 3 nodes",
		"   0.1% of the rows, where color = red: A has a branch of its own with 1 node",
		"",
	}, "\n")
	var b strings.Builder
	if err := textview.Nodes(&b, &c, 0); err != nil || b.String() != want {
		t.Errorf("got (%v)\n%s\nwant\n%s", err, b.String(), want)
	}
	for len(c.Differences) < 50 {
		c.Differences = append(c.Differences, c.Differences[4])
	}
	b.Reset()
	if err := textview.Nodes(&b, &c, 70); err != nil || !strings.HasSuffix(b.String(), "\n  and 30 more, which --json lists\n") {
		t.Errorf("of many places (%v):\n%s", err, b.String())
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 71 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// TestPairedFigures: a difference is better or worse where the interval leaves out 0, by what is good
// of each figure; a figure that is not there has no line.
func TestPairedFigures(t *testing.T) {
	d := func(difference, half float64) *metric.Difference {
		return &metric.Difference{
			A: 1, B: 1 + difference, Difference: difference,
			Interval: &metric.Interval{StandardError: half / 2, Low: difference - half, High: difference + half},
		}
	}
	m := &metric.Paired{
		AUCOvRMacro: d(.1, .05), Accuracy: d(-.1, .05), BalancedAccuracy: d(.1, .2), LogLoss: d(-.1, .05),
		ExpectedCost: d(.1, .05), ExpectedTests: &metric.Difference{A: 1, B: 2, Difference: 1},
	}
	var b strings.Builder
	if err := textview.PairedFigures(m).Write(&b, 0); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"figure                  A       B    B - A                95 %  B is",
		"AUC                1.0000  1.1000  +0.1000  +0.0500 to +0.1500  better",
		"accuracy           1.0000  0.9000  -0.1000  -0.1500 to -0.0500  worse",
		"balanced accuracy  1.0000  1.1000  +0.1000  -0.1000 to +0.3000",
		"log loss           1.0000  0.9000  -0.1000  -0.1500 to -0.0500  better",
		"cost               1.0000  1.1000  +0.1000  +0.0500 to +0.1500  worse",
		"tests              1.0000  2.0000  +1.0000                   -",
		"",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestFlips: without labels there is nothing on right and wrong.
func TestFlips(t *testing.T) {
	right, wrong, p := int64(2), int64(1), 1.0
	f := &comparison.Flips{Rows: 3, Share: 0.03, ByClasses: []comparison.Flip{{From: "a", To: "b", Rows: 3, Share: 0.03}}}
	if got, want := textview.FlipsText(f, 100), "3 of 100 rows (3.0%) get another class by B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(textview.FlipsTable(f).Columns); n != 4 {
		t.Errorf("%d columns without labels", n)
	}
	f.BecameRight, f.BecameWrong, f.PValue = &right, &wrong, &p
	f.ByClasses[0].BecameRight, f.ByClasses[0].BecameWrong = &right, &wrong
	if got := textview.FlipsText(f, 100); !strings.HasSuffix(got, "; 2 become right, 1 become wrong (McNemar's p 1.0000)") {
		t.Errorf("%q", got)
	}
	p = 1e-9
	if got := textview.FlipsText(f, 100); !strings.HasSuffix(got, "(McNemar's p below 0.0001)") {
		t.Errorf("%q", got)
	}
	table := textview.FlipsTable(f)
	if got := strings.Join(table.Rows[0], " "); got != "a b 3 3.0% 2 1" {
		t.Errorf("%q", got)
	}
	for range 40 {
		f.ByClasses = append(f.ByClasses, f.ByClasses[0])
	}
	rows := textview.FlipsTable(f).Rows
	if got := rows[len(rows)-1][0]; got != "(21 others)" {
		t.Errorf("%q", got)
	}
}
