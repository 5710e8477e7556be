package jobs

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// checkWeights makes sure that each row has a weight.
func (g *rowGroup) checkWeights() error {
	if g.own.Type != dataset.Number {
		return g.errorAt(g.spec.Weight, g.own.Spell(0), "the weights are text, expected numbers",
			"name another column with --weight")
	}
	for r := range g.kept() {
		if fault := dataset.WeightFault(g.ownWeight(r)); fault != "" {
			return g.placed(dataset.WeightError(g.spec.Weight, g.own.Spell(r), g.rowName(r), fault, ""))
		}
	}
	return nil
}

// ownWeight returns the weight of row r as the column has it; NaN if it has none.
func (g *rowGroup) ownWeight(r int) float64 { return numberAt(&g.own, r) }

var errUnits = errors.New("the units of the weights are not known: a pass over them comes first")

// countWeights converts the weights of the rows to units of their parts.
func (g *rowGroup) countWeights() error {
	units := g.spec.Units
	switch {
	case g.weighing:
		return nil
	case g.spec.Weight == "":
		g.weights = slices.Clone(g.counts)
		return nil
	}
	if units == nil {
		return errUnits
	}
	g.weights = make([]int64, g.Rows())
	if !g.spec.Dependent() && g.spec.grouped() {
		g.buckets = make([]uint8, g.Rows())
	}
	for r, part := range g.parts {
		if part == dataset.None {
			continue
		}
		x := g.ownWeight(r)
		if g.weights[r] = units[part].Of(x); g.weights[r] == 0 {
			return g.placed(dataset.WeightError(g.spec.Weight, g.own.Spell(r), g.rowName(r), units[part].TooSmall(),
				"set it to 0, or leave the row out"))
		}
		if !g.spec.Dependent() && g.buckets != nil {
			g.buckets[r] = dataset.WeightClass(g.weights[r], units[part].Scale)
		}
		g.weights[r] *= g.countOf(r)
	}
	return nil
}

// weighClasses multiplies the weight of each training row by the factor of its class. A
// row with a product of 0 is left out.
func (g *rowGroup) weighClasses(classes []uint16) {
	if len(g.spec.ClassWeights) == 0 {
		return
	}
	if g.weights == nil {
		g.weights = slices.Repeat([]int64{1}, g.Rows())
	}
	for r, part := range g.parts {
		if part != dataset.Train {
			continue
		}
		if g.weights[r] = g.countOf(r) * g.spec.Weighed(g.weights[r]/g.countOf(r), classes[r]); g.weights[r] == 0 {
			g.parts[r] = dataset.None
		}
	}
}

// bucket returns the bucket of row r, see RowSpec.Groups; 0 without buckets.
func (g *rowGroup) bucket(r int) uint8 {
	if g.buckets == nil {
		return 0
	}
	return g.buckets[r]
}

// weight returns the weight of row r.
func (g *rowGroup) weight(r int) int64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[r]
}
