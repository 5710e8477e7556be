package certify

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Grown is what a certificate needs to know of a tree.
type Grown struct {
	ExpectedCost float64 // billed as the options of the bound say
	Complete     bool    // grown to theta: neither pruned nor limited nor cut short
}

// Certificate compares a tree with the bound. Ratio is the tree's cost over the
// bound: 1 where both are 0, absent where the bound alone is.
func (b *Bound) Certificate(t Grown) tree.Certificate {
	c := tree.Certificate{
		Theta: b.Theta, ExpectedCost: t.ExpectedCost, LowerBound: b.Cost, Method: b.Method,
		Sampled: b.Sampled, Sample: b.Sample, Confidence: b.Confidence, CutShort: b.CutShort, Steps: b.Steps,
		Budget: b.Budget, LogFactor: b.LogFactor,
		Assumptions: append(slices.Clone(b.Assumptions),
			needed("complete_tree", t.Complete, "grown until every leaf is of one class or weighs at most theta")),
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
