package metric

import (
	"math"

	"github.com/espalier-ml/espalier/induce/tree"
)

// The figures with intervals.
const (
	figureAUC = iota
	figureAccuracy
	figureBalanced
	figureCost
	figureTests
	figures
)

// Effects are design effects: the ratios of the standard errors of a tree's figures for rows
// sampled in groups to the standard errors for rows sampled independently (square roots of Kish's,
// 1965). They follow from the delete-a-group jackknife (Kott 2001; Wolter 2007): with G buckets of
// groups that have rows,
//
//	variance = (G-1)/G * sum over buckets of (figure without the bucket - figure)^2
//
// Intervals use the quantile of Student's t distribution with one degree of freedom less than the
// effective number of buckets: some buckets have more groups, or heavier ones, than others.
type Effects struct {
	groups float64           // effective number of buckets (Kish)
	ratio  [figures]*float64 // nil if not defined
}

// mostJackknifed bounds the work of a jackknife: classes times leaves.
const mostJackknifed = 1 << 18

// NewEffects returns the design effects of a tree on rows in groups. A figure has no effect if it
// is not defined without one of the buckets. No figure has an effect if there are fewer than two
// buckets, or if the tree has more than mostJackknifed leaves times classes.
func NewEffects(t *tree.Tree, groups *tree.GroupCounts) *Effects {
	e, counts := new(Effects), t.NewLeafCounts()
	weight, squares, buckets := 0.0, 0.0, 0.0
	for _, list := range groups {
		own := int64(0)
		for _, c := range list {
			counts.Weights[c.Leaf][c.Class] += c.Weight
			counts.Rows[c.Leaf] += c.Rows
			own += c.Weight
		}
		if own > 0 {
			weight, squares, buckets = weight+float64(own), squares+float64(float64(own)*float64(own)), buckets+1
		}
	}
	if buckets < 2 {
		return e
	}
	if e.groups = float64(weight*weight) / squares; t.CountLeaves()*len(t.Label.Classes) > mostJackknifed {
		return e
	}
	leaves := Leaves(t, counts)
	sums := jackknife(t, groups, counts, leaves)
	m := Evaluate(leaves, t.Label.Classes, 1)
	for i, interval := range m.intervals() {
		if *interval == nil || math.IsNaN(sums[i]) {
			continue
		}
		e.ratio[i] = ratioOf(math.Sqrt((buckets-1)/buckets*sums[i]), (*interval).StandardError)
	}
	return e
}

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
		for _, c := range groups[bucket] {
			counts.Weights[c.Leaf][c.Class] += times * c.Weight
			leaves[position[c.Leaf]].Rows += times * c.Rows
		}
	}
	whole := figuresOf(leaves)
	for bucket := range groups {
		if len(groups[bucket]) == 0 {
			continue
		}
		move(bucket, -1)
		without := figuresOf(leaves)
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
		return defined(a / b)
	case a <= tiny:
		return defined(1)
	default:
		return nil
	}
}

// intervals returns the intervals in the order of the figures.
func (m *Metrics) intervals() [figures]**Interval {
	i := m.Intervals
	return [figures]**Interval{
		&i.AUCOvRMacro, &i.Accuracy, &i.BalancedAccuracy, &i.ExpectedCost, &i.ExpectedTests,
	}
}

// figuresOf returns the figures of a table of leaves; nil if not defined.
func figuresOf(leaves []Leaf) (list [figures]*float64) {
	classes := len(leaves[0].Weights)
	var total, hits int64
	own, right := make([]int64, classes), make([]int64, classes)
	var cost, tests float64
	for i := range leaves {
		l := &leaves[i]
		weight := int64(0)
		for k, w := range l.Weights {
			weight += w
			own[k] += w
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
	return [figures]*float64{
		MeanArea(leaves), ratio(hits, total), mean(recalls), defined(cost / all), defined(tests / all),
	}
}

// Widen replaces intervals for independently sampled rows by intervals for groups, here and in
// slices. Standard errors grow by the effects, which may be measured on the same tree without leaf
// models, or on more rows. Intervals become nil if their effect is not defined.
func (m *Metrics) Widen(e *Effects) {
	widen := func(of *Metrics) {
		values := [figures]*float64{
			of.AUCOvRMacro, of.Accuracy, of.BalancedAccuracy, of.ExpectedCost, of.ExpectedTests,
		}
		for i, interval := range of.intervals() {
			if *interval != nil {
				*interval = e.widened(i, *values[i], (*interval).StandardError)
			}
		}
		of.Intervals.ExpectedBilledCost = of.Intervals.ExpectedCost
	}
	if m.Intervals != nil {
		widen(m)
	}
	for i := range m.Slices {
		s := &m.Slices[i]
		if s.Intervals != nil {
			widen(&Metrics{
				AUCOvRMacro: s.AUCOvRMacro, Accuracy: s.Accuracy, BalancedAccuracy: s.BalancedAccuracy,
				ExpectedCost: s.ExpectedCost, ExpectedTests: s.ExpectedTests, Intervals: s.Intervals,
			})
		}
	}
}

// AreaRatio returns the effect on the standard error of the area; nil if not defined.
func (e *Effects) AreaRatio() *float64 { return e.ratio[figureAUC] }

// Area returns an area with the interval for groups; nil if not defined.
func (e *Effects) Area(a *Estimate) *Estimate {
	if a == nil {
		return nil
	}
	i := e.widened(figureAUC, a.Value, a.StandardError)
	if i == nil {
		return nil
	}
	return &Estimate{a.Value, *i}
}

// widened returns the interval of a figure, given its value and its standard error for independent
// rows.
func (e *Effects) widened(figure int, x, standardError float64) *Interval {
	by := e.ratio[figure]
	if by == nil {
		return nil
	}
	standardError, q := float64(standardError**by), student(e.groups-1)
	if figure < figureCost {
		i := wilson(x, standardError, e.groups, q)
		return &i
	}
	half := float64(q.x * standardError)
	return &Interval{standardError, max(0, x-half), x + half}
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
