package induce

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/split"
)

// Place is the position of a node in a tree. The zero value is the position of the root.
type Place struct {
	Depth int // tests on the way to it, without presence tests: see split.Column.Presence
	Path  *Path
}

// NewPlace returns the position that the steps lead to.
func NewPlace(steps []Step, columns []split.Column) Place {
	var p Place
	for _, s := range steps {
		p = p.Below(s.Test, s.Outcome, columns)
	}
	return p
}

// Below returns the position of a child of the node, if test splits the node.
func (p Place) Below(test split.Test, child int, columns []split.Column) Place {
	below := Place{Depth: p.Depth + 1, Path: p.Path.Below(test, child)}
	if columns[test.Feature].IsPresence(&test) {
		below.Depth = p.Depth
	}
	return below
}

// BelowPresence returns the feature that the presence test above the node is for, and whether the node has the objects without a value,
// which end there. Objects with a value are to be tested. The feature is -1 if there is no presence test just above the node.
func (p Place) BelowPresence(columns []split.Column) (feature int, absent bool) {
	if p.Path == nil || !columns[p.Path.test.Feature].IsPresence(&p.Path.test) {
		return -1, false
	}
	return p.Path.test.Feature, p.Path.outcome == 1
}

// Path is the list of tests from a node up to the root; nil at the root. Paths share their upper
// parts and are never changed.
type Path struct {
	up      *Path
	test    split.Test
	outcome int  // outcome of the test; only for two-outcome tests
	sets    bool // whether some test of the path is for a set
}

// Step is one test of a path, in a form that can be stored.
type Step struct {
	Test    split.Test `json:"test"`
	Outcome int        `json:"outcome"`
}

// Steps returns the tests of the path, from the root down.
func (p *Path) Steps() []Step {
	var steps []Step
	for ; p != nil; p = p.up {
		steps = append(steps, Step{p.test, p.outcome})
	}
	slices.Reverse(steps)
	return steps
}

// NewPath returns the path of the steps.
func NewPath(steps []Step) *Path {
	var p *Path
	for _, s := range steps {
		p = p.Below(s.Test, s.Outcome)
	}
	return p
}

// Below returns the path to a child of the node, if test splits the node.
func (p *Path) Below(test split.Test, child int) *Path {
	return &Path{up: p, test: test, outcome: child, sets: test.Kind == split.In || p != nil && p.sets}
}

// paid returns which prices of a feature's tests have been paid on the path.
func (p *Path) paid(feature int, columns []split.Column) split.Paid {
	var paid split.Paid
	for ; p != nil; p = p.up {
		if columns[p.test.Feature].IsPresence(&p.test) {
			continue
		}
		if p.test.Feature == feature {
			paid.Prior = split.LeastPrior(paid.Prior, p.test.Prior)
		}
		paid.Asked = paid.Asked || p.test.Feature == feature
		paid.SetUp = paid.SetUp || columns[p.test.Feature].Group == columns[feature].Group
	}
	return paid
}

// Spent returns what the tests on the path cost.
func (p *Path) Spent(columns []split.Column) (spent Bill) {
	byFeature := map[int]split.Paid{}
	setUp := map[string]bool{}
	for _, step := range p.Steps() {
		column := &columns[step.Test.Feature]
		if column.IsPresence(&step.Test) {
			continue
		}
		earlier := byFeature[step.Test.Feature]
		earlier.SetUp = setUp[column.Group]
		spent.Add(Due{column.Due(&step.Test, earlier), column.FurtherDue(earlier)})
		byFeature[step.Test.Feature] = split.Paid{Asked: true, Prior: split.LeastPrior(earlier.Prior, step.Test.Prior)}
		setUp[column.Group] = true
	}
	return spent
}

// Due returns what the cheapest test of a feature costs at the end of the path.
func (p *Path) Due(feature int, columns []split.Column) Due {
	paid := p.paid(feature, columns)
	return Due{columns[feature].LeastDue(paid), columns[feature].FurtherDue(paid)}
}

// Features returns the different features that the path tests, the last one first.
func (p *Path) Features(columns []split.Column) []int {
	var list []int
	for ; p != nil; p = p.up {
		if !columns[p.test.Feature].IsPresence(&p.test) && !slices.Contains(list, p.test.Feature) {
			list = append(list, p.test.Feature)
		}
	}
	return list
}

// Column returns a feature with the prices that its tests have at the end of the path:
// &columns[feature] itself, or a copy in at.
func (p *Path) Column(feature int, columns []split.Column, at *split.Column) *split.Column {
	c := &columns[feature]
	if !c.ByPath() && (c.Numeric || p == nil || !p.sets) {
		return c
	}
	*at = c.At(p.paid(feature, columns))
	return at
}
