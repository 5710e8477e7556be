package metric

import "math"

// CalibrationBins is the number of bins of probabilities, of equal width.
const CalibrationBins = 10

// Calibration compares the probabilities of a class with its share among the rows: for two classes,
// of the second class; for more, of the predicted class.
type Calibration struct {
	Class string `json:"class,omitempty"` // name of the class; absent: the predicted class
	// ExpectedError is ObservedError without the part that chance explains: 0 if ObservedError is at most ChanceLimit,
	// otherwise sqrt(ObservedError^2 - ChanceError^2); in documents without ObservedError, ObservedError. It is nil, as
	// are ChanceError and ChanceLimit, if rows depend on each other and the accuracy has no interval by group.
	ExpectedError *float64 `json:"expected_error" jsonschema:"nullable,minimum=0,maximum=1"`
	// ObservedError is the mean over rows of |mean_probability - observed_share| of their bins; since 0.4.
	ObservedError float64 `json:"observed_error" jsonschema:"minimum=0,maximum=1"`
	// ChanceError is the mean that ObservedError would have if all probabilities were exact; since 0.4.
	ChanceError *float64 `json:"chance_error" jsonschema:"nullable,minimum=0,maximum=1"`
	// ChanceLimit is the value that ObservedError would exceed in 5 % of all samples of as many rows if all
	// probabilities were exact; since 0.4.
	ChanceLimit *float64 `json:"chance_limit" jsonschema:"nullable,minimum=0"`
	// MaximumError is the greatest |mean_probability - observed_share| of a bin.
	MaximumError float64          `json:"maximum_error" jsonschema:"minimum=0,maximum=1"`
	Bins         []CalibrationBin `json:"bins" jsonschema:"minItems=1,maxItems=10"` // bins with rows, ascending
}

// farOff is the expected error above which probabilities must not be read as they are: a smaller
// error rarely changes a decision.
const farOff = 0.05

// Off reports whether the probabilities are off by more than chance explains, at the 5 % level. It is false if it is not
// known what chance explains.
func (c *Calibration) Off() bool { return c.ExpectedError != nil && *c.ExpectedError > 0 }

// FarOff reports whether the probabilities are off by more than chance explains, and by more than
// 0.05 on average.
func (c *Calibration) FarOff() bool { return c.Off() && *c.ExpectedError > farOff }

// CalibrationBin holds the rows with a probability of at least From and below To. The
// last bin includes 1.
type CalibrationBin struct {
	From            float64 `json:"from"`
	To              float64 `json:"to"`
	Weight          int64   `json:"weight" jsonschema:"minimum=0"` // fixed point
	MeanProbability float64 `json:"mean_probability"`
	ObservedShare   float64 `json:"observed_share"` // share of the class among the rows
}

// independent returns the number of independent rows with the same information, given the design effects of their groups
// or nil: as many as have the standard error of the accuracy. It is nil if rows depend on each other, and it is not known
// how much.
func (s *sample) independent(e *effects) *float64 {
	rows := s.all()
	if e != nil {
		ratio := e.ratio[figureAccuracy]
		if ratio == nil {
			return nil
		}
		by := max(1, *ratio)
		rows /= by * by
	}
	return &rows
}

// fillCalibration sets the calibration, given the number of independent rows; nil if it is not known. There must be rows.
// Floats are added in the canonical order of the leaves.
func (m *Metrics) fillCalibration(t *table, rows *float64) {
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
		p := l.Probabilities[class]
		weight := int64(t.totals[i])
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
		c.ObservedError += float64(float64(weight) / float64(m.Weight) * gap)
		c.MaximumError = max(c.MaximumError, gap)
		c.Bins = append(c.Bins, b)
	}
	if rows != nil {
		c.subtractChance(*rows)
	}
	m.Calibration = c
}

// subtractChance sets the errors that chance explains, and the expected error, given the number of
// independent rows; without rows chance explains nothing.
//
// If the probabilities are exact, the share of a bin of n rows has the variance p (1-p) / n around its mean
// probability p, and the mean distance from p is sqrt(2/pi) standard deviations. The sum over the bins
// has nearly a gamma distribution of the same mean and variance. Its quantile is Wilson and Hilferty's.
func (c *Calibration) subtractChance(rows float64) {
	var weight, variance, chance, limit float64
	for i := range c.Bins {
		weight += float64(c.Bins[i].Weight)
	}
	c.ExpectedError = new(c.ObservedError)
	c.ChanceError = &chance
	c.ChanceLimit = &limit
	if rows <= 0 || weight <= 0 {
		return
	}
	for i := range c.Bins {
		b := &c.Bins[i]
		p := min(max(0, b.MeanProbability), 1)
		square := float64(b.Weight) / weight * p * (1 - p) / rows // variance of the bin's part of the mean
		chance += math.Sqrt(square * 2 / math.Pi)
		variance += float64(square * (1 - 2/math.Pi))
	}
	if variance > 0 {
		const z95 = 1.6448536269514722 // quantile 0.95 of the normal distribution
		shape := chance * chance / variance
		root := 1 - 1/(9*shape) + z95/(3*math.Sqrt(shape))
		limit = chance * root * root * root
	}
	if c.ObservedError <= limit {
		*c.ExpectedError = 0
	} else {
		*c.ExpectedError = math.Sqrt((c.ObservedError - chance) * (c.ObservedError + chance))
	}
}

// complete sets the fields that documents of versions before 0.4 lack: their expected error is the
// observed error. Weights of rows count as numbers of rows.
func (c *Calibration) complete(rows int64) {
	if c.ChanceLimit == nil && c.ExpectedError != nil {
		c.ObservedError = *c.ExpectedError
		c.subtractChance(float64(rows))
	}
}
