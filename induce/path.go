package induce

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/split"
)

// Place is where in a tree a node is. The zero value is the root's.
type Place struct {
	Depth int // tests on the way to it
	Path  *Path
}

// Path is the list of tests from a node up to the root, nil at the root. Paths share
// their upper parts and are never changed.
type Path struct {
	up      *Path
	test    split.Test
	outcome int     // of the test; two-outcome tests only
	middle  float64 // of a threshold, with two classes: see split.Middle
}

// Step is one test of a path, in a form that can be stored.
type Step struct {
	Test    split.Test `json:"test"`
	Outcome int        `json:"outcome"`
	Middle  float64    `json:"middle,omitempty"` // see split.Middle
}

// Steps returns the tests of the path, from the root down.
func (p *Path) Steps() []Step {
	var steps []Step
	for ; p != nil; p = p.up {
		steps = append(steps, Step{p.test, p.outcome, p.middle})
	}
	slices.Reverse(steps)
	return steps
}

// NewPath returns the path of the steps.
func NewPath(steps []Step) *Path {
	var p *Path
	for _, s := range steps {
		p = &Path{up: p, test: s.Test, outcome: s.Outcome, middle: s.Middle}
	}
	return p
}

// Below returns the path to a child of the path's node, if the test splits the node.
// weights holds the weight of each child by class.
func (p *Path) Below(test split.Test, weights [][]int64, child int) *Path {
	q := &Path{up: p, test: test, outcome: child}
	if test.Kind == split.Threshold && len(weights[0]) == 2 {
		q.middle = split.Middle(weights[0], weights[1])
	}
	return q
}

// paid says which prices of a feature's tests have been paid on the path.
func (p *Path) paid(feature int, columns []split.Column) split.Paid {
	var paid split.Paid
	for ; p != nil; p = p.up {
		paid.Asked = paid.Asked || p.test.Feature == feature
		paid.SetUp = paid.SetUp || columns[p.test.Feature].Group == columns[feature].Group
	}
	return paid
}

// Column returns a feature with the prices that its tests have at the end of the path:
// columns[feature] itself, or a copy in at.
func (p *Path) Column(feature int, columns []split.Column, at *split.Column) *split.Column {
	c := &columns[feature]
	if !c.ByPath() {
		return c
	}
	*at = c.At(p.paid(feature, columns))
	return at
}

// Bounds returns the bounds that monotone constraints set at the end of the path on the
// share of the second class.
func (p *Path) Bounds(columns []split.Column) *split.Bounds {
	b := split.Unbounded()
	for ; p != nil; p = p.up {
		if monotone := columns[p.test.Feature].Monotone; monotone != 0 && p.test.Kind == split.Threshold {
			b = b.Side(monotone, p.outcome, p.middle)
		}
	}
	return &b
}
