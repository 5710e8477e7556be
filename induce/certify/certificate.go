package certify

// Certificate says how far a tree is from the best one. Costs are expected costs
// per object, by weight.
type Certificate struct {
	Theta        float64 `json:"theta"`            // share of the weight that leaves with several classes have at most
	ExpectedCost float64 `json:"expected_cost"`    // of the tree
	Pruned       bool    `json:"pruned,omitempty"` // the tree was, after: this is of the tree before
	// no tree over these bins and tests that separates the objects to theta costs less
	LowerBound float64 `json:"lower_bound"`
	Method     string  `json:"method"` // that gave the bound: optimum (exact), cover, information or kraft
	Ratio      float64 `json:"ratio,omitempty"`

	Sampled bool `json:"sampled"` // the bound is a one-sided lower confidence limit
	Sample  int  `json:"sample"`  // objects looked at
	// objects, pilots among them, whose search was left before its end, for want of work
	CutShort   int     `json:"cut_short,omitempty"`
	Steps      int64   `json:"steps,omitempty"`  // that the bound took, about: a few nanoseconds each
	Budget     int64   `json:"budget,omitempty"` // steps that it might take; absent: any number
	Confidence float64 `json:"confidence"`       // of the bound; 1 unless sampled

	// the paper's: proven before any tree is grown, for a criterion that has one
	LogFactor float64 `json:"log_factor,omitempty"`
	// times the optimum that the tree costs at most: the ratio, or the factor if less and all that
	// it needs holds; absent for a tree that is not complete
	Guarantee   float64      `json:"guarantee,omitempty"`
	Assumptions []Assumption `json:"assumptions"`
}

// Grown is what a certificate needs to know of a tree.
type Grown struct {
	ExpectedCost float64 // billed as the options of the bound say
	Complete     bool    // grown to theta: neither pruned nor limited nor cut short
}

// Certificate compares a tree with the bound. Ratio is the tree's cost over the
// bound: 1 where both are 0, absent where the bound alone is.
func (b *Bound) Certificate(t Grown) Certificate {
	c := Certificate{
		Theta: b.Theta, ExpectedCost: t.ExpectedCost, LowerBound: b.Cost, Method: b.Method,
		Sampled: b.Sampled, Sample: b.Sample, Confidence: b.Confidence, CutShort: b.CutShort, Steps: b.Steps,
		Budget: b.Budget, LogFactor: b.LogFactor,
		Assumptions: append(append([]Assumption{}, b.Assumptions...), Assumption{
			"complete_tree", t.Complete, "grown until every leaf is of one class or weighs at most theta", true,
		}),
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
