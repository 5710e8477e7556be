package metric

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// The figures with intervals.
const (
	figureAUC = iota
	figureAccuracy
	figureBalanced
	figureCost
	figureTests
	figureErrorCost
	figureTotalCost
	figures
)

// effects are design effects: the ratios of the standard errors of a tree's figures for rows
// sampled in groups to the standard errors for rows sampled independently (square roots of Kish's,
// 1965). They follow from the delete-a-group jackknife (Kott 2001; Wolter 2007): with G buckets of
// groups that have rows,
//
//	variance = (G-1)/G * sum over buckets of (figure without the bucket - figure)^2
//
// Intervals use the quantile of Student's t distribution with one degree of freedom less than the
// effective number of buckets: some buckets have more groups, or heavier ones, than others.
type effects struct {
	groups float64           // effective number of buckets (Kish)
	ratio  [figures]*float64 // nil if not defined
}

// mostJackknifed bounds the work of a jackknife: classes times leaves.
const mostJackknifed = 1 << 18

// newEffects returns the design effects of a tree on rows in groups; nil if rows have no groups. A figure
// has no effect if it is not defined without one of the buckets. No figure has an effect if there are
// fewer than two buckets, or if the tree has more than mostJackknifed leaves times classes.
func newEffects(t *tree.Tree, groups *tree.GroupCounts) *effects {
	if groups == nil || !groups.Keyed {
		return nil
	}
	e := new(effects)
	counts := t.NewLeafCounts()
	buckets := weightedBuckets{}
	for _, list := range groups.Buckets {
		own := int64(0)
		for _, c := range list {
			counts.Weights[c.Leaf][c.Class] += c.Weight
			counts.Rows[c.Leaf] += c.Rows
			own += c.Weight
		}
		buckets.add(own)
	}
	if buckets.n < 2 {
		return e
	}
	if e.groups = buckets.effective(); t.CountLeaves()*len(t.Label.Classes) > mostJackknifed {
		return e
	}
	leaves := Leaves(t, counts)
	sums := jackknife(t, groups, counts, leaves)
	m := evaluate(leaves, t.Label.Classes, 1, nil, t.Label.ErrorCosts)
	for i, interval := range m.intervals() {
		if *interval == nil || math.IsNaN(sums[i]) {
			continue
		}
		e.ratio[i] = ratioOf(math.Sqrt(buckets.variance(sums[i])), (*interval).StandardError)
	}
	return e
}

// weightedBuckets counts the buckets with rows, by their weight.
type weightedBuckets struct{ n, weight, squares float64 }

func (b *weightedBuckets) add(weight int64) {
	if w := float64(weight); w > 0 {
		b.n++
		b.weight += w
		b.squares += float64(w * w)
	}
}

// effective returns the effective number of buckets (Kish).
func (b *weightedBuckets) effective() float64 { return float64(b.weight*b.weight) / b.squares }

// variance returns the variance of a figure, given the sum of its squared changes.
func (b *weightedBuckets) variance(sum float64) float64 { return float64((b.n - 1) / b.n * sum) }

// jackknife returns, for each figure of a table of leaves, the sum over buckets of the squared
// change of the figure when the bucket is left out; NaN if the figure is not defined with or
// without a bucket. counts are the counts of the leaves.
func jackknife(t *tree.Tree, groups *tree.GroupCounts, counts *tree.LeafCounts, leaves []Leaf) (sums [figures]float64) {
	position := make(map[int]int)
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			position[i] = len(position)
		}
	}
	// The table of leaves shares the weights of counts, but not the rows.
	move := func(bucket int, times int64) {
		for _, c := range groups.Buckets[bucket] {
			counts.Weights[c.Leaf][c.Class] += times * c.Weight
			leaves[position[c.Leaf]].Rows += times * c.Rows
		}
	}
	measured := func() [figures]*float64 {
		if !t.HasPresenceTests() {
			return figuresOf(leaves, t.Label.ErrorCosts)
		}
		list := slices.Clone(leaves)
		known := t.KnownCounts(counts)
		for node, at := range position {
			list[at].Weights = known.Weights[node]
		}
		return figuresOf(list, t.Label.ErrorCosts)
	}
	whole := measured()
	for bucket := range groups.Buckets {
		if len(groups.Buckets[bucket]) == 0 {
			continue
		}
		move(bucket, -1)
		without := measured()
		move(bucket, 1)
		for i, x := range without {
			if x == nil || whole[i] == nil {
				sums[i] = math.NaN()
				continue
			}
			d := *x - *whole[i]
			sums[i] += float64(d * d)
		}
	}
	return sums
}

