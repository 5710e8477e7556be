package report

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestChoosePresence: a page without room for all nodes has the question below each presence test that it has.
func TestChoosePresence(t *testing.T) {
	missing := &tree.Test{Test: split.Test{Kind: split.Missing}}
	asked := &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}}
	below := func(yes, no int) []tree.Branch {
		return []tree.Branch{{Outcome: 1, Child: yes}, {Outcome: 0, Child: no}}
	}
	m := &tree.Tree{
		Features: []dataset.Feature{{Name: "lab", Kind: dataset.Numeric, Cuts: []float64{1}, Unordered: true}},
		Nodes: []tree.Node{
			{Weight: 9, Test: missing, Branches: below(1, 2)},
			{},
			{Weight: 9, Test: asked, Branches: below(3, 4)},
			{Weight: 5},
			{Weight: 4, Test: asked, Branches: below(5, 6)},
			{Weight: 2},
			{Weight: 2},
		},
	}
	for room, want := range map[int]int{1: 1, 3: 1, 4: 1, 5: 5, 6: 5, 7: 7} {
		e := &encoder{tree: m, form: &form{nodes: room}}
		e.choose()
		if len(e.list) != want || e.opened[0] != e.opened[2] {
			t.Errorf("room for %d nodes: the page has %v, want %d nodes", room, e.list, want)
		}
	}
}
