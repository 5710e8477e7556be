package chart

import (
	"errors"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// Calibration draws the mean probability of each bin against the observed share and, below, the
// share of the rows in the bin. It uses the test rows if there are any, otherwise the validation
// rows, otherwise the training rows. The error describes what the metrics lack.
func Calibration(m *runfolder.Metrics) (*Picture, error) {
	parts := m.Parts()
	if len(parts) == 0 || parts[len(parts)-1].Metrics.Calibration == nil {
		return nil, errors.New("metrics.json has no calibration: no part has rows")
	}
	part := parts[len(parts)-1]
	c := part.Metrics.Calibration
	if err := checkCalibration(c); err != nil {
		return nil, err
	}
	what := "the predicted class"
	whose := "of the predicted class"
	if c.Class != "" {
		what, whose = "class "+textview.Name(c.Class), "of "+textview.Name(c.Class)
	}
	p := &Picture{Title: "Calibration on " + part.Name + " rows", Height: 540, Legend: calibrationLegend()}
	p.Words = fmt.Sprintf("the probability of %s against its share: %s; greatest difference of a bin %.4f", what,
		textview.OffBy(c, func(x float64) string { return fmt.Sprintf("%.4f", x) }), c.MaximumError)
	p.Notes = []string{p.Words}
	heaviest := 0.0
	for i := range c.Bins {
		heaviest = max(heaviest, share(c, i))
	}
	const histogram = 165 // its height
	high := p.area()
	low := high
	high.Bottom -= histogram
	low.Top = high.Bottom + Margin
	shares := NewAxes(high, newAxis("", 0, 1, 11), newAxis("observed share", 0, 1, 11))
	weights := NewAxes(low, newAxis("mean probability "+whose, 0, 1, 11),
		newAxis("share of rows", 0, float64(heaviest*1.1), 6))
	Align(shares, weights)
	p.frame = &shares.Frame
	p.Draw = func(on *svg.Canvas, _ svg.Box) {
		shares.Draw(on)
		on.Lines(diagonal(), shares.At(0, 0), shares.At(1, 1))
		drawBins(on, &shares.Frame, c)
		weights.Draw(on)
		drawWeights(on, &weights.Frame, c)
	}
	return p, nil
}

// share returns the share of the rows in a bin.
func share(c *metric.Calibration, bin int) float64 {
	sum := 0.0
	for i := range c.Bins {
		sum += float64(c.Bins[i].Weight)
	}
	return float64(c.Bins[bin].Weight) / sum
}

func calibrationLegend() []Entry {
	return []Entry{
		{func(on *svg.Canvas, left svg.Point) {
			on.Lines(svg.Line(svg.Blue, 1.5), left, left.Plus(SignWidth, 0))
			on.Circle(svg.Area(svg.Blue), left.Plus(SignWidth/2, 0), 4.5)
		}, "a bin; larger: more rows"},
		{func(on *svg.Canvas, left svg.Point) {
			on.Lines(diagonal(), left, left.Plus(SignWidth, 0))
		}, "probabilities that are right"},
		{func(on *svg.Canvas, left svg.Point) {
			on.Rect(svg.Area(svg.Sky), svg.Box{Left: left.X + 6, Top: left.Y - 5, Right: left.X + 20, Bottom: left.Y + 5}, 0)
		}, "share of rows"},
	}
}

// tipOf describes the contents of a bin.
func tipOf(c *metric.Calibration, bin int) string {
	b := &c.Bins[bin]
	return fmt.Sprintf("probabilities from %g to %g: mean %s, observed share %s, %s of the rows", b.From, b.To,
		textview.Probability(b.MeanProbability), textview.Probability(b.ObservedShare), textview.Percent(share(c, bin)))
}

func drawBins(on *svg.Canvas, f *Frame, c *metric.Calibration) {
	points := make([]svg.Point, len(c.Bins))
	for i := range c.Bins {
		points[i] = f.At(c.Bins[i].MeanProbability, c.Bins[i].ObservedShare)
	}
	on.Lines(svg.Line(svg.Blue, 1.5), points...)
	for i := range c.Bins {
		radius := 3 + float64(6*math.Sqrt(share(c, i)))
		on.Group("ec-bin", tipOf(c, i), fmt.Sprintf(` data-bin="%d"`, i), func() {
			on.Circle(svg.Area(svg.Blue), points[i], radius)
		})
	}
}

func drawWeights(on *svg.Canvas, f *Frame, c *metric.Calibration) {
	for i := range c.Bins {
		b := &c.Bins[i]
		low, high := f.At(b.From, 0), f.At(b.To, share(c, i))
		bar := svg.Box{Left: low.X + 1, Top: high.Y, Right: high.X - 1, Bottom: low.Y}
		on.Group("ec-bin", tipOf(c, i), fmt.Sprintf(` data-bin="%d"`, i), func() { on.Rect(svg.Area(svg.Sky), bar, 0) })
	}
}
