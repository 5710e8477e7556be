package metric

import "math"

// CalibrationBins is the number of bins of probabilities, of equal width.
const CalibrationBins = 10

// Calibration compares the probabilities of a class with its share among the rows: for two classes,
// of the second class; for more, of the predicted class.
type Calibration struct {
	Class         string           `json:"class,omitempty"` // name of the class; absent: the predicted class
	ExpectedError float64          `json:"expected_error"`  // mean over rows of |probability - share| of their bins
	MaximumError  float64          `json:"maximum_error"`   // greatest |probability - share| of a bin
	Bins          []CalibrationBin `json:"bins"`            // bins with rows, ascending
}

// CalibrationBin holds the rows with a probability of at least From and below To. The
// last bin includes 1.
type CalibrationBin struct {
	From            float64 `json:"from"`
	To              float64 `json:"to"`
	Weight          int64   `json:"weight"` // fixed point
	MeanProbability float64 `json:"mean_probability"`
	ObservedShare   float64 `json:"observed_share"` // share of the class among the rows
}

// fillCalibration sets the calibration. There must be rows. Floats are added in the
// canonical order of the leaves.
func (m *Metrics) fillCalibration(t *table) {
	c := &Calibration{}
	if len(m.PerClass) == 2 {
		c.Class = m.PerClass[1].Class
	}
	var weights, hits [CalibrationBins]int64
	var sums [CalibrationBins]float64
	for i := range t.leaves {
		l := &t.leaves[i]
		class := l.Class
		if len(m.PerClass) == 2 {
			class = 1
		}
		p, weight := l.Probabilities[class], int64(t.totals[i])
		bin := min(max(0, int(p*CalibrationBins)), CalibrationBins-1)
		weights[bin] += weight
		hits[bin] += l.Weights[class]
		sums[bin] += float64(float64(weight) * p)
	}
	for bin, weight := range weights {
		if weight == 0 {
			continue
		}
		b := CalibrationBin{
			From: float64(bin) / CalibrationBins, To: float64(bin+1) / CalibrationBins, Weight: weight,
			MeanProbability: sums[bin] / float64(weight), ObservedShare: float64(hits[bin]) / float64(weight),
		}
		gap := math.Abs(b.MeanProbability - b.ObservedShare)
		c.ExpectedError += float64(float64(weight) / float64(m.Weight) * gap)
		c.MaximumError = max(c.MaximumError, gap)
		c.Bins = append(c.Bins, b)
	}
	m.Calibration = c
}
