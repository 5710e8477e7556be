package tree

import (
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Bill sets what is paid for each test on its path, given the prices of the tests themselves: see split.Column.At.
func (t *Tree) Bill() {
	for i, paid := range t.paid() {
		if n := &t.Nodes[i]; !n.Leaf() {
			n.Test.Billed = nil
			if due := t.due(i, paid, t.freeRepeats(n.Test.Feature)); due != n.Test.Cost {
				n.Test.Billed = &due
			}
		}
	}
}

// freeRepeats reports whether further tests of a feature on a path are free.
func (t *Tree) freeRepeats(feature int) bool {
	return t.Algorithm.RepeatCost == RepeatFree && len(t.Features[feature].ValueCosts) == 0
}

// due returns what an inner node's test costs after tests that have paid for its feature and group.
func (t *Tree) due(node int, paid split.Paid, freeRepeats bool) float64 {
	if t.Presence(&t.Nodes[node]) {
		return 0
	}
	test := t.Nodes[node].Test
	f := &t.Features[test.Feature]
	c := split.Column{Cost: test.Cost, Group: f.Group, GroupCost: f.GroupCost, FreeRepeats: freeRepeats}
	return c.Due(new(split.Test), paid)
}

// FurtherDues returns what is paid for the test of each inner node in further currencies, in the order of units; nil
// without units.
func (t *Tree) FurtherDues(units []string) []dataset.Amounts {
	if len(units) == 0 {
		return nil
	}
	dues := make([]dataset.Amounts, len(t.Nodes))
	for i, paid := range t.paid() {
		if n := &t.Nodes[i]; !n.Leaf() {
			dues[i] = t.furtherDue(i, paid, units)
		}
	}
	return dues
}

// furtherDue is due in further currencies.
func (t *Tree) furtherDue(node int, paid split.Paid, units []string) dataset.Amounts {
	n := &t.Nodes[node]
	if t.Presence(n) {
		return dataset.Amounts{}
	}
	f := &t.Features[n.Test.Feature]
	c := split.Column{
		Group: f.Group, FreeRepeats: t.freeRepeats(n.Test.Feature), Further: dataset.AmountsOf(f.FurtherCosts, units),
		GroupFurther: dataset.AmountsOf(f.GroupFurther, units),
	}
	return c.FurtherDue(paid)
}

// PathFurther returns for each node what the tests on its path cost in further currencies, given FurtherDues.
func (t *Tree) PathFurther(dues []dataset.Amounts) []dataset.Amounts {
	costs := make([]dataset.Amounts, len(t.Nodes))
	for i := range dues {
		for _, b := range t.Nodes[i].Branches {
			costs[b.Child] = costs[i].Plus(dues[i])
		}
	}
	return costs
}

// paid returns for each inner node what the tests above it have paid for its feature and its group.
func (t *Tree) paid() []split.Paid {
	paid := make([]split.Paid, len(t.Nodes))
	asked, setUp := make([]int, len(t.Features)), make(map[string]int) // tests above, by feature and by group
	count := func(node, change int) {
		if n := &t.Nodes[node]; !n.Leaf() && !t.Presence(n) {
			asked[n.Test.Feature] += change
			setUp[t.Features[n.Test.Feature].Group] += change
		}
	}
	t.visit(func(node int) {
		if n := &t.Nodes[node]; !n.Leaf() {
			f := n.Test.Feature
			paid[node] = split.Paid{Asked: asked[f] > 0, SetUp: setUp[t.Features[f].Group] > 0}
		}
		count(node, 1)
	}, func(node int) { count(node, -1) })
	return paid
}

// parents returns the parent of each node; -1 for the root.
func (t *Tree) parents() []int {
	parents := make([]int, len(t.Nodes))
	parents[0] = -1
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			parents[b.Child] = i
		}
	}
	return parents
}

// Paid returns the price paid for the test at its node.
func (t *Test) Paid() float64 {
	if t.Billed != nil {
		return *t.Billed
	}
	return t.Cost
}

// Spent returns what rows of a weight pay for the test of an inner node.
func (n *Node) Spent(weight float64) float64 { return float64(n.Test.Paid() * weight) }

// PathCosts returns for each node how many tests are on its path, without presence tests, and their billed cost.
func (t *Tree) PathCosts() (tests []int, costs []float64) {
	tests = make([]int, len(t.Nodes))
	costs = make([]float64, len(t.Nodes))
	for i := range t.Nodes {
		asked := tests[i] + 1
		if t.Presence(&t.Nodes[i]) {
			asked--
		}
		for _, b := range t.Nodes[i].Branches {
			tests[b.Child] = asked
			costs[b.Child] = costs[i] + t.Nodes[i].Test.Paid()
		}
	}
	return tests, costs
}

// PathPayments returns for each node how many of the tests on its path cost something.
func (t *Tree) PathPayments() []int {
	paid := make([]int, len(t.Nodes))
	for i := range t.Nodes {
		for _, b := range t.Nodes[i].Branches {
			if paid[b.Child] = paid[i]; t.Nodes[i].Test.Paid() > 0 {
				paid[b.Child]++
			}
		}
	}
	return paid
}

// PaidTests returns how many tests cost something, on the path with most of them.
func (t *Tree) PaidTests() int { return slices.Max(t.PathPayments()) }

