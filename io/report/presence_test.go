package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
)

// unorderedTree returns a tree of 100 rows with two questions about a lab, whose value 60 rows lack, below a presence test. A lab
// costs 20, and its group 10:
//
//	lab     well  ill
//	low       18    0
//	middle     1    7
//	high       4   10
//	absent    50   10
func unorderedTree(t *testing.T) *tree.Tree {
	t.Helper()
	features := []dataset.Feature{{
		Name: "lab", Kind: dataset.Numeric, Cuts: []float64{1.5, 2.5}, Missing: 60, Cost: 20, Group: "blood", GroupCost: 10, Unordered: true,
	}}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, true, 4)
	for code, weights := range [][2]int64{{18, 0}, {1, 7}, {4, 10}, {50, 10}} {
		o.Append([]int{code}, []dataset.ClassWeight{{Class: 0, Weight: weights[0]}, {Class: 1, Weight: weights[1]}}, weights[0]+weights[1])
	}
	p := induce.Params{Algorithm: split.C45, Family: split.Thresholds, Classes: split.OfRows}
	made := tree.New(features, inmemory.Grow(o, split.Columns(features), p, 100, inmemory.Options{}))
	made.Label = tree.Label{Column: "class", Classes: []string{"well", "ill"}}
	made.Algorithm = tree.Algorithm{
		Name: "c45", Tests: "threshold", Bins: 3, Binning: "quantile", LeafEstimate: tree.Raw, Prune: "none", Classes: tree.ClassesOfRows,
		RepeatCost: tree.RepeatFree,
	}
	made.Training = tree.Training{Rows: 100, Objects: 4, Weight: 100}
	made.Bill()
	made.Estimate(tree.Raw, 1)
	made.Measure()
	return made
}

// TestPresence: a presence test is marked, and only the nodes whose weights are numbers of rows have a number of rows of the class of
// interest. A sentence says that the score of the first question is measured on the rows that have the value.
func TestPresence(t *testing.T) {
	m := unorderedTree(t)
	if len(m.Nodes) != 7 || !m.Presence(&m.Nodes[0]) {
		t.Fatalf("%d nodes, want a presence test and two questions below it", len(m.Nodes))
	}
	page := written(t, &report.Content{Run: runOf(m)})
	_, data := parts(t, page)
	var d struct {
		Tests [][]any
		Trees []struct {
			Test, Rows []int
			Of         []*int
			Price      []float64
		}
	}
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	got := d.Trees[0]
	var kinds []any
	for _, test := range got.Test {
		if test >= 0 {
			kinds = append(kinds, d.Tests[test][2])
		}
	}
	if !slices.Equal(kinds, []any{"p", "t", "t"}) || !slices.Equal(got.Price, []float64{0, 30, 0}) {
		t.Errorf("tests %v at the prices %v, want a free presence test, a question for 30 and a free one", kinds, got.Price)
	}
	for i, of := range got.Of {
		if (of != nil) != (i == 0) || of != nil && *of != 27 {
			t.Errorf("node %d of %d rows: %v of the class of interest", i, got.Rows[i], of)
		}
	}
	if len(got.Of) != len(m.Nodes) {
		t.Errorf("numbers for %d of %d nodes", len(got.Of), len(m.Nodes))
	}
	const want = "the reduction is measured on the rows that have the value"
	if !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
	if m.Features[0].Missing = 0; strings.Contains(written(t, &report.Content{Run: runOf(m)}), want) {
		t.Error("the page says that rows lack the value, which all rows have")
	}
}
