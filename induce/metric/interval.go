package metric

import "math"

// Interval is a 95 % confidence interval.
type Interval struct {
	StandardError float64 `json:"standard_error"`
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
}

// Estimate is a value with its uncertainty.
type Estimate struct {
	Value float64
	Interval
}

// Intervals are the 95 % confidence intervals of Metrics, by the same names. They hold
// for the fixed tree on new rows from the same distribution, which are drawn one by one, or in
// groups: see Widen. An undefined interval is nil.
type Intervals struct {
	AUCOvRMacro *Interval `json:"auc_ovr_macro"` // see Area
	// Accuracy is Wilson's interval. BalancedAccuracy is too, for the number of rows at
	// which a share has the variance of the mean recall.
	Accuracy         *Interval `json:"accuracy"`
	BalancedAccuracy *Interval `json:"balanced_accuracy"`
	// Intervals of means are normal: 1.96 standard errors to either side, at least 0.
	ExpectedCost       *Interval `json:"expected_cost"`
	ExpectedTests      *Interval `json:"expected_tests"`
	ExpectedBilledCost *Interval `json:"expected_billed_cost"`
}

// sample converts weights to numbers of rows.
type sample struct {
	rows    float64
	per     float64  // rows per unit of weight
	classes []uint64 // weight of each class
}

func newSample(t *table) *sample {
	s := &sample{classes: make([]uint64, len(t.ends))}
	var rows int64
	var weight uint64
	for i := range t.leaves {
		rows += t.leaves[i].Rows
		weight += t.totals[i]
	}
	for k := range s.classes {
		for _, m := range t.of(k) {
			s.classes[k] += m.weight
		}
	}
	if weight > 0 {
		s.rows, s.per = float64(rows), float64(rows)/float64(weight)
	}
	return s
}

// leastRows returns the number of rows of the smallest class with rows.
func (s *sample) leastRows() float64 {
	least := math.Inf(1)
	for _, w := range s.classes {
		if w > 0 {
			least = min(least, s.per*float64(w))
		}
	}
	return least
}

// z is the quantile 0.975 of the normal distribution.
const z = 1.959963984540054

// shareInterval returns Wilson's interval for an estimate p between 0 and 1 with a standard error:
// the interval of a share among p(1-p)/error^2 rows. At 0 and 1 the error is 0; there it is the
// interval of a share among the given rows.
func shareInterval(p, standardError, rows float64) Interval {
	const edge = 1e-12 // rounding error
	if spread := p * (1 - p); spread > edge {
		rows = spread / standardError / standardError
	}
	center := (p + z*z/2/rows) / (1 + z*z/rows)
	half := z * math.Sqrt(p*(1-p)/rows+z*z/4/rows/rows) / (1 + z*z/rows) // divided last: nothing to fuse
	return Interval{standardError, max(0, center-half), min(1, center+half)}
}

// meanInterval returns the normal interval of a non-negative mean, given the mean
// square of the rows' deviations. It is nil for fewer than two rows.
func meanInterval(center, square, rows float64) *Interval {
	if rows < 2 {
		return nil
	}
	i := normalInterval(center, square/(rows-1))
	i.Low = max(0, i.Low)
	return i
}

// normalInterval returns the interval of z standard errors to either side.
func normalInterval(center, variance float64) *Interval {
	standardError := math.Sqrt(variance)
	half := float64(z * standardError)
	return &Interval{standardError, center - half, center + half}
}

// fillShareIntervals sets the intervals of accuracy and balanced accuracy.
func (m *Metrics) fillShareIntervals(s *sample) {
	accuracy := shareInterval(*m.Accuracy, math.Sqrt(*m.Accuracy*(1-*m.Accuracy)/s.rows), s.rows)
	m.Intervals.Accuracy = &accuracy
	variance, classes := 0.0, 0.0
	for k, w := range s.classes {
		if w > 0 {
			recall := *m.PerClass[k].Recall
			variance += recall * (1 - recall) / (s.per * float64(w))
			classes++
		}
	}
	balanced := shareInterval(*m.BalancedAccuracy, math.Sqrt(variance)/classes, s.leastRows())
	m.Intervals.BalancedAccuracy = &balanced
}