// Measure sets the complexity from the nodes.
func (t *Tree) Measure() {
	c := Complexity{Nodes: len(t.Nodes)}
	asked, paid := t.PathCosts()
	cost := 0.0
	tests := int64(0)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			c.Leaves++
			c.Depth = max(c.Depth, asked[i])
			c.MaxCost = max(c.MaxCost, paid[i])
			continue
		}
		if t.Presence(n) {
			continue
		}
		cost += n.Spent(float64(n.Weight))
		tests += n.Weight
	}
	if w := t.Nodes[0].Weight; w > 0 {
		c.ExpectedCost = cost / float64(w)
		c.ExpectedTests = float64(tests) / float64(w)
	}
	c.Further = t.furtherCosts(func(node int) float64 { return float64(t.Nodes[node].Weight) })
	t.Complexity = c
}

// furtherCosts returns the costs in further currencies of rows with these weights at the nodes.
func (t *Tree) furtherCosts(weight func(node int) float64) dataset.FurtherCosts {
	units := dataset.FurtherUnits(t.Features)
	dues := t.FurtherDues(units)
	var most, sum dataset.Amounts
	for _, costs := range t.PathFurther(dues) {
		most = most.Max(costs)
	}
	for i, due := range dues {
		sum = sum.Plus(due.Times(weight(i)))
	}
	return dataset.NewFurtherCosts(units, sum.Per(max(weight(0), 1)), most)
}

// BillsApart reports whether the billed price of a test may differ from its own price: a tested
// feature is in a group, or repeats are free.
func (t *Tree) BillsApart() bool {
	if t.Algorithm.RepeatCost != "" {
		return true
	}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() && t.Features[n.Test.Feature].Group != "" {
			return true
		}
	}
	return false
}

// checkBilled checks that each group has a single price, and that each test is billed at the price
// due at its node.
func (t *Tree) checkBilled() error {
	if c := t.Algorithm.Classes; c != "" && c != ClassesOfRows {
		return fmt.Errorf("algorithm.classes is %q, want %s or none", c, ClassesOfRows)
	}
	if by := t.Algorithm.SmoothingBy; by != "" && by != byClasses {
		return fmt.Errorf("algorithm.smoothing_by is %q, want %s or none", by, byClasses)
	}
	if r := t.Algorithm.RepeatCost; r != "" && r != RepeatFree {
		return fmt.Errorf("repeat_cost %q: want %q or none", r, RepeatFree)
	}
	if err := checkGroups(t.Features); err != nil {
		return err
	}
	units := dataset.FurtherUnits(t.Features)
	for _, cost := range t.Complexity.Further.List() {
		if len(t.Features) > 0 && !slices.Contains(units, cost.Unit) {
			return fmt.Errorf("complexity: further costs in %q: want a currency of the features, which have %q", cost.Unit, units)
		}
	}
	for i, paid := range t.paid() {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		// A feature whose values have prices has no free repeats. tree.json does not list these prices.
		want := t.due(i, paid, false)
		if is := n.Test.Paid(); is != want && is != t.due(i, paid, t.freeRepeats(n.Test.Feature)) {
			return fmt.Errorf("node %d: the test on %q is billed at %v: want %v", i, t.Features[n.Test.Feature].Name, is, want)
		}
	}
	return nil
}

func checkGroups(features []dataset.Feature) error {
	prices := make(map[string]float64)
	further := make(map[string]map[string]float64)
	for i := range features {
		f := &features[i]
		if err := checkFurther(f, &features[0]); err != nil {
			return err
		}
		if amounts, known := further[f.Group]; known && !maps.Equal(amounts, f.GroupFurther) {
			return fmt.Errorf("feature %q: the group %q has the further costs %v, of another feature %v", f.Name, f.Group, f.GroupFurther,
				amounts)
		}
		further[f.Group] = f.GroupFurther
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

// checkFurther checks the prices of a feature in further currencies. All features have the currencies of the first one.
func checkFurther(f, first *dataset.Feature) error {
	units := slices.Sorted(maps.Keys(first.FurtherCosts))
	if len(units) > dataset.MostFurther || !slices.Equal(slices.Sorted(maps.Keys(f.FurtherCosts)), units) {
		return fmt.Errorf("feature %q: further_costs in %q: want the currencies of all features, at most %d", f.Name,
			slices.Sorted(maps.Keys(f.FurtherCosts)), dataset.MostFurther)
	}
	for _, unit := range units {
		if err := dataset.CheckUnit(unit); err != nil {
			return fmt.Errorf("feature %q: %w", f.Name, err)
		}
	}
	if f.Group == "" && len(f.GroupFurther) > 0 {
		return fmt.Errorf("feature %q: group_further_costs %v: want a group", f.Name, f.GroupFurther)
	}
	for _, amounts := range []map[string]float64{f.FurtherCosts, f.GroupFurther} {
		for unit, cost := range amounts {
			if _, known := f.FurtherCosts[unit]; !known || !(cost >= 0 && cost <= maxCost) {
				return fmt.Errorf("feature %q: further cost %v in %q: want a number from 0 to %v, in a currency of further_costs",
					f.Name, cost, unit, maxCost)
			}
		}
	}
	return nil
}
