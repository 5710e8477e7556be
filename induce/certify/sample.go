package certify

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// pilotSize is the number of objects of the pilot.
const pilotSize = 24

// draw samples n objects by weight, with replacement. The pilot and the sample use different
// streams of random numbers, so they are independent.
func (p *problem) draw(n int, seed, stream uint64) []int32 {
	r := rand.New(rand.NewPCG(seed, stream))
	drawn := make([]int32, n)
	for i := range drawn {
		drawn[i] = p.pick(r)
	}
	return drawn
}

// pick samples an object by weight.
func (p *problem) pick(r *rand.Rand) int32 {
	x := r.Int64N(p.total)
	part := x >> p.shift
	from := p.guide[part]
	to := p.guide[part+1] + 1
	at, _ := slices.BinarySearch(p.cumulative[from:to], 1+x)
	return from + int32(at)
}

// guideDraws divides the weight into about as many equal parts as there are objects. It lists the
// object at which each part begins, and the last object.
func (p *problem) guideDraws() {
	for p.total>>p.shift > int64(2*p.len()) {
		p.shift++
	}
	p.guide = make([]int32, (p.total-1)>>p.shift+2)
	at := int32(0)
	for part := range p.guide {
		for int(at) < p.len()-1 && p.cumulative[at] <= int64(part)<<p.shift {
			at++
		}
		p.guide[part] = at
	}
}

// all lists the objects.
func (p *problem) all() []int32 {
	ids := make([]int32, p.len())
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// bounds returns, by object and value, a lower bound on the value of the object's leaf. The objects
// are draws of a sample, numbered from first.
func (p *problem) bounds(objects []int32, first int, values []value, workers int) [][]float64 {
	bounds := make([][]float64, len(objects))
	workers = max(1, min(workers, len(objects)))
	for len(p.searchers) < workers { // the sample reuses the searchers of the pilot
		p.searchers = append(p.searchers, newSearcher(p))
	}
	var next, at atomic.Int64
	parallel.Run(workers, func() {
		s := p.searchers[at.Add(1)-1]
		for i := int(next.Add(1) - 1); i < len(objects); i = int(next.Add(1) - 1) {
			if bounds[i] = make([]float64, len(values)); !p.meter.stops() {
				s.values(objects[i], first+i, values, bounds[i])
			}
		}
	})
	return bounds
}

// values sets bounds to a lower bound on each value of the object's leaf, whether homogeneous or
// within theta.
func (s *searcher) values(object int32, draw int, values []value, bounds []float64) {
	p := s.p
	s.start(object, draw)
	small := float64(p.weight[object]+p.lightest) <= p.limit
	within := float64(p.total) / p.limit
	cost := 0.0
	if small {
		cost = p.roundUp(p.shrinking(object))
	}
	steps := p.drawSteps(p.effort)
	s.cut = false
	for i := range values {
		enough := math.Inf(1)
		if small {
			enough = values[i].leaf(cost, within)
		}
		bounds[i] = s.bound(&values[i], enough)
		steps += int64(s.work)
	}
	p.meter.add(steps)
	if s.cut {
		p.meter.cut.Add(1)
	}
}

// shrinking returns a lower bound on the cost of a leaf within theta: a fractional knapsack of the
// weights that tests remove from around the object.
func (p *problem) shrinking(object int32) float64 {
	need := float64(p.total) - p.limit
	if need <= 0 {
		return 0
	}
	type item struct{ cost, weight float64 }
	var items []item
	cost := math.Inf(1) // least price of a group, 0 if a feature has no group
	for f, own := range p.row(object) {
		a := &p.features[f]
		if a.group < 0 {
			cost = 0
		} else {
			cost = min(cost, p.groups[a.group])
		}
		a.widest(own, p.total, func(price float64, weight int64) {
			if weight > 0 {
				items = append(items, item{price, float64(weight)})
			}
		})
	}
	slices.SortFunc(items, func(a, b item) int {
		x, y := float64(a.cost*b.weight), float64(b.cost*a.weight)
		if x < y {
			return -1
		} else if x > y {
			return 1
		}
		return 0
	})
	for _, it := range items {
		part := min(1, need/it.weight)
		cost += float64(part * it.cost)
		if need -= it.weight; need <= 0 {
			break
		}
	}
	return cost * (1 - 1e-9)
}

// widest calls visit, with price and weight, for the tests that remove the most weight around the
// code own. It leaves out a test if another test of at most its price removes everything that the
// test does.
func (a *feature) widest(own uint16, total int64, visit func(price float64, weight int64)) {
	others := total - a.weight[own]
	switch {
	case a.free || a.whole || a.single || a.present == 2 || own == a.missing:
		price := a.price(own)
		if a.present == 2 && a.costs != nil {
			price = a.cheapest()
		}
		visit(price, others)
		for code := range a.costs {
			if a.present > 2 && code != int(own) && a.costs[code] < price {
				visit(a.costs[code], a.weight[code])
			}
		}
	default:
		below := a.below[own]
		missing := a.weight[a.missing]
		visit(a.cost, below+missing) // the threshold at own; at 0 the test for missing
		visit(a.cost, others-below-missing)
	}
}
