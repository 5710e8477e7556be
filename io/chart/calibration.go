package chart

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Calibration draws the mean probability of each bin against the observed share, and below
// the share of the rows in the bin, on test rows, else on validation rows, else on training
// rows. An error says what the metrics lack.
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
	what, whose := "the predicted class", "of the predicted class"
	if c.Class != "" {
		what, whose = "class "+report.Name(c.Class), "of "+report.Name(c.Class)
	}
	p := &Picture{title: "Calibration on " + part.Name + " rows", height: 540, legend: calibrationLegend()}
	p.words = fmt.Sprintf("the probability of %s against its share; mean error %.4f, greatest error of a bin %.4f", what,
		c.ExpectedError, c.MaximumError)
	p.notes = []string{p.words}
	heaviest := 0.0
	for i := range c.Bins {
		heaviest = max(heaviest, share(c, i))
	}
	x := axis{"mean probability " + whose, 0, 1, 11}
	above, below := axis{"observed share", 0, 1, 11}, axis{"share of rows", 0, float64(heaviest * 1.1), 6}
	const histogram = 165
	split := func(area vg.Rectangle) (high, low vg.Rectangle) {
		high, low = area, area
		high.Min.Y += histogram
		low.Max.Y = low.Min.Y + histogram - margin
		return high, low
	}
	// The two plots have one horizontal axis: both begin where the wider labels allow.
	ends := func(area vg.Rectangle) (high, low vg.Rectangle) {
		high, low = split(area)
		a := newPlot(axis{"", 0, 1, 11}, above).DataCanvas(draw.Canvas{Rectangle: high})
		b := newPlot(x, below).DataCanvas(draw.Canvas{Rectangle: low})
		left := max(a.Min.X, b.Min.X)
		high.Min.X += left - a.Min.X
		low.Min.X += left - b.Min.X
		return high, low
	}
	high, _ := ends(p.area())
	p.frame = p.frameOf(newPlot(axis{"", 0, 1, 11}, above), high)
	p.content = func(on *paper, area vg.Rectangle) {
		high, low := ends(area)
		axes := on.plot(axis{"", 0, 1, 11}, above)
		axes.Add(layer(grid), layer(diagonal), layer(func(d draw.Canvas, axes *plot.Plot) { drawBins(on, d, axes, c) }))
		axes.Draw(draw.Canvas{Canvas: on.Canvas, Rectangle: high})
		axes = on.plot(x, below)
		axes.Add(layer(grid), layer(func(d draw.Canvas, axes *plot.Plot) { drawWeights(on, d, axes, c) }))
		axes.Draw(draw.Canvas{Canvas: on.Canvas, Rectangle: low})
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

func calibrationLegend() []entry {
	return []entry{
		{func(p *paper, left vg.Point) {
			p.StrokeLine2(line(blue, 1.5), left.X, left.Y, left.X+signWidth, left.Y)
			p.DrawGlyphNoClip(mark(blue, 4.5, draw.CircleGlyph{}), left.Add(vg.Point{X: signWidth / 2}))
		}, "a bin; larger: more rows"},
		{func(p *paper, left vg.Point) {
			style := dashed(draw.LineStyle{Color: grey(), Width: 0.75}, 3, 3)
			p.StrokeLine2(style, left.X, left.Y, left.X+signWidth, left.Y)
		}, "probabilities that are right"},
		{func(p *paper, left vg.Point) {
			area := vg.Rectangle{Min: left.Add(vg.Point{X: 6, Y: -5}), Max: left.Add(vg.Point{X: 20, Y: 5})}
			p.SetColor(rgb(sky))
			p.Fill(area.Path())
		}, "share of rows"},
	}
}

// tipOf says what a bin holds.
func tipOf(c *metric.Calibration, bin int) string {
	b := &c.Bins[bin]
	return fmt.Sprintf("probabilities from %g to %g: mean %.4f, observed share %.4f, %s of the rows", b.From, b.To,
		b.MeanProbability, b.ObservedShare, report.Percent(share(c, bin)))
}

func drawBins(on *paper, d draw.Canvas, axes *plot.Plot, c *metric.Calibration) {
	points := make([]vg.Point, len(c.Bins))
	for i := range c.Bins {
		points[i] = at(&d, axes, c.Bins[i].MeanProbability, c.Bins[i].ObservedShare)
	}
	d.StrokeLines(line(blue, 1.5), points)
	for i := range c.Bins {
		radius := 3 + vg.Length(6*vg.Length(math.Sqrt(share(c, i))))
		on.group("ec-bin", tipOf(c, i), fmt.Sprintf(` data-bin="%d"`, i), func() {
			d.DrawGlyphNoClip(mark(blue, radius, draw.CircleGlyph{}), points[i])
		})
	}
}

func drawWeights(on *paper, d draw.Canvas, axes *plot.Plot, c *metric.Calibration) {
	for i := range c.Bins {
		b := &c.Bins[i]
		bar := vg.Rectangle{Min: at(&d, axes, b.From, 0), Max: at(&d, axes, b.To, share(c, i))}
		bar.Min.X++
		bar.Max.X--
		on.group("ec-bin", tipOf(c, i), fmt.Sprintf(` data-bin="%d"`, i), func() {
			d.SetColor(rgb(sky))
			d.Fill(bar.Path())
		})
	}
}
