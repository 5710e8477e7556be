package boost

import "github.com/espalier-ml/espalier/induce/portable"

// sum is a sum over rows of their number, their gradients and their curvatures, in a single integer.
// A histogram of such sums takes a third of the memory and of the additions of three numbers.
// Gradients and curvatures are in units, see newUnits. (Boosted trees that learn from integers are as
// good: Shi et al., Quantized Training of Gradient Boosting Decision Trees, NeurIPS 2022.)
type sum uint64

const (
	// MaxObjects is the greatest number of objects of a fit, for which a sum has room. On public data sets
	// twice as many gave boosters that are no better.
	MaxObjects = 1 << 15

	fieldBits = 24 // bits of the gradient, and of the curvature
	field     = 1<<fieldBits - 1
)

// rows returns the number of rows. A negative gradient takes one from the number in the integer.
func (s sum) rows() int { return int((s + 1<<(2*fieldBits-1)) >> (2 * fieldBits)) }

// gradient returns the gradient, in units.
func (s sum) gradient() float64 {
	return float64(int64(s<<(64-2*fieldBits)) >> (64 - fieldBits))
}

// curvature returns the curvature, in units.
func (s sum) curvature() float64 { return float64(int64(s & field)) }

// add adds the sums of an entry.
func add(to, entry []sum) {
	for k := range to {
		to[k] += entry[k]
	}
}

// units convert between sums and numbers of rows.
type units struct {
	gradient, curvature float64 // how many are in 1
	ridge               float64 // in units of the curvature
	gain                float64 // unit of gains
}

// newUnits returns the finest units with which a sum has room for all rows, given their weights: the gradient
// of a row is at most its weight, and the curvature at most a quarter of it. Rounding adds at most a unit for each row.
func newUnits(weights []float64) units {
	total := portable.Sum(weights)
	u := units{float64(field/2-len(weights)) / total, float64(field-len(weights)) / (total / 4), 0, 0}
	u.ridge = ridge * u.curvature
	u.gain = u.curvature / float64(u.gradient*u.gradient)
	return u
}

// rounder makes the sums of single rows, one after the other. What rounding takes from a row is passed
// on to the next row, so the sums over many rows are right even if most rows have less than a unit.
type rounder struct {
	gradient, curvature   float64 // parts of a unit in 1
	gradients, curvatures int64   // what is left of the rows so far, in parts of a unit
}

const (
	partBits = 20 // bits of the parts of a unit
	part     = 1 << partBits
)

func (u *units) rounder() rounder {
	return rounder{part * u.gradient, part * u.curvature, part / 2, part / 2}
}

// round returns the sum of a single row.
func (r *rounder) round(gradient, curvature float64) sum {
	r.gradients += int64(float64(gradient * r.gradient))
	r.curvatures += int64(float64(curvature * r.curvature))
	s := sum(1<<(2*fieldBits) + r.gradients>>partBits<<fieldBits + r.curvatures>>partBits)
	r.gradients &= part - 1
	r.curvatures &= part - 1
	return s
}
