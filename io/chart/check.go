package chart

import (
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// greatest is the greatest size of a figure that can be drawn, so that the difference of two
// figures is finite.
const greatest = 1e300

// within reports whether a figure is in a range. NaN is in no range.
func within(x, low, high float64) bool { return low <= x && x <= high }

// checkShare checks a figure from 0 to 1; nil is valid.
func checkShare(document, what string, x *float64) error {
	if x != nil && !within(*x, 0, 1) {
		return fmt.Errorf("%s: %s %v: want a number from 0 to 1; the file is damaged", document, what, *x)
	}
	return nil
}

// checkFrontier returns an error for points that cannot be drawn.
func checkFrontier(points []runfolder.Point) error {
	for i := range points {
		p := &points[i]
		if !within(p.ExpectedCost, 0, greatest) {
			return fmt.Errorf("%s: point %d: cost %v: want 0 or more; the file is damaged", runfolder.FrontierName, i, p.ExpectedCost)
		}
		if err := checkShare(runfolder.FrontierName, fmt.Sprintf("point %d: AUC on the folds", i), p.Folds); err != nil {
			return err
		}
		for _, part := range []*metric.Judgement{&p.Validation, &p.Test} {
			what := fmt.Sprintf("point %d: AUC", i)
			err := checkShare(runfolder.FrontierName, what, part.AUC)
			if err == nil && part.Interval != nil {
				err = checkAll(runfolder.FrontierName, what, []float64{part.Low, part.High})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAll checks figures from 0 to 1.
func checkAll(document, what string, list []float64) error {
	for i := range list {
		if err := checkShare(document, what, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkCurve returns an error for an invalid curve.
func checkCurve(c *metric.Class) error {
	what := "ROC curve of " + textview.Name(c.Class)
	if len(c.ROC.FalsePositiveRate) != len(c.ROC.TruePositiveRate) {
		return fmt.Errorf("%s: %s: %d false positive rates and %d true ones; the file is damaged", runfolder.MetricsName,
			what, len(c.ROC.FalsePositiveRate), len(c.ROC.TruePositiveRate))
	}
	if err := checkAll(runfolder.MetricsName, what, c.ROC.FalsePositiveRate); err != nil {
		return err
	}
	return checkAll(runfolder.MetricsName, what, c.ROC.TruePositiveRate)
}

// checkCalibration returns an error for bins that cannot be drawn.
func checkCalibration(c *metric.Calibration) error {
	rows := int64(0)
	for i := range c.Bins {
		b := &c.Bins[i]
		figures := []float64{b.From, b.To, b.MeanProbability, b.ObservedShare}
		if err := checkAll(runfolder.MetricsName, fmt.Sprintf("bin %d of the calibration", i), figures); err != nil {
			return err
		}
		if b.Weight < 0 || b.Weight > math.MaxInt64-rows {
			return fmt.Errorf("%s: bin %d of the calibration: weight %d: want 0 or more, in all below 2^63; the file is damaged",
				runfolder.MetricsName, i, b.Weight)
		}
		rows += b.Weight
	}
	if rows == 0 {
		return fmt.Errorf("%s: the calibration has no rows; the file is damaged", runfolder.MetricsName)
	}
	return nil
}

// checkImportance returns an error for figures that are too large to draw.
func checkImportance(m *runfolder.Importance) error {
	if err := checkShare(runfolder.ImportanceName, "AUC", m.AUC); err != nil {
		return err
	}
	for i := range m.Features {
		f := &m.Features[i]
		for _, x := range []*float64{f.AUCLost, f.AUCPerCost, &f.Impurity} {
			if x != nil && !within(*x, -greatest, greatest) {
				return fmt.Errorf("%s: feature %s: %v is too large; the file is damaged", runfolder.ImportanceName,
					textview.Name(f.Name), *x)
			}
		}
	}
	return nil
}
