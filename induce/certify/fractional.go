package certify

import "math"

// The fractional packing raises the length of an item by up to this share each
// time that it bears something, at most so many times.
const (
	stepShare = 0.1
	maxSteps  = 100
)

// fractional returns a lower bound on what the cuts of the object's leaf cost: a
// solution of the dual of the fractional covering programme over its rivals, by
// multiplicative weights (Garg and Koenemann, "Faster and simpler algorithms for
// multicommodity flow and other fractional packing problems", 2007). Each step
// pays the rival whose cuts are the shortest, and lengthens them. What is paid
// is then scaled down until the items can bear it.
func (s *searcher) fractional() float64 {
	if len(s.rivals) == 0 {
		return 0
	}
	length := make(map[int32]float64)
	load := make(map[int32]float64)
	sums := make([]float64, len(s.rivals))
	holders := make(map[int32][]int) // rivals by item
	price := make(map[int32]float64)
	for i := range s.rivals {
		for j := range s.rivals[i].cuts {
			c := &s.rivals[i].cuts[j]
			price[c.item] = c.cost
			if l := holders[c.item]; len(l) == 0 || l[len(l)-1] != i {
				holders[c.item] = append(l, i)
				length[c.item] = 1 / c.cost
				sums[i] += 1 / c.cost
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
		r := &s.rivals[at]
		least := math.Inf(1)
		for j := range r.cuts {
			least = min(least, r.cuts[j].cost)
		}
		paid += least
		last := int32(-1)
		for j := range r.cuts {
			c := &r.cuts[j]
			if c.item == last {
				continue
			}
			last = c.item
			load[c.item] += least
			worst = max(worst, load[c.item]/c.cost)
			more := length[c.item] * stepShare * least / c.cost
			length[c.item] += more
			for _, i := range holders[c.item] {
				sums[i] += more
			}
		}
		best = max(best, paid/worst)
	}
	return best * (1 - 1e-9)
}
