package induce

import "github.com/espalier-ml/espalier/induce/split"

// path is the way from the root to a node, the last test first; nil at the
// root. Paths share what they have in common and are never changed.
type path struct {
	up   *path
	test split.Test
}

// paid returns what of a feature's tests has been paid on the way.
func (p *path) paid(feature int, columns []split.Column) split.Paid {
	var paid split.Paid
	for ; p != nil; p = p.up {
		paid.Asked = paid.Asked || p.test.Feature == feature
		paid.SetUp = paid.SetUp || columns[p.test.Feature].Group == columns[feature].Group
	}
	return paid
}

// column returns a feature as it is at the end of the way. at is memory for one.
func (p *path) column(feature int, columns []split.Column, at *split.Column) *split.Column {
	c := &columns[feature]
	if p == nil && c.Group == "" || !c.ByPath() {
		return c
	}
	*at = c.At(p.paid(feature, columns))
	return at
}

// below returns the path to the children of a node that is split by a test.
func (p *path) below(test split.Test) *path { return &path{p, test} }
