package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/tree"
)

// use sums up the tests on a feature over the training rows.
type use struct {
	feature int
	asked   int64   // weight of the rows with at least one test on the feature
	tests   int64   // sum over rows of weight times number of tests
	paid    float64 // sum over rows of weight times billed cost
}

// uses returns the use of each feature that a tree tests, the dearest first.
func uses(t *tree.Tree) []use {
	byFeature := make([]use, len(t.Features))
	above := make([]int, len(t.Features)) // by feature: number of tests on the path
	var walk func(id int)
	walk = func(id int) {
		n := &t.Nodes[id]
		if n.Leaf() {
			return
		}
		u := &byFeature[n.Test.Feature]
		if above[n.Test.Feature] == 0 {
			u.asked += n.Weight
		}
		u.tests += n.Weight
		u.paid += float64(n.Test.Paid() * float64(n.Weight))
		above[n.Test.Feature]++
		for i := range n.Branches {
			walk(n.Branches[i].Child)
		}
		above[n.Test.Feature]--
	}
	walk(0)
	var list []use
	for f := range byFeature {
		byFeature[f].feature = f
		if byFeature[f].tests > 0 {
			list = append(list, byFeature[f])
		}
	}
	slices.SortStableFunc(list, func(a, b use) int {
		return cmp.Or(cmp.Compare(b.paid, a.paid), cmp.Compare(b.asked, a.asked))
	})
	return list
}

// maxUses is the greatest number of features listed one by one.
const maxUses = 10

// Features writes a table of the features that a tree tests: the share of the training
// rows with a test on the feature, the mean number of tests on it per row, and their mean
// billed cost. Lines have at most width characters; 0: any length. A tree without a test
// has no table.
func Features(w io.Writer, t *tree.Tree, width int) error {
	list, total := uses(t), float64(t.Nodes[0].Weight)
	if len(list) == 0 || total == 0 {
		return nil
	}
	table := NewTable(Column{Head: "feature", Left: true}, Column{Head: "rows asked"},
		Column{Head: "tests a row", Rank: 2}, Column{Head: "paid a row"},
		Column{Head: "of all paid", Rank: 1})
	all := 0.0
	for i := range list {
		all += list[i].paid
	}
	add := func(called, asked string, tests int64, paid float64) {
		of := "-"
		if all > 0 {
			of = Percent(paid / all)
		}
		table.Add(called, asked, fmt.Sprintf("%.3f", float64(tests)/total), strconv.FormatFloat(paid/total, 'g', 4, 64),
			of)
	}
	shown := list[:min(len(list), maxUses)]
	for i := range shown {
		add(name(t.Features[list[i].feature].Name), Percent(float64(list[i].asked)/total), list[i].tests, list[i].paid)
	}
	if rest := list[len(shown):]; len(rest) > 0 {
		tests, paid := int64(0), 0.0
		for i := range rest {
			tests, paid = tests+rest[i].tests, paid+rest[i].paid
		}
		add(fmt.Sprintf("(%d others)", len(rest)), "", tests, paid)
	}
	return table.Write(w, width)
}
