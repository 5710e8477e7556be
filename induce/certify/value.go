package certify

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// value puts a number on a leaf of cost d and weight M, such that the mean over
// all objects of the least number that a leaf of theirs can have, less the
// offset, is at most the expected cost of every tree. It grows with d and falls
// with M. The package comment has the proofs.
type value struct {
	name   string
	offset float64

	// Kraft's inequality: d + multiplier * W/M * 2^(-rate d), at its least from d
	// on; rate is the most bits that a cost of 1 buys.
	multiplier, rate float64

	// A mixture of cost and information: (1-share) d + share * slope * log2(W/M).
	share, slope float64
}

// String names the value with its parameter.
func (v *value) String() string {
	switch v.name {
	case Kraft:
		return fmt.Sprintf("%s %.3g", v.name, v.multiplier*v.rate*math.Ln2)
	case Information:
		return fmt.Sprintf("%s %.3g", v.name, v.share) // of either tangent
	default:
		return v.name
	}
}

// of returns the value of the best leaf of at least cost d, whose weight is at
// most W/odds.
func (v *value) of(d, odds float64) float64 {
	if v.multiplier > 0 {
		d = max(d, portable.Log2(v.multiplier*v.rate*math.Ln2*odds)/v.rate)
		return d + float64(v.multiplier*float64(odds*portable.Exp2(-float64(v.rate*d))))
	}
	if v.share == 0 {
		return d
	}
	return float64((1-v.share)*d) + float64(float64(v.share*v.slope)*portable.Log2(odds))
}

// supply is what an attribute can tell of an object: up to so many bits, at a
// price each.
type supply struct{ price, bits float64 }

// supplies lists the attributes, the cheapest first.
func (p *problem) supplies() []supply {
	inGroup := make([]float64, len(p.groups))
	for f := range p.attributes {
		if a := &p.attributes[f]; a.group >= 0 {
			inGroup[a.group] += portable.Log2(float64(a.present))
		}
	}
	list := make([]supply, len(p.attributes))
	for f := range p.attributes {
		a := &p.attributes[f]
		list[f] = supply{a.cheapest() / a.bits(), entropy(a.weight, p.total) * (1 + 1e-9)}
		if a.group >= 0 {
			list[f].price += p.groups[a.group] / inGroup[a.group]
		}
	}
	slices.SortFunc(list, func(a, b supply) int {
		if a.price < b.price {
			return -1
		} else if a.price > b.price {
			return 1
		}
		return 0
	})
	return list
}

// marginal returns the line below the least cost of any number of bits that
// touches it at the given one: cost >= slope * bits - offset.
func marginal(list []supply, bits float64) (slope, offset float64) {
	for i := range list {
		slope = list[i].price
		if bits -= list[i].bits; bits <= 0 {
			break
		}
	}
	for i := range list {
		if list[i].price < slope {
			offset += float64((slope - list[i].price) * list[i].bits)
		}
	}
	return slope, offset
}

// entropy returns the entropy in bits of parts of a total.
func entropy(parts []int64, total int64) float64 {
	h := 0.0
	for _, w := range parts {
		if w > 0 {
			h += float64(float64(w) / float64(total) * portable.Log2(float64(total)/float64(w)))
		}
	}
	return h
}

// rate returns the most bits that a cost of 1 buys.
func (p *problem) rate() float64 {
	rate := 0.0
	for f := range p.attributes {
		a := &p.attributes[f]
		rate = max(rate, a.bits()/a.cheapest())
	}
	return rate * (1 + 1e-12)
}

// values lists the values among which a pilot chooses. The leaves hold at least
// the bits that the classes have, and often about twice as many.
func (p *problem) values() []value {
	list := []value{{name: Cover}}
	classes := make([]int64, len(p.members))
	for i, k := range p.class {
		classes[k] += p.weight[i]
	}
	bits, supplies, rate := entropy(classes, p.total), p.supplies(), p.rate()
	last := 0.0
	for _, times := range []float64{1, 2} {
		slope, offset := marginal(supplies, times*bits)
		if slope == last || offset == 0 && !math.IsInf(rate, 1) { // Kraft's inequality says more
			continue
		}
		for _, share := range []float64{0.25, 0.5, 1} {
			list = append(list, value{name: Information, share: share, slope: slope, offset: share * offset})
		}
		last = slope
	}
	if math.IsInf(rate, 1) {
		return list
	}
	for _, part := range []float64{0.25, 0.5, 1} {
		m := part / (rate * math.Ln2)
		list = append(list, value{name: Kraft, multiplier: m, rate: rate, offset: m})
	}
	return list
}
