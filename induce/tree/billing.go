package tree

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// checkBilled checks that each group has a single price, and that each test is billed at the price
// due at its node.
func (t *Tree) checkBilled() error {
	if c := t.Algorithm.Classes; c != "" && c != ClassesOfRows {
		return fmt.Errorf("algorithm.classes is %q, want %s or none", c, ClassesOfRows)
	}
	if r := t.Algorithm.RepeatCost; r != "" && r != RepeatFree {
		return fmt.Errorf("repeat_cost %q: want %q or none", r, RepeatFree)
	}
	if err := checkGroups(t.Features); err != nil {
		return err
	}
	var fault error
	asked := newAsked(t.Features)
	t.visit(func(node int) {
		if n := &t.Nodes[node]; fault == nil && !n.Leaf() {
			if err := t.checkBill(n.Test, asked); err != nil {
				fault = fmt.Errorf("node %d: %w", node, err)
			}
			asked.add(n.Test.Feature, 1)
		}
	}, func(node int) {
		if n := &t.Nodes[node]; fault == nil && !n.Leaf() {
			asked.add(n.Test.Feature, -1)
		}
	})
	return fault
}

func checkGroups(features []dataset.Feature) error {
	prices := make(map[string]float64)
	for i := range features {
		f := &features[i]
		if f.Group == "" && f.GroupCost != 0 || f.GroupCost < 0 {
			return fmt.Errorf("feature %q: group_cost %v: want a group, and at least 0", f.Name, f.GroupCost)
		}
		if price, known := prices[f.Group]; known && price != f.GroupCost {
			return fmt.Errorf("feature %q: the group %q costs %v, of another feature %v", f.Name, f.Group, f.GroupCost,
				price)
		}
		prices[f.Group] = f.GroupCost
	}
	return nil
}

func (t *Tree) checkBill(test *Test, before *asked) error {
	f := &t.Features[test.Feature]
	again, setUp := before.features[test.Feature] > 0, before.groups[f.Group] > 0
	want := test.Cost
	if f.Group != "" && !setUp {
		want += f.GroupCost
	}
	// A feature whose values have prices has no free repeats. tree.json does not list
	// these prices.
	free := again && t.Algorithm.RepeatCost == RepeatFree
	if paid := test.Paid(); paid != want && !(free && paid == 0) {
		return fmt.Errorf("the test on %q is billed at %v: want %v", f.Name, paid, want)
	}
	return nil
}

// asked counts the tests on the path to a node, by feature and by group.
type asked struct {
	list     []dataset.Feature
	features []int
	groups   map[string]int
}

func newAsked(features []dataset.Feature) *asked {
	return &asked{list: features, features: make([]int, len(features)), groups: make(map[string]int)}
}

// add counts tests more tests on a feature.
func (a *asked) add(feature, tests int) {
	a.features[feature] += tests
	a.groups[a.list[feature].Group] += tests
}