// ratioOf returns the ratio of two standard errors; nil if only the second is 0.
func ratioOf(a, b float64) *float64 {
	const tiny = 1e-12 // rounding error
	switch {
	case b > tiny:
		return new(a / b)
	case a <= tiny:
		return new(1.0)
	default:
		return nil
	}
}

// intervals returns the intervals in the order of the figures.
func (m *Metrics) intervals() [figures]**Interval {
	i := m.Intervals
	return [figures]**Interval{
		&i.AUCOvRMacro, &i.Accuracy, &i.BalancedAccuracy, &i.ExpectedCost, &i.ExpectedTests, &i.ExpectedErrorCost,
		&i.ExpectedTotalCost,
	}
}

// figuresOf returns the figures of a table of leaves, given the costs of errors; nil if not defined.
func figuresOf(leaves []Leaf, costs [][]float64) (list [figures]*float64) {
	classes := len(leaves[0].Weights)
	var total, hits int64
	own := make([]int64, classes)
	right := make([]int64, classes)
	var cost, tests, errors float64
	for i := range leaves {
		l := &leaves[i]
		weight := int64(0)
		for k, w := range l.Weights {
			weight += w
			own[k] += w
			if costs != nil {
				errors += float64(float64(w) * costs[k][l.Class])
			}
		}
		right[l.Class] += l.Weights[l.Class]
		hits += l.Weights[l.Class]
		total += weight
		cost += float64(float64(weight) * l.Cost)
		tests += float64(float64(weight) * float64(l.Tests))
	}
	if total == 0 {
		return list
	}
	var recalls []float64
	for k, w := range own {
		if w > 0 {
			recalls = append(recalls, float64(right[k])/float64(w))
		}
	}
	all := float64(total)
	list = [figures]*float64{
		MeanArea(leaves), ratio(hits, total), mean(recalls), new(cost / all), new(tests / all), nil, nil,
	}
	if costs != nil {
		list[figureErrorCost] = new(errors / all)
		list[figureTotalCost] = new((cost + errors) / all)
	}
	return list
}

// AreaRatio returns the effect on the standard error of the area of a tree; nil if rows have no groups, or if it is not
// defined.
func AreaRatio(t *tree.Tree, groups *tree.GroupCounts) *float64 {
	if e := newEffects(t, groups); e != nil {
		return e.ratio[figureAUC]
	}
	return nil
}

// AreaOf returns the area of a tree on counted rows, see Area.
func AreaOf(t *tree.Tree, counts *tree.LeafCounts) *Estimate {
	return area(Leaves(t, counts), newEffects(t, counts.Groups))
}

// student returns the quantile of Student's t distribution: exact for one and two degrees of freedom, otherwise by the
// Cornish-Fisher expansion (1960), within 1 %; between whole degrees from 1 to 3, by the lower number.
func student(degrees float64) quantile {
	n := degrees
	x := 0.0
	switch {
	case n < 2:
		x = 12.706204736432095
	case n < 3:
		x = 4.302652729696142
	default:
		z3 := float64(z * z * z)
		z5 := float64(z3 * z * z)
		z7 := float64(z5 * z * z)
		x = z + (z3+z)/(4*n) + (float64(5*z5)+float64(16*z3)+3*z)/(96*n*n) +
			(float64(3*z7)+float64(19*z5)+float64(17*z3)-15*z)/(384*n*n*n)
	}
	return quantile{x, float64(x * x)}
}
