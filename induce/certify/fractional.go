package certify

import (
	"math"
	"slices"
)

// Steps of the fractional packing.
const (
	stepShare = 0.1 // greatest relative growth of an item's length in one step
	maxSteps  = 100
)

// fractional returns a lower bound on the cost of the object's leaf. It solves the
// dual of the fractional covering programme over the nearest rivals by
// multiplicative weights (Garg and Koenemann, "Faster and simpler algorithms for
// multicommodity flow and other fractional packing problems", 2007). Each step pays
// the rival with the least sum of lengths over its cuts, and lengthens these cuts.
// The payments are then scaled down until no item receives more than its price.
// The prices of groups are left out.
func (s *searcher) fractional() float64 {
	p := &s.pack
	p.begin()
	for i := range s.rivals[:min(len(s.rivals), maxNear)] {
		if r := &s.rivals[i]; !r.free() {
			p.add(r)
		}
	}
	if len(p.least) == 0 {
		return 0
	}
	p.list()
	best, paid, worst := 0.0, 0.0, 0.0
	for range maxSteps {
		at := 0
		for i := range p.sums {
			if p.sums[i] < p.sums[at] {
				at = i
			}
		}
		paid += p.least[at]
		worst = p.step(at, worst)
		best = max(best, paid/worst)
	}
	return best * (1 - 1e-9)
}

// free reports whether one of the rival's cuts costs nothing.
func (r *rival) free() bool {
	for i := range r.cuts {
		if r.cuts[i].cost <= 0 {
			return true
		}
	}
	return false
}

// packing is the state of fractional. It numbers the items of its rivals in the order
// of their first cuts, and the rivals in the order of add.
type packing struct {
	number []int32 // by item of the problem: its number; valid if its stamp is the round
	stamp  []int32
	round  int32

	price, length, load []float64 // by number of the item
	last                []int32   // by number of the item: the last rival with it
	ends                []int32   // by number of the item: end of its part of holders
	holders             []uint8   // rivals with each item, ascending: at most maxNear

	items    []int32   // numbers of each rival's items, one rival after the other
	itemEnds []int32   // by rival: end of its part of items
	sums     []float64 // by rival: sum of the lengths of its items
	least    []float64 // by rival: price of its cheapest cut
}

func newPacking(p *problem) packing {
	return packing{number: make([]int32, p.items), stamp: make([]int32, p.items)}
}

// begin forgets all rivals and items.
func (p *packing) begin() {
	p.round++
	p.price, p.length, p.load = p.price[:0], p.length[:0], p.load[:0]
	p.last, p.ends = p.last[:0], p.ends[:0]
	p.items, p.itemEnds, p.sums, p.least = p.items[:0], p.itemEnds[:0], p.sums[:0], p.least[:0]
}

// add adds a rival without free cuts, and its items. It counts in ends how many rivals
// have each item.
func (p *packing) add(r *rival) {
	own, sum, least := int32(len(p.least)), 0.0, math.Inf(1)
	for i := range r.cuts {
		c := &r.cuts[i]
		if p.stamp[c.item] != p.round {
			p.stamp[c.item], p.number[c.item] = p.round, int32(len(p.price))
			p.price, p.length, p.load = append(p.price, c.cost), append(p.length, 1/c.cost), append(p.load, 0)
			p.last, p.ends = append(p.last, -1), append(p.ends, 0)
		}
		n := p.number[c.item]
		least = min(least, c.cost)
		if p.last[n] != own {
			p.last[n] = own
			p.ends[n]++
			p.items = append(p.items, n)
			sum += p.length[n]
		}
	}
	p.itemEnds = append(p.itemEnds, int32(len(p.items)))
	p.sums, p.least = append(p.sums, sum), append(p.least, least)
}

// list lists the holders of each item.
func (p *packing) list() {
	start := int32(0)
	for n, count := range p.ends {
		p.ends[n] = start // moves on to the end below
		start += count
	}
	p.holders = slices.Grow(p.holders[:0], int(start))[:start]
	from := int32(0)
	for i, to := range p.itemEnds {
		for _, n := range p.items[from:to] {
			p.holders[p.ends[n]] = uint8(i)
			p.ends[n]++
		}
		from = to
	}
}

// step pays a rival the price of its cheapest cut, and lengthens its items. It returns
// the greatest share of an item's price that has been paid, at least worst.
func (p *packing) step(at int, worst float64) float64 {
	from, paid, sums := int32(0), p.least[at], p.sums
	if at > 0 {
		from = p.itemEnds[at-1]
	}
	for _, n := range p.items[from:p.itemEnds[at]] {
		p.load[n] += paid
		worst = max(worst, p.load[n]/p.price[n])
		more := float64(p.length[n] * stepShare * paid / p.price[n])
		p.length[n] += more
		first := int32(0)
		if n > 0 {
			first = p.ends[n-1]
		}
		for _, i := range p.holders[first:p.ends[n]] {
			sums[i] += more
		}
	}
	return worst
}
