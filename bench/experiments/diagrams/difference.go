package diagrams

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// Ranking has the mean ranks of methods over data sets, and how far apart ranks must be to differ.
type Ranking struct {
	Title    string
	Note     string
	Methods  []string  // the best first
	Ranks    []float64 // by method, ascending from 1
	Critical float64   // critical difference
	Groups   [][2]int  // first and last method of runs that do not differ, by ascending first one
	Control  int       // index of the method that all other methods are compared with; -1: Groups compares all pairs
}

// CriticalDifference draws mean ranks on an axis, the best to the right. Bars join methods that do
// not differ; or a band on the axis spans the ranks that do not differ from the rank of the control.
func CriticalDifference(r *Ranking) (*chart.Picture, error) {
	if len(r.Methods) < 2 || len(r.Ranks) != len(r.Methods) || r.Control >= len(r.Methods) {
		return nil, errors.New("a diagram of critical differences needs two methods or more, each with its mean rank")
	}
	for i, rank := range r.Ranks {
		if !(1 <= rank && rank <= float64(len(r.Methods))) || i > 0 && rank < r.Ranks[i-1] {
			return nil, fmt.Errorf("mean rank %v: want ascending ones from 1 to %d", rank, len(r.Methods))
		}
	}
	d := newDifferenceChart(r)
	p := &chart.Picture{Title: r.Title, Height: d.height, Words: r.Note, Draw: d.draw}
	if r.Note != "" {
		p.Notes = []string{r.Note}
	}
	for i, name := range r.Methods {
		p.Words += fmt.Sprintf("; %s: %.2f", textview.Name(name), r.Ranks[i])
	}
	return p, nil
}

// differenceChart is a diagram of critical differences. Heights count from its upper edge.
type differenceChart struct {
	*Ranking

	axis, labels, height float64
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
	var ends []float64 // end of the last bar at each level
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
		d.levels = nil
		ends = nil
	}
	d.labels = d.axis + float64(barGap*len(ends)) + 22
	d.height = d.labels + float64(rowHeight*((len(r.Methods)+1)/2))
	return d
}

func (d *differenceChart) draw(on *svg.Canvas, area svg.Box) {
	left, right := area.Left+labelRoom, area.Right-labelRoom
	at := func(rank, below float64) svg.Point {
		return svg.Point{X: right - float64((rank-1)/float64(len(d.Methods)-1)*(right-left)), Y: area.Top + below}
	}
	d.drawAxis(on, at)
	if d.Control >= 0 {
		rank := d.Ranks[d.Control]
		low, high := max(1, rank-d.Critical), min(float64(len(d.Methods)), rank+d.Critical)
		on.Lines(svg.Line(svg.Orange, 9).Pale(0.55), at(low, d.axis), at(high, d.axis))
	}
	for i, level := range d.levels {
		g := d.Groups[i]
		below := d.axis + 10 + float64(barGap*level)
		on.Lines(svg.Line(svg.Vermillion, 3.5), at(d.Ranks[g[0]], below).Plus(3, 0), at(d.Ranks[g[1]], below).Plus(-3, 0))
	}
	d.drawMethods(on, at, area)
}

// drawAxis draws the ticks of the ranks, and the length of the critical difference above them.
func (d *differenceChart) drawAxis(on *svg.Canvas, at func(rank, below float64) svg.Point) {
	methods := len(d.Methods)
	axis := svg.Line(svg.Soft, 1)
	on.Lines(axis, at(1, d.axis), at(float64(methods), d.axis))
	step := 1 + (methods-1)/15
	for rank := 1; rank <= methods; rank += step {
		tick := at(float64(rank), d.axis)
		on.Lines(axis, tick, tick.Plus(0, -6))
		on.Text(svg.Text{Size: svg.TickSize, Align: svg.Middle}, tick.Plus(0, -14), strconv.Itoa(rank))
	}
	// A difference beyond the axis has no end there.
	const above = 40
	begin := at(float64(methods), d.axis-above)
	end := at(float64(methods)-min(d.Critical, float64(methods-1)), d.axis-above)
	ruler := svg.Line(svg.Ink, 1.5)
	on.Lines(ruler, begin, end)
	on.Lines(ruler, begin.Plus(0, -4), begin.Plus(0, 4))
	if d.Critical <= float64(methods-1) {
		on.Lines(ruler, end.Plus(0, -4), end.Plus(0, 4))
	}
	on.Text(svg.Text{}, end.Plus(8, 0), fmt.Sprintf("critical difference %.2f", d.Critical))
}

// drawMethods draws the names of the worse half to the left, of the better half to the right. Names
// nearer to the axis belong to the ends of the axis: their lines do not cross.
func (d *differenceChart) drawMethods(on *svg.Canvas, at func(rank, below float64) svg.Point, area svg.Box) {
	better := len(d.Methods) / 2
	for i, name := range d.Methods {
		words := svg.Text{Bold: i == d.Control}
		figures := svg.Text{Size: svg.TickSize, Colour: svg.Soft}
		row := i
		end := area.Right - labelRoom
		sign := 1.0
		if i >= better {
			row = len(d.Methods) - 1 - i
			end = area.Left + labelRoom
			sign = -1
			words.Align, figures.Align = svg.Right, svg.Right
		}
		mark := at(d.Ranks[i], d.axis)
		corner := svg.Point{X: mark.X, Y: area.Top + d.labels + float64(rowHeight*row)}
		place := svg.Point{X: end + float64(12*sign), Y: corner.Y}
		text := words.Fit(textview.Name(name), labelRoom-60)
		on.Group("ec-method", fmt.Sprintf("%s: mean rank %.3f", textview.Name(name), d.Ranks[i]), "", func() {
			on.Lines(svg.Line(svg.Soft, 0.9), mark, corner, svg.Point{X: end + float64(6*sign), Y: corner.Y})
			on.Circle(svg.Area(svg.Blue), mark, 3)
			on.Text(words, place, text)
			on.Text(figures, place.Plus(float64(sign*(words.Width(text)+8)), 0), fmt.Sprintf("%.2f", d.Ranks[i]))
		})
	}
}
