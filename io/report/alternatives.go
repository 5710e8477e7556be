package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// A tree is nearly as good as the run's if its AUC is at most lessAUC lower, and it costs at most moreCost times as much.
const (
	lessAUC  = 0.01
	moreCost = 1.1
)

// maxAlternatives is the greatest number of trees in the table of alternatives.
const maxAlternatives = 6

// alternatives lists trees of the frontier that are nearly as good as the run's, and ask another feature first: for each
// feature the tree of the highest AUC. It returns nil without such trees.
func (f *facts) alternatives() *table {
	root := f.root()
	if f.Frontier == nil || root == nil || f.Frontier.Criterion() != frontier.AUC || f.Tree.Label.ErrorCosts != nil {
		return nil // the table compares areas
	}
	points := f.Frontier.Points
	chosen := slices.IndexFunc(points, func(p runfolder.Point) bool { return p.Selected })
	if chosen < 0 || points[chosen].ExpectedAUC() == nil {
		return nil
	}
	own := &points[chosen]
	area := *own.ExpectedAUC()
	best := make(map[string]int) // by first feature
	for i := range points {
		p := &points[i]
		if i >= len(f.Trees) || f.Trees[i] == nil || f.Trees[i].Nodes[0].Leaf() || p.AUCBeside(own) == nil || !f.Frontier.Limits.Allow(&p.Complexity, f.Trees[i].PaidTests()) ||
			*p.AUCBeside(own) < area-lessAUC || p.ExpectedCost > float64(moreCost*own.ExpectedCost) {
			continue
		}
		first := f.Trees[i].Features[f.Trees[i].Nodes[0].Test.Feature].Name
		if at, ok := best[first]; !ok || *p.AUCBeside(own) > *points[at].AUCBeside(own) {
			best[first] = i
		}
	}
	delete(best, f.Tree.Features[root.Test.Feature].Name)
	if len(best) == 0 {
		return nil
	}
	list := slices.SortedFunc(maps.Values(best), func(i, k int) int {
		return cmp.Or(cmp.Compare(*points[k].AUCBeside(own), *points[i].AUCBeside(own)), cmp.Compare(i, k))
	})
	t := textview.NewTable(textview.Column{Head: "first question", Left: true}, textview.Column{Head: "tree"}, textview.Column{Head: "cost"},
		textview.Column{Head: "AUC"}, textview.Column{Head: "change"}, textview.Column{Head: "leaves"})
	for _, i := range list[:min(len(list), maxAlternatives)] {
		n := f.Trees[i].Question(0)
		t.Add(textview.Condition(f.Trees[i], n, &n.Branches[0]), cmp.Or(strings.TrimLeft(textview.Number(points[i].Tree), "0"), "0"), short(points[i].ExpectedCost),
			fmt.Sprintf("%.3f", *points[i].AUCBeside(own)), fmt.Sprintf("%+.3f", *points[i].AUCBeside(own)-area), strconv.Itoa(points[i].Leaves))
	}
	return newTable(t)
}
