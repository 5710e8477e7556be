package metric

import (
	"math"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Interval is a 95 % confidence interval.
type Interval struct {
	StandardError float64 `json:"standard_error" jsonschema:"minimum=0"`
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
}

// Estimate is a value with its uncertainty.
type Estimate struct {
	Value float64
	Interval
}

// Unpaired returns the difference of a metric of two trees, each on rows of its own. The squared distance of each bound
// from the difference is the sum of the squared distances of the bounds of both trees (Newcombe, Statistics in Medicine
// 17, 1998).
func Unpaired(a, b *Estimate) *Difference {
	apart := func(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }
	d := &Difference{A: a.Value, B: b.Value, Difference: b.Value - a.Value}
	d.Interval = &Interval{
		StandardError: apart(a.StandardError, b.StandardError),
		Low:           d.Difference - apart(a.High-a.Value, b.Value-b.Low),
		High:          d.Difference + apart(a.Value-a.Low, b.High-b.Value),
	}
	return d
}

// MeanOf returns the mean of a metric on different rows, such as the folds of a cross-validation, without the values
// that are nil; nil if all are. The squared distance of each bound from the mean is the sum of the squared distances of
// the bounds, divided by the squared number of values (Zou and Donner, Statistics in Medicine 27, 2008). effect is the
// design effect on standard errors, at least 1.
func MeanOf(list []*Estimate, effect float64) *Estimate {
	var below, above, variance, sum, n float64
	for _, e := range list {
		if e == nil {
			continue
		}
		below += float64((e.Value - e.Low) * (e.Value - e.Low))
		above += float64((e.High - e.Value) * (e.High - e.Value))
		variance += float64(e.StandardError * e.StandardError)
		sum, n = sum+e.Value, n+1
	}
	if n == 0 {
		return nil
	}
	mean := sum / n
	apart := func(squares float64) float64 { return effect * math.Sqrt(squares) / n }
	return &Estimate{mean, Interval{
		StandardError: apart(variance), Low: mean - apart(below), High: mean + apart(above),
	}}
}

// Intervals are the 95 % confidence intervals of Metrics, by the same names. They hold
// for the fixed tree on new rows from the same distribution, which are drawn one by one, or in
// groups: see tree.GroupCounts. An undefined interval is nil.
type Intervals struct {
	AUCOvRMacro *Interval `json:"auc_ovr_macro" jsonschema:"nullable"` // see Area
	Accuracy    *Interval `json:"accuracy" jsonschema:"nullable"`      // Wilson's interval
	// BalancedAccuracy combines Wilson's intervals of the recalls: the squared distance of each bound
	// from the mean is the sum of the squared distances of the bounds of the recalls, divided by
	// the squared number of classes (Zou and Donner, Statistics in Medicine 27, 2008).
	BalancedAccuracy *Interval `json:"balanced_accuracy" jsonschema:"nullable"`
	// The mean of a cost is a share of the way from the least to the greatest cost of a leaf. Its
	// interval is Wilson's interval for this share, see Area.
	ExpectedCost  *Interval `json:"expected_cost" jsonschema:"nullable"`
	ExpectedTests *Interval `json:"expected_tests" jsonschema:"nullable"`
	// The intervals of costs of errors are between the least and the greatest cost that a class has at a leaf; absent
	// without error costs.
	ExpectedErrorCost *Interval `json:"expected_error_cost,omitempty"`
	ExpectedTotalCost *Interval `json:"expected_total_cost,omitempty"`
}

// sample tells how many rows of equal weight the rows of each class have the information of.
type sample struct {
	rows    float64   // number of rows
	per     float64   // rows per unit of weight
	classes []uint64  // weight of each class
	squares []float64 // sum of the squared weights of each class; nil if all rows have the same weight
}

func newSample(t *table) *sample {
	s := &sample{classes: make([]uint64, len(t.ends))}
	var rows int64
	var weight uint64
	for i := range t.leaves {
		rows += t.leaves[i].Rows
		weight += t.totals[i]
	}
	if t.squares != nil {
		s.squares = make([]float64, len(t.ends))
	}
	for k := range s.classes {
		first := t.first(k)
		for i, m := range t.of(k) {
			s.classes[k] += m.weight
			if s.squares != nil {
				s.squares[k] += t.squares[first+i]
			}
		}
	}
	if weight > 0 {
		s.rows = float64(rows)
		s.per = float64(rows) / float64(weight)
	}
	return s
}

// of returns the effective number of rows of a class (Kish, Survey Sampling, 1965): the number of
// rows of equal weight whose mean has the same variance.
func (s *sample) of(class int) float64 {
	w := float64(s.classes[class])
	if s.squares == nil || w == 0 {
		return float64(s.per * w)
	}
	return float64(w*w) / s.squares[class]
}

// all returns the effective number of all rows.
func (s *sample) all() float64 {
	if s.squares == nil {
		return s.rows
	}
	var weight, squares float64
	for k, w := range s.classes {
		weight += float64(w)
		squares += s.squares[k]
	}
	return float64(weight*weight) / squares
}

// others returns the effective number of the rows of all other classes.
func (s *sample) others(class int) float64 {
	var weight, squares float64
	for k, w := range s.classes {
		if k != class {
			weight += float64(w)
			if s.squares != nil {
				squares += s.squares[k]
			}
		}
	}
	if s.squares == nil || weight == 0 {
		return float64(s.per * weight)
	}
	return float64(weight*weight) / squares
}

// leastRows returns the effective number of rows of the smallest class with rows.
func (s *sample) leastRows() float64 {
	least := math.Inf(1)
	for k, w := range s.classes {
		if w > 0 {
			least = min(least, s.of(k))
		}
	}
	return least
}

// spread adds up the squared deviations of rows from their mean.
type spread struct {
	weight, sum  float64 // by weight
	squares, own float64 // by squared weight
	weighted     bool
}

func (s *spread) add(weight, squares, deviation float64) {
	square := float64(deviation * deviation)
	s.weight += weight
	s.sum += float64(weight * square)
	if s.weighted {
		s.squares += squares
		s.own += float64(squares * square)
	}
}

// kishRows is the number of rows that the estimate of Kish counts for, next to the rows themselves.
// With 20, intervals cover .93 to .97 for weights that depend on the class, on the leaf or on
// nothing: see TestWeightsHold.
const kishRows = 20

// square returns the mean squared deviation of the rows, given their effective number. If weights
// do not depend on the deviations, the mean by weight is right (Kish). Otherwise the mean by squared
// weight is, but a few heavy rows make it vary much. The result is between the two: the more
// rows, the nearer to the latter.
func (s *spread) square(rows float64) float64 {
	kish := s.sum / s.weight
	if !s.weighted {
		return kish
	}
	return (float64(rows*(s.own/s.squares)) + float64(kishRows*kish)) / (rows + kishRows)
}

// z is the quantile 0.975 of the normal distribution.
const z = 1.959963984540054

// quantile is the quantile 0.975 of a distribution, and its square.
type quantile struct{ x, square float64 }

func normal() quantile { return quantile{z, z * z} }

// figure is a metric with its variance.
type figure struct {
	value       float64
	least, most float64 // bounds of the metric
	variance    float64
	// padded is the variance for the interval. Few rows may have nearly the same value by chance. So
	// a row is added with the greatest squared deviation that the mean and the bounds allow (Bhatia
	// and Davis).
	padded float64
	rows   float64 // effective number of rows; for a value at one of its bounds, where the variance is 0
}

// interval returns the interval of a figure for rows with design effects; nil effects: rows are
// independent. It is nil if the effect is not defined.
func (f *figure) interval(e *effects, at int) *Interval {
	by := 1.0
	rows := f.rows
	q := normal()
	if e != nil {
		if e.ratio[at] == nil {
			return nil
		}
		by, rows, q = *e.ratio[at], min(rows, e.groups), student(e.groups-1)
	}
	standardError := float64(math.Sqrt(f.variance) * by)
	width := f.most - f.least
	if width <= 0 {
		return &Interval{standardError, f.value, f.value}
	}
	i := wilson((f.value-f.least)/width, float64(math.Sqrt(f.padded)*by)/width, rows, q)
	return &Interval{standardError, f.least + float64(i.Low*width), f.least + float64(i.High*width)}
}

// wilson returns Wilson's interval for an estimate p between 0 and 1 with a standard error: the
// interval of a share among p(1-p)/error^2 rows. At 0 and 1 the error is 0; there it is the
// interval of a share among the given rows.
func wilson(p, standardError, rows float64, q quantile) Interval {
	const edge = 1e-12 // rounding error
	if spread := float64(p * (1 - p)); spread > edge && standardError > 0 {
		rows = spread / standardError / standardError
	}
	center := (p + q.square/2/rows) / (1 + q.square/rows)
	half := q.x * math.Sqrt(float64(p*(1-p))/rows+q.square/4/rows/rows) / (1 + q.square/rows) // divided last: nothing to fuse
	return Interval{standardError, max(0, center-half), min(1, center+half)}
}

// aroundInterval returns the interval of q standard errors to either side.
func aroundInterval(center, variance float64, q quantile) *Interval {
	standardError := math.Sqrt(variance)
	half := float64(q.x * standardError)
	return &Interval{standardError, center - half, center + half}
}

// cell is a value of rows that have it in common.
type cell struct {
	weight, squares float64 // squares is the sum of the squared weights
	value           float64
}

// byLeaf returns cells of a value of the rows' leaf.
func (t *table) byLeaf(value func(*Leaf) float64) []cell {
	cells := make([]cell, len(t.leaves))
	for i := range t.leaves {
		l := &t.leaves[i]
		cells[i] = cell{float64(t.totals[i]), portable.Sum(l.Squares), value(l)}
	}
	return cells
}

// byClass returns cells of a value of the rows' leaf and class.
func (t *table) byClass(value func(l *Leaf, class int) float64) []cell {
	var cells []cell
	for i := range t.leaves {
		l := &t.leaves[i]
		for k, w := range l.Weights {
			c := cell{weight: float64(w), value: value(l, k)}
			if l.Squares != nil {
				c.squares = l.Squares[k]
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// fillMean sets the mean over rows of a value, and its interval.
func (t *table) fillMean(cells []cell, s *sample, e *effects, at int, mean **float64, interval **Interval) {
	f := figure{least: math.Inf(1), most: math.Inf(-1), rows: s.all()}
	var sum, total float64
	for _, c := range cells {
		sum += float64(c.weight * c.value)
		total += c.weight
		f.least, f.most = min(f.least, c.value), max(f.most, c.value)
	}
	f.value = sum / total
	*mean = new(f.value)
	if s.rows < 2 {
		return
	}
	around := spread{weighted: t.squares != nil}
	for _, c := range cells {
		around.add(c.weight, c.squares, c.value-f.value)
	}
	square := around.square(f.rows)
	f.variance = square / max(f.rows-1, 1)
	f.padded = (square + float64((f.most-f.value)*(f.value-f.least))/f.rows) / f.rows
	*interval = f.interval(e, at)
}

// share returns the share of hits among the rows of the classes [from, to).
func (t *table) share(from, to int, rows float64) figure {
	var hits, total uint64
	for k := from; k < to; k++ {
		for _, m := range t.of(k) {
			total += m.weight
			if t.leaves[m.leaf].Class == k {
				hits += m.weight
			}
		}
	}
	p := float64(hits) / float64(total)
	f := figure{value: p, most: 1, rows: rows, variance: float64(p*(1-p)) / rows}
	if t.squares != nil {
		around := spread{weighted: true}
		for k := from; k < to; k++ {
			first := t.first(k)
			for i, m := range t.of(k) {
				hit := 0.0
				if t.leaves[m.leaf].Class == k {
					hit = 1
				}
				around.add(float64(m.weight), t.squares[first+i], hit-p)
			}
		}
		f.variance = around.square(rows) / rows
	}
	f.padded = f.variance
	return f
}

// fillShareIntervals sets the intervals of accuracy and balanced accuracy.
func (m *Metrics) fillShareIntervals(t *table, s *sample, e *effects) {
	accuracy := t.share(0, len(m.PerClass), s.all())
	m.Intervals.Accuracy = accuracy.interval(e, figureAccuracy)
	var variance, below, above, classes float64
	for k, w := range s.classes {
		if w == 0 {
			continue
		}
		recall := t.share(k, k+1, s.of(k))
		i := recall.interval(e, figureBalanced)
		if i == nil {
			return
		}
		variance += float64(i.StandardError * i.StandardError)
		below += float64((recall.value - i.Low) * (recall.value - i.Low))
		above += float64((i.High - recall.value) * (i.High - recall.value))
		classes++
	}
	x := *m.BalancedAccuracy
	m.Intervals.BalancedAccuracy = &Interval{
		math.Sqrt(variance) / classes, max(0, x-math.Sqrt(below)/classes), min(1, x+math.Sqrt(above)/classes),
	}
}
