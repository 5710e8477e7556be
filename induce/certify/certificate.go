package certify

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Grown describes the tree that a certificate is for.
type Grown struct {
	ExpectedCost float64 // with repeats and groups billed according to the options of the bound
	Complete     bool    // grown to theta: neither pruned, nor limited, nor cut short by a deadline
	Rows         bool    // grown from the classes of rows, see split.OfRows
	Beyond       bool    // some test is in a node whose objects have one majority class
}

// Certificate compares a tree with the bound. Ratio is the tree's cost over the
// bound; it is 1 if both are 0, and absent if the bound alone is 0.
func (b *Bound) Certificate(t Grown) tree.Certificate {
	c := tree.Certificate{
		Theta: b.Theta, ExpectedCost: t.ExpectedCost, LowerBound: b.Cost, Method: b.Method,
		Sampled: b.Sampled, Sample: b.Sample, Confidence: b.Confidence, CutShort: b.CutShort, Steps: b.Steps,
		Budget: b.Budget, LogFactor: b.LogFactor,
		Assumptions: append(slices.Clone(b.Assumptions),
			needed("complete_tree", t.Complete, "grown until every leaf is of one class or weighs at most theta")),
	}
	if t.Rows {
		c.Assumptions = append(c.Assumptions, needed("objects_alone", !t.Beyond, "no test in a node whose objects have "+
			"one majority class: bound and factor are about objects of different majority classes, while further tests "+
			"tell apart rows by their own classes"))
	}
	switch {
	case b.Cost > 0:
		c.Ratio = t.ExpectedCost / b.Cost
	case t.ExpectedCost == 0:
		c.Ratio = 1
	}
	if !t.Complete {
		return c
	}
	c.Guarantee = c.Ratio
	for _, a := range c.Assumptions {
		if a.Needed && !a.Holds {
			return c
		}
	}
	if b.LogFactor > 0 && (c.Guarantee == 0 || b.LogFactor < c.Guarantee) {
		c.Guarantee = b.LogFactor
	}
	return c
}
