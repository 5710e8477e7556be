package metric

import (
	"errors"
	"fmt"
	"math"
)

// Check refuses metrics whose lists do not fit together: they were read from a file that somebody has
// changed. It completes the calibration of documents of versions before 0.4.
func (m *Metrics) Check() error {
	classes := len(m.PerClass)
	if classes == 0 || len(m.Confusion) != classes {
		return fmt.Errorf("%d rows of confusion for %d classes", len(m.Confusion), classes)
	}
	total := int64(0)
	for _, row := range m.Confusion {
		if len(row) != classes {
			return fmt.Errorf("%d columns of confusion for %d classes", len(row), classes)
		}
		for _, weight := range row {
			if weight < 0 || weight > math.MaxInt64-total {
				return fmt.Errorf("a weight of %d in the confusion", weight)
			}
			total += weight
		}
	}
	for i := range m.PerClass {
		if roc := m.PerClass[i].ROC; roc != nil {
			if n := len(roc.FalsePositiveRate); n < 2 || n != len(roc.TruePositiveRate) {
				return errors.New("a ROC curve whose rates are not in pairs")
			}
			if n := len(roc.Thresholds); n > 0 && n != len(roc.TruePositiveRate)-1 {
				return errors.New("a ROC curve whose thresholds do not fit its rates")
			}
		}
	}
	for i := range m.Slices {
		if n := len(m.Slices[i].Classes); n != classes {
			return fmt.Errorf("a slice of %d classes, want %d", n, classes)
		}
	}
	if m.Calibration != nil {
		m.Calibration.complete(m.Rows)
	}
	return nil
}
