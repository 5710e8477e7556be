package frontier

import (
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// HeldOut has the rows of a fold at the leaves of the fold's tree for a point. By these, the point has costs on the folds
// whatever errors cost.
type HeldOut struct {
	Rows         int64       `json:"rows"`                    // number of rows of the fold's objects
	ExpectedCost *float64    `json:"expected_cost,omitempty"` // of their tests; absent: not defined
	Share        float64     `json:"share"`                   // share of the tree in the costs
	Leaves       *prune.Held `json:"leaves"`
	Root         *prune.Held `json:"root,omitempty"` // the root alone, which has the remaining share; absent: none remains
}

// PriceFolds sets the costs of the point on the folds by the error costs of a label, given its rows of each fold.
func (p *Point) PriceFolds(folds []HeldOut, l *tree.Label) {
	var errors, total, rows float64
	defined := true
	for i := range folds {
		h := &folds[i]
		cost := float64(h.Share * h.Leaves.ErrorCost(l))
		if h.Root != nil {
			cost += float64((1 - h.Share) * h.Root.ErrorCost(l))
		}
		rows += float64(h.Rows)
		errors += float64(float64(h.Rows) * cost)
		if defined = defined && h.ExpectedCost != nil; defined {
			total += float64(float64(h.Rows) * (cost + *h.ExpectedCost))
		}
	}
	p.Folds.ErrorCost = nil
	p.Folds.TotalCost = nil
	if defined && rows > 0 {
		p.Folds.ErrorCost = new(errors / rows)
		p.Folds.TotalCost = new(total / rows)
	}
}
