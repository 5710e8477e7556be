package textview

import "slices"

// beyond is the inverse of the greatest share of points past the chosen point in an outline.
const beyond = 4

// OutlineFrontier picks points of a frontier to show to a person who chooses a tree. It returns their
// indexes, ascending, and at most most of them. The points in keep, the chosen point, the cheapest
// point with a test and the last point are always picked, even if they are more.
//
// costs are the expected costs of the points, ascending. Further points are at even steps of cost
// between the cheapest point with a test and the chosen point: at each step the most expensive
// point that costs no more than the step, as a budget of this cost would choose. If the last point
// costs at least a step more than the chosen point, up to a quarter of the points are at even steps
// between these two.
func OutlineFrontier(costs []float64, chosen int, keep []int, most int) []int {
	if len(costs) <= most {
		return upTo(len(costs))
	}
	last := len(costs) - 1
	first := max(0, slices.IndexFunc(costs, func(c float64) bool { return c > 0 })) // 0 if all points are free
	o := outline{costs: costs, picked: make([]bool, len(costs))}
	for _, i := range append([]int{first, chosen, last}, keep...) {
		o.pick(i)
	}
	if chosen <= first { // a single leaf or the cheapest test: all steps go to more expensive points
		o.steps(first, last, most-o.count)
		return o.list()
	}
	free := most - o.count
	past := 0
	if step := (costs[chosen] - costs[first]) / float64(max(1, free)); costs[last]-costs[chosen] > step {
		past = min(free, most/beyond)
	}
	o.steps(chosen, last, past)
	o.steps(first, chosen, most-o.count)
	return o.list()
}

// outline is the set of the points picked so far.
type outline struct {
	costs  []float64
	picked []bool // by point
	count  int    // how many points are picked
}

func (o *outline) pick(i int) {
	if !o.picked[i] {
		o.picked[i] = true
		o.count++
	}
}

// steps picks up to n points at even steps of cost between points from and to.
func (o *outline) steps(from, to, n int) {
	width := (o.costs[to] - o.costs[from]) / float64(n+1)
	for k := 1; k <= n; k++ {
		target := o.costs[from] + float64(width*float64(k))
		at, found := slices.BinarySearch(o.costs[from:to], target)
		if !found {
			at-- // the most expensive point within the target
		}
		o.pick(from + max(at, 0))
	}
}

func (o *outline) list() []int {
	list := make([]int, 0, o.count)
	for i, picked := range o.picked {
		if picked {
			list = append(list, i)
		}
	}
	return list
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
