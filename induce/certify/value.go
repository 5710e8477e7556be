package certify

import (
	"fmt"
	"math"
	"slices"

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

	// A mixture of cost and information: (1-share) d + share * slope * log2(W/M).
	share, slope float64
}

// String names the value with its parameter.
func (v *value) String() string {
	switch v.name {
	case Kraft:
		return fmt.Sprintf("%s %.3g", v.name, v.multiplier*v.rate*math.Ln2)
	case Information:
		return fmt.Sprintf("%s %.3g", v.name, v.share) // both tangents have this name
	default:
		return v.name
	}
}

// leaf returns the value of the best leaf whose cost is at least d and whose weight is at
// most W/odds.
func (v *value) leaf(d, odds float64) float64 {
	if v.multiplier > 0 {
		d = max(d, portable.Log2(v.multiplier*v.rate*math.Ln2*odds)/v.rate)
		return d + float64(v.multiplier*float64(odds*portable.Exp2(-float64(v.rate*d))))
	}
	if v.share == 0 {
		return d
	}
	return float64((1-v.share)*d) + float64(float64(v.share*v.slope)*portable.Log2(odds))
}

// supply is the information that a feature sells: the most bits, and the price of a
// bit.
type supply struct{ price, bits float64 }

// supplies lists the features' supplies, the lowest price first.
func (p *problem) supplies() []supply {
	inGroup := make([]float64, len(p.groups))
	for f := range p.features {
		if a := &p.features[f]; a.group >= 0 {
			inGroup[a.group] += portable.Log2(float64(a.present))
		}
	}
	list := make([]supply, len(p.features))
	for f := range p.features {
		a := &p.features[f]
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

// marginal returns the tangent, at the given number of bits, of the least cost as a
// function of the bits: cost >= slope * bits - offset.
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

// entropy returns the entropy, in bits, of the shares of a total.
func entropy(parts []int64, total int64) float64 {
	h := 0.0
	for _, w := range parts {
		if w > 0 {
			h += float64(float64(w) / float64(total) * portable.Log2(float64(total)/float64(w)))
		}
	}
	return h
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

// values lists the values among which a pilot chooses. The entropy of the leaves is
// at least the entropy of the classes, and often about twice as high.
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
		if slope == last || offset == 0 && !math.IsInf(rate, 1) { // Kraft's inequality gives a higher bound
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
