package chart

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/io/report"
)

// Ranking has the mean ranks of methods over data sets, and how far apart ranks must be to differ.
type Ranking struct {
	Title    string
	Note     string
	Methods  []string  // the best first
	Ranks    []float64 // by method, ascending from 1
	Critical float64   // critical difference
	Groups   [][2]int  // first and last method of runs that do not differ, by ascending first one
	Control  int       // method that the others are compared with, in place of Groups; -1: all pairs are
}

// CriticalDifference draws mean ranks on an axis, the best to the right. Bars join methods that do
// not differ; or a band on the axis spans the ranks that do not differ from that of the control.
func CriticalDifference(r *Ranking) (*Picture, error) {
	if len(r.Methods) < 2 || len(r.Ranks) != len(r.Methods) || r.Control >= len(r.Methods) {
		return nil, errors.New("a diagram of critical differences needs two methods or more, each with its mean rank")
	}
	for i, rank := range r.Ranks {
		if !within(rank, 1, float64(len(r.Methods))) || i > 0 && rank < r.Ranks[i-1] {
			return nil, fmt.Errorf("mean rank %v: want ascending ones from 1 to %d", rank, len(r.Methods))
		}
	}
	d := newDifferenceChart(r)
	p := &Picture{title: r.Title, height: d.height, words: r.Note}
	if r.Note != "" {
		p.notes = []string{r.Note}
	}
	p.content = d.draw
	for i, name := range r.Methods {
		p.words += fmt.Sprintf("; %s: %.2f", report.Name(name), r.Ranks[i])
	}
	return p, nil
}

// differenceChart is a diagram of critical differences. Heights count from its upper edge.
type differenceChart struct {
	*Ranking

	axis, labels, height vg.Length
	levels               []int // by group: bars at the same level have room between them
}

// Sizes of diagrams of critical differences, in points.
const (
	labelRoom = 160 // to the left and right of the axis
	barGap    = 8
	rowHeight = 20
)

func newDifferenceChart(r *Ranking) *differenceChart {
	d := &differenceChart{Ranking: r, axis: 58, levels: make([]int, len(r.Groups))}
	var ends []float64 // of the last bar at each level
	for i, g := range r.Groups {
		at := 0
		for at < len(ends) && r.Ranks[g[0]] < ends[at]+0.25 {
			at++
		}
		if at == len(ends) {
			ends = append(ends, 0)
		}
		d.levels[i], ends[at] = at, r.Ranks[g[1]]
	}
	if r.Control >= 0 {
		d.levels, ends = nil, nil
	}
	d.labels = d.axis + vg.Length(barGap*len(ends)) + 22
	d.height = d.labels + vg.Length(rowHeight*((len(r.Methods)+1)/2))
	return d
}

func (d *differenceChart) draw(on *paper, area vg.Rectangle) {
	left, right := area.Min.X+labelRoom, area.Max.X-labelRoom
	x := func(rank float64) vg.Length {
		return right - vg.Length(vg.Length((rank-1)/float64(len(d.Methods)-1))*(right-left))
	}
	y := func(below vg.Length) vg.Length { return area.Max.Y - below }
	d.drawAxis(on, x, y)
	if d.Control >= 0 {
		rank := d.Ranks[d.Control]
		low, high := max(1, rank-d.Critical), min(float64(len(d.Methods)), rank+d.Critical)
		band := draw.LineStyle{Color: pale(orange, 0.55), Width: 9}
		on.StrokeLine2(band, x(low), y(d.axis), x(high), y(d.axis))
	}
	for i, at := range d.levels {
		g, height := d.Groups[i], y(d.axis+10+vg.Length(barGap*at))
		on.StrokeLine2(line(vermillion, 3.5), x(d.Ranks[g[0]])+3, height, x(d.Ranks[g[1]])-3, height)
	}
	d.drawMethods(on, x, y, area)
}

// drawAxis draws the ticks of the ranks, and the length of the critical difference above them.
func (d *differenceChart) drawAxis(on *paper, x func(float64) vg.Length, y func(vg.Length) vg.Length) {
	methods := len(d.Methods)
	axis := draw.LineStyle{Color: grey(), Width: 1}
	on.StrokeLine2(axis, x(1), y(d.axis), x(float64(methods)), y(d.axis))
	step := 1 + (methods-1)/15
	for rank := 1; rank <= methods; rank += step {
		at := x(float64(rank))
		on.StrokeLine2(axis, at, y(d.axis), at, y(d.axis-6))
		words := style(tickSize, ink())
		words.XAlign = draw.XCenter
		on.write(words, vg.Point{X: at, Y: y(d.axis - 14)}, strconv.Itoa(rank))
	}
	// A difference beyond the axis has no end there.
	low := float64(methods) - min(d.Critical, float64(methods-1))
	const above = 40
	height := y(d.axis - above)
	ruler := line(black, 1.5)
	on.StrokeLine2(ruler, x(float64(methods)), height, x(low), height)
	on.StrokeLine2(ruler, x(float64(methods)), height-4, x(float64(methods)), height+4)
	if d.Critical <= float64(methods-1) {
		on.StrokeLine2(ruler, x(low), height-4, x(low), height+4)
	}
	on.write(style(textSize, ink()), vg.Point{X: x(low) + 8, Y: height}, fmt.Sprintf("critical difference %.2f", d.Critical))
}

// drawMethods draws the names of the worse half to the left, of the better half to the right. Names
// nearer to the axis belong to the ends of the axis: their lines do not cross.
func (d *differenceChart) drawMethods(
	on *paper, x func(float64) vg.Length, y func(vg.Length) vg.Length, area vg.Rectangle,
) {
	better := len(d.Methods) / 2
	path := draw.LineStyle{Color: grey(), Width: 0.9}
	for i, name := range d.Methods {
		row, end, sign := i, area.Max.X-labelRoom, vg.Length(1)
		if i >= better {
			row, end, sign = len(d.Methods)-1-i, area.Min.X+labelRoom, -1
		}
		height, at := y(d.labels+vg.Length(rowHeight*row)), x(d.Ranks[i])
		words := style(textSize, ink())
		if i == d.Control {
			words = bold(words)
		}
		figure := fmt.Sprintf("%.2f", d.Ranks[i])
		text := fitted(words, report.Name(name), labelRoom-60)
		tip := fmt.Sprintf("%s: mean rank %.3f", report.Name(name), d.Ranks[i])
		on.group("ec-method", tip, "", func() {
			on.StrokeLines(path, []vg.Point{{X: at, Y: y(d.axis)}, {X: at, Y: height}, {X: end + vg.Length(6*sign), Y: height}})
			on.DrawGlyphNoClip(mark(blue, 3, draw.CircleGlyph{}), vg.Point{X: at, Y: y(d.axis)})
			place := vg.Point{X: end + vg.Length(12*sign), Y: height}
			figures := style(tickSize, grey())
			wide := widthOf(words, text) + 8
			if sign < 0 {
				words.XAlign, figures.XAlign = draw.XRight, draw.XRight
			}
			on.write(words, place, text)
			on.write(figures, place.Add(vg.Point{X: vg.Length(math.Copysign(float64(wide), float64(sign)))}), figure)
		})
	}
}
