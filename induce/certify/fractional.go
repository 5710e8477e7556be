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
	var rivals []rival // the nearest rivals without a free cut
	for _, r := range s.rivals[:min(len(s.rivals), maxNear)] {
		if !slices.ContainsFunc(r.cuts, func(c cut) bool { return c.cost <= 0 }) {
			rivals = append(rivals, r)
		}
	}
	if len(rivals) == 0 {
		return 0
	}
	// Rivals and prices by item, for the items of these rivals.
	numbers := make(map[int32]int)
	var holders [][]int
	var price, length, load []float64
	items := make([][]int, len(rivals))
	sums, least := make([]float64, len(rivals)), make([]float64, len(rivals))
	for i := range rivals {
		least[i] = math.Inf(1)
		for j := range rivals[i].cuts {
			c := &rivals[i].cuts[j]
			n, ok := numbers[c.item]
			if !ok {
				n = len(price)
				numbers[c.item] = n
				holders, price, length, load = append(holders, nil), append(price, c.cost), append(length, 1/c.cost),
					append(load, 0)
			}
			least[i] = min(least[i], c.cost)
			if h := holders[n]; len(h) == 0 || h[len(h)-1] != i {
				holders[n], items[i] = append(h, i), append(items[i], n)
				sums[i] += length[n]
			}
		}
	}
	best, paid, worst := 0.0, 0.0, 0.0
	for range maxSteps {
		at := 0
		for i := range sums {
			if sums[i] < sums[at] {
				at = i
			}
		}
		paid += least[at]
		for _, n := range items[at] {
			load[n] += least[at]
			worst = max(worst, load[n]/price[n])
			more := float64(length[n] * stepShare * least[at] / price[n])
			length[n] += more
			for _, i := range holders[n] {
				sums[i] += more
			}
		}
		best = max(best, paid/worst)
	}
	return best * (1 - 1e-9)
}
