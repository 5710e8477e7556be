package metric

import "math"

// CalibrationBins is the number of bins of equal width that probabilities are
// put in.
const CalibrationBins = 10

// Calibration says whether rows are of a class as often as its probability
// promises. With two classes it is about the second, with more about the class
// that is predicted.
type Calibration struct {
	Class         string           `json:"class,omitempty"` // absent: the predicted one
	ExpectedError float64          `json:"expected_error"`  // mean over rows of |probability - share| of their bins
	MaximumError  float64          `json:"maximum_error"`   // of all bins
	Bins          []CalibrationBin `json:"bins"`            // that have rows, ascending
}

// CalibrationBin is the rows with a probability of at least From and below To;
// the last bin has 1 too.
type CalibrationBin struct {
	From            float64 `json:"from"`
	To              float64 `json:"to"`
	Weight          int64   `json:"weight"` // fixed point
	MeanProbability float64 `json:"mean_probability"`
	ObservedShare   float64 `json:"observed_share"` // of rows that are of the class
}

// fillCalibration computes the calibration of rows, of which there must be some.
// order is that in which floats are added.
func (m *Metrics) fillCalibration(leaves []Leaf, order []int) {
	c := &Calibration{}
	if len(m.PerClass) == 2 {
		c.Class = m.PerClass[1].Class
	}
	var weights, hits [CalibrationBins]int64
	var sums [CalibrationBins]float64
	for _, i := range order {
		l := &leaves[i]
		class := l.Class
		if len(m.PerClass) == 2 {
			class = 1
		}
		p, weight := l.Probabilities[class], l.weight()
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
