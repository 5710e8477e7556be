package chart

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Frame is where a picture has its data, in units of the SVG's viewBox: x to the right, y
// down. The value v of the horizontal axis stands at Left + (v - XMin) / (XMax - XMin) *
// (Right - Left), and that of the vertical one at Bottom - (v - YMin) / (YMax - YMin) * (Bottom
// - Top).
type Frame struct {
	Left, Right, Top, Bottom float64
	XMin, XMax, YMin, YMax   float64
	Spots                    []Spot // by point of a frontier
}

// Spot is the place of a point, in units of the viewBox.
type Spot struct{ X, Y float64 }

// Frame returns where the picture has its data; nil for pictures without axes.
func (p *Picture) Frame() *Frame { return p.frame }

// attributes returns the frame as the SVG element has it, for programs that draw over the picture.
func (f *Frame) attributes() string {
	if f == nil {
		return ""
	}
	exact := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return fmt.Sprintf(` data-left="%s" data-right="%s" data-top="%s" data-bottom="%s" data-x-min="%s" data-x-max="%s" `+
		`data-y-min="%s" data-y-max="%s"`, short(f.Left), short(f.Right), short(f.Top), short(f.Bottom), exact(f.XMin),
		exact(f.XMax), exact(f.YMin), exact(f.YMax))
}

// layer draws data on the axes of gonum.
type layer func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) { l(c, p) }

// axis is one axis of a picture.
type axis struct {
	label    string
	low, top float64
	ticks    int // at most
}

// newPlot returns axes without data.
func newPlot(x, y axis) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []struct {
		axis

		to *plot.Axis
	}{{x, &p.X}, {y, &p.Y}} {
		a.to.Min, a.to.Max = a.low, a.top
		a.to.Label.Text, a.to.Label.Padding = a.label, 6
		a.to.Label.TextStyle.Font = style(textSize, ink()).Font
		a.to.Label.TextStyle.Color = ink()
		a.to.Tick.Label.Font = style(tickSize, ink()).Font
		a.to.Tick.Label.Color = ink()
		a.to.Tick.Length, a.to.Tick.Color, a.to.Color = 4, grey(), grey()
		a.to.Padding = 0
		a.to.Tick.Marker = ticker(a.ticks)
	}
	return p
}

// plot returns axes without data. Their labels are shortened to the axes.
func (p *paper) plot(x, y axis) *plot.Plot {
	const room = 560
	x.label = fitted(style(textSize, ink()), x.label, room)
	y.label = fitted(style(textSize, ink()), y.label, room)
	return newPlot(x, y)
}

// ticker sets at most so many ticks at round values.
type ticker int

// Ticks implements plot.Ticker.
func (t ticker) Ticks(low, top float64) []plot.Tick {
	step, digits := niceStep(low, top, int(t))
	var list []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k <= math.Floor(top/step+1e-9); k++ {
		list = append(list, plot.Tick{Value: float64(k * step), Label: tickLabel(float64(k*step), digits)})
	}
	return list
}

// niceStep returns the least step of 1, 2 or 5 times a power of ten that sets at most so many
// ticks in a range, and the digits of its multiples behind the point.
func niceStep(low, top float64, most int) (step float64, digits int) {
	for power := leastPower; ; power++ {
		for _, factor := range []string{"1", "2", "5"} {
			step, _ = strconv.ParseFloat(factor+"e"+strconv.Itoa(power), 64) // a number at any power
			ticks := math.Floor(top/step+1e-9) - math.Ceil(low/step-1e-9) + 1
			if ticks <= float64(most) || power == greatestPower {
				return step, max(0, -power)
			}
		}
	}
}

// The powers of ten of steps.
const (
	leastPower    = -12
	greatestPower = 307
)

func tickLabel(x float64, digits int) string {
	if math.Abs(x) >= 1e6 || digits > 6 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x+0, 'f', digits, 64)
}

// frameOf returns where a plot in an area of a picture has its data.
func (p *Picture) frameOf(plotted *plot.Plot, area vg.Rectangle) *Frame {
	c := plotted.DataCanvas(draw.Canvas{Rectangle: area})
	total := float64(p.total())
	return &Frame{
		Left: float64(c.Min.X), Right: float64(c.Max.X), Top: total - float64(c.Max.Y), Bottom: total - float64(c.Min.Y),
		XMin: plotted.X.Min, XMax: plotted.X.Max, YMin: plotted.Y.Min, YMax: plotted.Y.Max,
	}
}

// grid draws faint lines at the ticks.
func grid(c draw.Canvas, p *plot.Plot) {
	line := draw.LineStyle{Color: faint(), Width: 0.5}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		x := c.X(p.X.Norm(t.Value))
		c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		y := c.Y(p.Y.Norm(t.Value))
		c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
	}
}

// at returns the place of a value.
func at(c *draw.Canvas, p *plot.Plot, x, y float64) vg.Point {
	return vg.Point{X: c.X(p.X.Norm(x)), Y: c.Y(p.Y.Norm(y))}
}
