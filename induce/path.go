package induce

import "github.com/espalier-ml/espalier/induce/split"

// Place is where in a tree a node is. The zero value is the root's.
type Place struct {
	Depth int // tests on the way to it
	Path  *Path
}

// Path is the way from the root to a node, the last test first; nil at the
// root. Paths share what they have in common and are never changed.
type Path struct {
	up      *Path
	test    split.Test
	outcome int     // of two-outcome tests
	middle  float64 // of the sides of a threshold, of two classes: see split.Middle
}

// Below returns the path to a child of a node that is split by a test. weights
// are those of each child by class.
func (p *Path) Below(test split.Test, weights [][]int64, child int) *Path {
	q := &Path{up: p, test: test, outcome: child}
	if test.Kind == split.Threshold && len(weights[0]) == 2 {
		q.middle = split.Middle(weights[0], weights[1])
	}
	return q
}

// paid returns what of a feature's tests has been paid on the way.
func (p *Path) paid(feature int, columns []split.Column) split.Paid {
	var paid split.Paid
	for ; p != nil; p = p.up {
		paid.Asked = paid.Asked || p.test.Feature == feature
		paid.SetUp = paid.SetUp || columns[p.test.Feature].Group == columns[feature].Group
	}
	return paid
}

// Column returns a feature as it is at the end of the way. at is memory for one.
func (p *Path) Column(feature int, columns []split.Column, at *split.Column) *split.Column {
	c := &columns[feature]
	if !c.ByPath() {
		return c
	}
	*at = c.At(p.paid(feature, columns))
	return at
}

// Bounds returns what monotone constraints leave to the end of the way.
func (p *Path) Bounds(columns []split.Column) *split.Bounds {
	b := split.Unbounded()
	for ; p != nil; p = p.up {
		if monotone := columns[p.test.Feature].Monotone; monotone != 0 && p.test.Kind == split.Threshold {
			b = b.Side(monotone, p.outcome, p.middle)
		}
	}
	return &b
}
