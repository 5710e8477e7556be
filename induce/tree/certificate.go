package tree

// Certificate compares the expected cost of a tree with a lower bound: no tree over
// the same bins and the same family of tests that separates the objects to Theta
// costs less than LowerBound. Package certify makes it and proves the bound. Costs
// are expected costs per object, by weight.
type Certificate struct {
	Theta        float64 `json:"theta"`            // share of the weight that a leaf of several classes has at most
	ExpectedCost float64 `json:"expected_cost"`    // of the grown tree, before pruning
	Pruned       bool    `json:"pruned,omitempty"` // the tree was pruned after it was compared
	LowerBound   float64 `json:"lower_bound"`
	Method       string  `json:"method"`          // of the bound: optimum (exact), cover, information or kraft
	Ratio        float64 `json:"ratio,omitempty"` // expected cost over bound; absent where only the bound is 0

	Sampled bool `json:"sampled"` // the bound is a one-sided lower confidence limit
	Sample  int  `json:"sample"`  // objects looked at

	// CutShort is the number of objects, pilots among them, whose search stopped at
	// its limit of work.
	CutShort   int     `json:"cut_short,omitempty"`
	Steps      int64   `json:"steps,omitempty"`  // steps of the search, about: a few nanoseconds each
	Budget     int64   `json:"budget,omitempty"` // steps that the search may take; absent: any number
	Confidence float64 `json:"confidence"`       // of the bound; 1 unless sampled

	// LogFactor is the paper's guarantee, proven before any tree is grown; absent for
	// a criterion that has none.
	LogFactor float64 `json:"log_factor,omitempty"`

	// Guarantee is the greatest multiple of the optimum that the tree may cost: the
	// ratio, or LogFactor where that is less and all needed assumptions hold; absent
	// for a tree that is not complete.
	Guarantee   float64      `json:"guarantee,omitempty"`
	Assumptions []Assumption `json:"assumptions"`
}

// Assumption is one condition of the paper's theorem on the data, the costs or the
// tree.
type Assumption struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"`

	// Needed says that LogFactor is not proven without the assumption. Without any
	// other one LogFactor is only larger, or speaks of relabelled objects.
	Needed bool `json:"needed"`
}
