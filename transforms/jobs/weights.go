package jobs

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// FractionScale is the number of fixed-point units in 1 where weights have fractions.
const FractionScale = 1_000_000

// MaxTotalWeight is the largest weight of all rows, in units. Products stop there, so that sums
// do not overflow.
const MaxTotalWeight = 1 << 60

// checkWeights makes sure that each row has a weight.
func (g *rowGroup) checkWeights() error {
	if g.own.Type != dataset.Number {
		return g.errorAt(g.spec.Weight, g.own.Spell(0), "the weights are text, expected numbers",
			"name another column with --weight")
	}
	for r := range g.rows {
		if fault := dataset.WeightFault(g.ownWeight(r)); fault != "" {
			return g.placed(WeightError(g.spec.Weight, g.own.Spell(r), g.rowName(r), fault, ""))
		}
	}
	return nil
}

// WeightError returns the error of the weight of a row: row says which row it is, and fault what is wrong.
func WeightError(column, value, row, fault, hint string) *dataset.DataError {
	return &dataset.DataError{Column: column, Value: value, Problem: "the weight of " + row + " " + fault, Hint: hint}
}

// ownWeight returns the weight of row r as the column has it; NaN if it has none.
func (g *rowGroup) ownWeight(r int) float64 {
	if g.own.Missing(r) {
		return math.NaN()
	}
	if g.own.Index != nil {
		r = int(g.own.Index[r])
	}
	return g.own.Numbers[r]
}

var errUnits = errors.New("the units of the weights are not known: a pass over them comes first")

// countWeights converts the weights of the rows to units of their parts.
func (g *rowGroup) countWeights() error {
	units := g.spec.Units
	if g.spec.Weight == "" || g.weighing {
		return nil
	}
	if units == nil {
		return errUnits
	}
	g.weights = make([]int64, g.rows)
	if g.spec.Key == "" && g.spec.grouped() {
		g.buckets = make([]uint8, g.rows)
	}
	for r, part := range g.parts {
		if part == dataset.None {
			continue
		}
		x := g.ownWeight(r)
		if g.weights[r] = units[part].Of(x); g.weights[r] == 0 {
			return g.placed(WeightError(g.spec.Weight, g.own.Spell(r), g.rowName(r), units[part].TooSmall(),
				"set it to 0, or leave the row out"))
		}
		if g.spec.Key == "" && g.buckets != nil {
			g.buckets[r] = dataset.WeightClass(g.weights[r], units[part].Scale)
		}
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
		if g.weights[r] = g.spec.Weighed(g.weights[r], classes[r]); g.weights[r] == 0 {
			g.parts[r] = dataset.None
		}
	}
}

// Weighed returns the weight of a training row of a class, times the factor of the class.
func (s *RowSpec) Weighed(weight int64, class uint16) int64 {
	if len(s.ClassWeights) == 0 {
		return weight
	}
	return multiplied(weight, s.ClassWeights[class], uint64(s.ClassDivisor))
}

// multiplied returns weight*factor/unit, rounded, and at most MaxTotalWeight.
func multiplied(weight, factor int64, unit uint64) int64 {
	hi, lo := bits.Mul64(uint64(weight), uint64(factor))
	lo, carry := bits.Add64(lo, unit/2, 0)
	if hi += carry; hi >= unit {
		return MaxTotalWeight
	}
	product, _ := bits.Div64(hi, lo, unit)
	return int64(min(product, MaxTotalWeight))
}

// weight returns the weight of row r.
func (g *rowGroup) weight(r int) int64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[r]
}
