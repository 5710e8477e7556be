package certify

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// value is a function of a leaf's cost d and weight M that grows with d and falls
// with M. Take for each object the least value among the leaves that can hold it:
// the mean of these values, less the offset, is at most the expected cost of every
// tree. The package comment has the proofs.
type value struct {
	name   string
	offset float64
	// Kraft's inequality: the least of x + multiplier * W/M * 2^(-rate x) over x >= d.
	// rate is the most bits bought by a cost of 1.
	multiplier, rate float64
}

// leaf returns the value of the best leaf whose cost is at least d and whose weight is at
// most W/odds.
func (v *value) leaf(d, odds float64) float64 {
	if v.multiplier == 0 {
		return d
	}
	d = max(d, portable.Log2(v.multiplier*v.rate*math.Ln2*odds)/v.rate)
	return d + float64(v.multiplier*float64(odds*portable.Exp2(-float64(v.rate*d))))
}

// rate returns the most bits bought by a cost of 1.
func (p *problem) rate() float64 {
	rate := 0.0
	for f := range p.features {
		a := &p.features[f]
		rate = max(rate, a.bits()/a.cheapest())
	}
	return rate * (1 + 1e-12)
}

// values lists the values among which a pilot chooses. A test without a price buys any number of
// bits for nothing: then Kraft's inequality bounds nothing.
func (p *problem) values() []value {
	list := []value{{name: Cover}}
	rate := p.rate()
	if math.IsInf(rate, 1) {
		return list
	}
	for _, part := range []float64{0.25, 0.5, 1} {
		m := part / (rate * math.Ln2)
		list = append(list, value{name: Kraft, multiplier: m, rate: rate, offset: m})
	}
	return list
}
