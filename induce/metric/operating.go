package metric

import (
	"math"
	"slices"
)

// OperatingPoint is how a tree decides about a class if it predicts the class from a threshold on its probability on.
// All figures are weighted, at the class frequencies of the metrics. The intervals hold for the fixed tree and threshold.
type OperatingPoint struct {
	Threshold float64

	Sensitivity Estimate // share of the rows of the class that are predicted as the class
	Specificity Estimate // share of the other rows that are not
	PPV         Estimate // positive predictive value: share of the class among the rows predicted as it; NaN if no row is predicted as it
	NPV         Estimate // negative predictive value: share of the other classes among the other rows; NaN if all rows are predicted as the class

	Found, Missed, FalseAlarms float64 // shares in all rows
}

// fillEffective sets the effective numbers of rows of the ROC curves.
func (m *Metrics) fillEffective(s *sample, e *effects) {
	by := 1.0
	if e != nil {
		ratio := e.ratio[figureBalanced]
		if ratio == nil {
			return // rows depend on each other, it is not known how far
		}
		by = max(1, *ratio**ratio)
	}
	for k := range m.PerClass {
		if c := m.PerClass[k].ROC; c != nil {
			c.EffectiveRows = s.of(k) / by
			c.EffectiveOthers = s.others(k) / by
		}
	}
}

// OperatingPoints returns the operating points of the class at all thresholds of its ROC curve, from the highest threshold
// to 0; nil if the curve has no thresholds.
func (c *Class) OperatingPoints() []OperatingPoint {
	if c.ROC == nil || c.ROC.Thresholds == nil || c.Prevalence == nil {
		return nil
	}
	list := make([]OperatingPoint, len(c.ROC.Thresholds))
	for i, threshold := range c.ROC.Thresholds {
		list[i] = c.operate(c.ROC.TruePositiveRate[i+1], c.ROC.FalsePositiveRate[i+1])
		list[i].Threshold = threshold
	}
	return list
}

// Decided returns the operating point of the predictions by which the class was measured, given their threshold; nil without
// rows of the class or other rows.
func (c *Class) Decided(threshold float64) *OperatingPoint {
	if c.ROC == nil || c.Recall == nil || c.Specificity == nil || c.Prevalence == nil {
		return nil
	}
	p := c.operate(*c.Recall, 1-*c.Specificity)
	p.Threshold = threshold
	return &p
}

// operate returns the operating point with a true and a false positive rate.
func (c *Class) operate(hits, alarms float64) OperatingPoint {
	own := c.ROC.EffectiveRows
	others := c.ROC.EffectiveOthers
	share := *c.Prevalence
	p := OperatingPoint{
		Sensitivity: shareOf(hits, own), Specificity: shareOf(1-alarms, others),
		Found: float64(share * hits), Missed: float64(share * (1 - hits)), FalseAlarms: float64((1 - share) * alarms),
	}
	p.PPV = predictive(p.Found, p.FalseAlarms, float64(own*hits), float64(others*alarms))
	p.NPV = predictive(float64((1-share)*(1-alarms)), p.Missed, float64(others*(1-alarms)), float64(own*(1-hits)))
	return p
}

// predictive returns the share of right in right and wrong, given the effective numbers of the rows of both. The variance
// of its logarithm of odds is the sum of the reciprocals of these numbers.
func predictive(right, wrong, rightRows, wrongRows float64) Estimate {
	p := right / (right + wrong)
	rows := rightRows + wrongRows
	if p > 0 && p < 1 {
		rows = 1 / (float64(p*(1-p)) * (1/rightRows + 1/wrongRows))
	}
	return shareOf(p, rows)
}

// shareOf returns a share of an effective number of rows with Wilson's interval, which is not defined without rows.
func shareOf(p, rows float64) Estimate {
	if !(rows > 0) || math.IsNaN(p) {
		return Estimate{p, Interval{math.NaN(), math.NaN(), math.NaN()}}
	}
	i := wilson(p, 0, rows, normal())
	i.StandardError = math.Sqrt(float64(p*(1-p)) / rows)
	return Estimate{p, i}
}

// Outlined returns few of the operating points: for each wanted sensitivity, the point of the highest threshold that has
// it, without repetition. The points are in the order of OperatingPoints.
func Outlined(points []OperatingPoint, sensitivities ...float64) []OperatingPoint {
	var list []OperatingPoint
	for _, want := range slices.Sorted(slices.Values(sensitivities)) {
		at := slices.IndexFunc(points, func(p OperatingPoint) bool { return p.Sensitivity.Value >= want })
		if at < 0 || len(list) > 0 && list[len(list)-1].Threshold == points[at].Threshold {
			continue
		}
		list = append(list, points[at])
	}
	return list
}
