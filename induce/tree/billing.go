package tree

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// checkBilled makes sure that groups have one price each, and that tests are
// billed at what is to be paid where they are asked.
func (t *Tree) checkBilled() error {
	if r := t.Algorithm.RepeatCost; r != "" && r != RepeatFree {
		return fmt.Errorf("repeat_cost %q: want %q or none", r, RepeatFree)
	}
	if err := checkGroups(t.Features); err != nil {
		return err
	}
	asked := make([]*asked, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		if err := t.checkBill(n.Test, asked[i]); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		below := asked[i].and(n.Test.Feature)
		for _, b := range n.Branches {
			asked[b.Child] = below
		}
	}
	return nil
}

func checkGroups(features []dataset.Feature) error {
	prices := make(map[string]float64)
	for i := range features {
		f := &features[i]
		if f.Group == "" && f.GroupCost != 0 || f.GroupCost < 0 {
			return fmt.Errorf("feature %q: group_cost %v: want a group, and at least 0", f.Name, f.GroupCost)
		}
		if price, known := prices[f.Group]; known && price != f.GroupCost {
			return fmt.Errorf("feature %q: the group %q costs %v, of another feature %v", f.Name, f.Group, f.GroupCost, price)
		}
		prices[f.Group] = f.GroupCost
	}
	return nil
}

func (t *Tree) checkBill(test *Test, before *asked) error {
	f := &t.Features[test.Feature]
	again, setUp := before.has(t.Features, f)
	want := test.Cost
	if f.Group != "" && !setUp {
		want += f.GroupCost
	}
	free := again && t.Algorithm.RepeatCost == RepeatFree // unless its values have prices, which tree.json does not list
	if paid := test.Paid(); paid != want && !(free && paid == 0) {
		return fmt.Errorf("the test on %q is billed at %v: want %v", f.Name, paid, want)
	}
	return nil
}

// asked is a list of the features asked on the way to a node, the last first.
type asked struct {
	before  *asked
	feature int
}

func (a *asked) and(feature int) *asked { return &asked{a, feature} }

// has reports whether the feature was asked, and whether any of its group was.
func (a *asked) has(features []dataset.Feature, f *dataset.Feature) (again, setUp bool) {
	for ; a != nil; a = a.before {
		g := &features[a.feature]
		again, setUp = again || g == f, setUp || g.Group == f.Group
	}
	return again, setUp
}
