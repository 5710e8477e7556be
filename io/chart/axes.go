package chart

import (
	"fmt"
	"math"
	"strconv"

	"github.com/espalier-ml/espalier/io/svg"
)

// Frame is the place of the data in a picture, in units of the SVG's viewBox: x to the right, y
// down. The value v of the horizontal axis is at Left + (v - XMin) / (XMax - XMin) * (Right -
// Left), and the value v of the vertical axis at Bottom - (v - YMin) / (YMax - YMin) * (Bottom -
// Top).
type Frame struct {
	Left, Right, Top, Bottom float64
	XMin, XMax, YMin, YMax   float64
	Spots                    []svg.Point // by point of a frontier
}

// Frame returns the place of the data in the picture; nil for pictures without axes.
func (p *Picture) Frame() *Frame { return p.frame }

// attributes returns the frame as attributes of the SVG element, for programs that draw over the
// picture.
func (f *Frame) attributes() string {
	if f == nil {
		return ""
	}
	exact := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return fmt.Sprintf(` data-left="%s" data-right="%s" data-top="%s" data-bottom="%s" data-x-min="%s" data-x-max="%s" `+
		`data-y-min="%s" data-y-max="%s"`, exact(f.Left), exact(f.Right), exact(f.Top), exact(f.Bottom), exact(f.XMin),
		exact(f.XMax), exact(f.YMin), exact(f.YMax))
}

// At returns the place of a value.
func (f *Frame) At(x, y float64) svg.Point {
	return svg.Point{
		X: f.Left + float64((x-f.XMin)/(f.XMax-f.XMin)*(f.Right-f.Left)),
		Y: f.Bottom - float64((y-f.YMin)/(f.YMax-f.YMin)*(f.Bottom-f.Top)),
	}
}

// Axis is an axis of a picture.
type Axis struct {
	Label     string
	Low, High float64 // values at its ends
	Ticks     []Tick
}

// Tick is a value of an axis with a label.
type Tick struct {
	Value float64
	Label string
}

// newAxis returns an axis with at most ticks ticks at round values.
func newAxis(label string, low, high float64, ticks int) Axis {
	return Axis{label, low, high, RoundTicks(low, high, ticks)}
}

// Axes are two axes, and the frame of their data.
type Axes struct {
	Frame

	x, y Axis
	area svg.Box
}

// Sizes of axes, in units of the viewBox.
const (
	tickLength = 4
	tickGap    = 3  // between a tick and its label
	labelRoom  = 20 // for the label of an axis
	maxLabel   = 560
)

// NewAxes returns axes that fit into an area, with all their labels.
func NewAxes(area svg.Box, x, y Axis) *Axes {
	a := &Axes{x: x, y: y, area: area}
	words := small()
	var wide, right float64
	for _, t := range y.Ticks {
		wide = max(wide, words.Width(t.Label))
	}
	for _, t := range x.Ticks {
		right = max(right, words.Width(t.Label)/2)
	}
	a.Frame = Frame{
		Left: area.Left + wide + tickGap + tickLength, Right: area.Right - right, Top: area.Top + svg.TickSize/2,
		Bottom: area.Bottom - svg.TickSize - tickGap - tickLength, XMin: x.Low, XMax: x.High, YMin: y.Low, YMax: y.High,
	}
	if y.Label != "" {
		a.Left += labelRoom
	}
	if x.Label != "" {
		a.Bottom -= labelRoom
	}
	a.Left = max(a.Left, area.Left+right)
	return a
}

// Align moves the left ends of axes below each other to the same place, as far right as the widest
// labels require.
func Align(all ...*Axes) {
	left := 0.0
	for _, a := range all {
		left = max(left, a.Left)
	}
	for _, a := range all {
		a.Left = left
	}
}

// Draw draws the axes with their labels, and faint lines at the ticks.
func (a *Axes) Draw(on *svg.Canvas) {
	rule := svg.Line(svg.Rule, 0.5)
	line := svg.Line(svg.Soft, 0.75)
	words := small()
	for _, t := range a.x.Ticks {
		at := a.At(t.Value, a.YMin)
		on.Lines(rule, at, svg.Point{X: at.X, Y: a.Top})
		on.Lines(line, at, at.Plus(0, tickLength))
		on.Text(aligned(words, svg.Middle), at.Plus(0, tickLength+tickGap+svg.TickSize/2), t.Label)
	}
	for _, t := range a.y.Ticks {
		at := a.At(a.XMin, t.Value)
		on.Lines(rule, at, svg.Point{X: a.Right, Y: at.Y})
		on.Lines(line, at, at.Plus(-tickLength, 0))
		on.Text(aligned(words, svg.Right), at.Plus(-tickLength-tickGap, 0), t.Label)
	}
	corner := svg.Point{X: a.Left, Y: a.Bottom}
	on.Lines(line, svg.Point{X: a.Left, Y: a.Top}, corner, svg.Point{X: a.Right, Y: a.Bottom})
	label := aligned(plain(), svg.Middle)
	middle := svg.Point{X: (a.Left + a.Right) / 2, Y: a.area.Bottom - svg.TextSize/2}
	on.Text(label, middle, label.Fit(a.x.Label, min(maxLabel, a.Right-a.Left)))
	label.Turned = true
	middle = svg.Point{X: a.area.Left + svg.TextSize/2, Y: (a.Top + a.Bottom) / 2}
	on.Text(label, middle, label.Fit(a.y.Label, a.Bottom-a.Top))
}

// RoundTicks returns at most most ticks at round values.
func RoundTicks(low, high float64, most int) []Tick {
	step, digits := niceStep(low, high, most)
	var list []Tick
	for k := math.Ceil(low/step - 1e-9); k <= math.Floor(high/step+1e-9); k++ {
		list = append(list, Tick{float64(k * step), TickLabel(float64(k*step), digits)})
	}
	return list
}

// niceStep returns the least step of 1, 2 or 5 times a power of ten with which a range has at most
// most ticks, and the number of digits after the decimal point of its multiples.
func niceStep(low, high float64, most int) (step float64, digits int) {
	for power := leastPower; ; power++ {
		for _, factor := range []string{"1", "2", "5"} {
			step, _ = strconv.ParseFloat(factor+"e"+strconv.Itoa(power), 64) // a number at any power
			ticks := math.Floor(high/step+1e-9) - math.Ceil(low/step-1e-9) + 1
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

// TickLabel returns a number with this many digits after the decimal point, or a shorter form if
// there would be too many.
func TickLabel(x float64, digits int) string {
	if math.Abs(x) >= 1e6 || digits > 6 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x+0, 'f', digits, 64)
}
