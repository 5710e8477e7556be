package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// frontierChart is the picture of a frontier.
type frontierChart struct {
	points []runfolder.Point
	costs  []float64 // by point
	order  []int     // of the points, by ascending cost
	faint  []bool    // by point: a cheaper one has at least its AUC on validation rows
	chosen int       // point of the run's tree; -1: none
	radius vg.Length // of marks
}

// Frontier draws the AUC of a frontier's trees over what they cost: on validation rows and on
// test rows, with 95 % intervals. The run's tree is marked; dominated trees are faint. The
// Spots of its Frame are the marks of validation by point; the mark of a tree without an AUC
// stands on the axis. An error says what the frontier lacks.
func Frontier(f *runfolder.Frontier) (*Picture, error) {
	if err := checkFrontier(f.Points); err != nil {
		return nil, err
	}
	c := newFrontierChart(f.Points)
	low, high := c.span()
	if math.IsInf(low, 0) {
		return nil, fmt.Errorf("the frontier has %d trees and no AUC: validation or test rows of two classes or more "+
			"define one", len(f.Points))
	}
	label := "expected cost of a row"
	if a := &f.Points[0].Algorithm; a.CostUnit != "" {
		label += ", in " + report.Name(a.CostUnit)
	}
	dearest := c.costs[c.order[len(c.order)-1]]
	if dearest == 0 {
		dearest = 1
	}
	x, y := axis{label, 0, float64(dearest * 1.03), 10}, axis{"AUC", low, high, 9}
	p := &Picture{title: "AUC of the frontier's trees by what they cost", height: 400, legend: c.legend()}
	p.words = c.summary()
	p.notes = []string{p.words}
	p.frame = p.frameOf(newPlot(x, y), p.area())
	for i := range c.points {
		auc := low
		if a := c.points[i].Validation.AUC; a != nil {
			auc = *a
		}
		p.frame.Spots = append(p.frame.Spots, p.frame.spot(c.costs[i], auc))
	}
	p.content = func(on *paper, area vg.Rectangle) {
		axes := on.plot(x, y)
		axes.Add(layer(grid), layer(c.intervals), layer(func(d draw.Canvas, axes *plot.Plot) { c.marks(on, d, axes) }))
		axes.Draw(draw.Canvas{Canvas: on.Canvas, Rectangle: area})
	}
	return p, nil
}

// spot returns the place of a value.
func (f *Frame) spot(x, y float64) Spot {
	return Spot{
		f.Left + float64((x-f.XMin)/(f.XMax-f.XMin)*(f.Right-f.Left)),
		f.Bottom - float64((y-f.YMin)/(f.YMax-f.YMin)*(f.Bottom-f.Top)),
	}
}

func newFrontierChart(points []runfolder.Point) *frontierChart {
	c := &frontierChart{points: points, faint: make([]bool, len(points)), chosen: -1, radius: 4}
	for i := range points {
		cost, _ := points[i].Billed()
		c.costs, c.order = append(c.costs, cost), append(c.order, i)
		if points[i].Selected {
			c.chosen = i
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(c.costs[i], c.costs[j]) })
	best := math.Inf(-1)
	for _, i := range c.order {
		auc := points[i].Validation.AUC
		c.faint[i] = auc != nil && *auc <= best
		if auc != nil {
			best = max(best, *auc)
		}
	}
	switch {
	case len(points) > 150:
		c.radius = 2
	case len(points) > 40:
		c.radius = 3
	}
	return c
}

// span returns the ends of the vertical axis; infinite ones without any AUC.
func (c *frontierChart) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range c.points {
		for _, part := range []*runfolder.Part{&c.points[i].Validation, &c.points[i].Test} {
			if part.AUC == nil {
				continue
			}
			low, high = min(low, *part.AUC), max(high, *part.AUC)
			if part.Interval != nil {
				low, high = min(low, part.Low), max(high, part.High)
			}
		}
	}
	if math.IsInf(low, 0) {
		return low, high
	}
	step, _ := niceStep(low, max(high, low+0.01), 8)
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step
}

// The colours and signs of the two parts.
const (
	validationColour = blue
	testColour       = vermillion
)

func (c *frontierChart) legend() []entry {
	measured := func(part func(p *runfolder.Point) *float64) bool {
		return slices.ContainsFunc(c.points, func(p runfolder.Point) bool { return part(&p) != nil })
	}
	var list []entry
	if measured(func(p *runfolder.Point) *float64 { return p.Validation.AUC }) {
		list = append(list, entry{func(p *paper, left vg.Point) {
			middle := left.Add(vg.Point{X: signWidth / 2})
			area := vg.Rectangle{Min: left.Add(vg.Point{Y: -5}), Max: left.Add(vg.Point{X: signWidth, Y: 5})}
			p.SetColor(pale(validationColour, bandOpacity))
			p.Fill(area.Path())
			p.StrokeLine2(line(validationColour, 1.5), left.X, left.Y, left.X+signWidth, left.Y)
			p.DrawGlyphNoClip(mark(validationColour, 4, draw.CircleGlyph{}), middle)
		}, "validation rows, with 95 % intervals"})
	}
	if measured(func(p *runfolder.Point) *float64 { return p.Test.AUC }) {
		list = append(list, entry{func(p *paper, left vg.Point) {
			middle := left.Add(vg.Point{X: signWidth / 2})
			p.StrokeLine2(line(testColour, 0.75), middle.X, left.Y-6, middle.X, left.Y+6)
			p.StrokeLine2(dashed(line(testColour, 1.5), 4, 3), left.X, left.Y, left.X+signWidth, left.Y)
			p.DrawGlyphNoClip(mark(testColour, 4, draw.PyramidGlyph{}), middle)
		}, "test rows"})
	}
	if c.chosen >= 0 {
		list = append(list, entry{func(p *paper, left vg.Point) {
			middle := left.Add(vg.Point{X: signWidth / 2})
			p.DrawGlyphNoClip(mark(validationColour, 4, draw.CircleGlyph{}), middle)
			p.ring(middle, 7.5)
		}, "the run's tree"})
	}
	if slices.Contains(c.faint, true) {
		list = append(list, entry{func(p *paper, left vg.Point) {
			p.DrawGlyphNoClip(draw.GlyphStyle{
				Color: pale(validationColour, faintOpacity), Radius: 4,
				Shape: draw.CircleGlyph{},
			}, left.Add(vg.Point{X: signWidth / 2}))
		}, "a cheaper tree is as good on validation rows"})
	}
	return list
}

// The opacities of the band of the intervals, and of dominated points.
const (
	bandOpacity  = 0.16
	faintOpacity = 0.3
)

func line(colour uint32, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: rgb(colour), Width: width}
}

func dashed(s draw.LineStyle, lengths ...vg.Length) draw.LineStyle {
	s.Dashes = lengths
	return s
}

func mark(colour uint32, radius vg.Length, shape draw.GlyphDrawer) draw.GlyphStyle {
	return draw.GlyphStyle{Color: rgb(colour), Radius: radius, Shape: shape}
}

// ring draws a ring around a mark.
func (p *paper) ring(around vg.Point, radius vg.Length) {
	var path vg.Path
	path.Move(around.Add(vg.Point{X: radius}))
	path.Arc(around, radius, 0, 2*math.Pi)
	path.Close()
	p.SetLineStyle(line(black, 2))
	p.Stroke(path)
}

// maxWhiskers is the greatest number of trees whose intervals of validation are lines. Those
// of more trees are a band.
const maxWhiskers = 12

// intervals draws the intervals.
func (c *frontierChart) intervals(d draw.Canvas, axes *plot.Plot) {
	whisker := func(cost float64, part *runfolder.Part, shift vg.Length, colour uint32) {
		if part.AUC != nil && part.Interval != nil {
			x := at(&d, axes, cost, 0).X + shift
			style := draw.LineStyle{Color: pale(colour, 0.6), Width: 1}
			d.StrokeLine2(style, x, at(&d, axes, 0, part.Low).Y, x, at(&d, axes, 0, part.High).Y)
		}
	}
	few := len(c.points) <= maxWhiskers
	var lows, highs []vg.Point
	for _, i := range c.order {
		validation := &c.points[i].Validation
		if few {
			whisker(c.costs[i], validation, -1.5, validationColour)
			whisker(c.costs[i], &c.points[i].Test, 1.5, testColour)
			continue
		}
		if !c.faint[i] && validation.Interval != nil {
			lows = append(lows, at(&d, axes, c.costs[i], validation.Low))
			highs = append(highs, at(&d, axes, c.costs[i], validation.High))
		}
	}
	if !few {
		slices.Reverse(highs)
		d.FillPolygon(pale(validationColour, bandOpacity), append(lows, highs...))
		if c.chosen >= 0 {
			whisker(c.costs[c.chosen], &c.points[c.chosen].Test, 0, testColour)
		}
	}
}

// marks draws the curves and a group for each tree.
func (c *frontierChart) marks(on *paper, d draw.Canvas, axes *plot.Plot) {
	var validation, test []vg.Point
	for _, i := range c.order {
		if auc := c.points[i].Validation.AUC; auc != nil && !c.faint[i] {
			validation = append(validation, at(&d, axes, c.costs[i], *auc))
		}
		if auc := c.points[i].Test.AUC; auc != nil {
			test = append(test, at(&d, axes, c.costs[i], *auc))
		}
	}
	d.StrokeLines(dashed(line(testColour, 1.2), 4, 3), test)
	d.StrokeLines(line(validationColour, 1.5), validation)
	for _, i := range c.order {
		p := &c.points[i]
		attributes := fmt.Sprintf(` data-point="%d"`, i)
		on.group("ec-point", c.tip(i), attributes, func() {
			if p.Test.AUC != nil {
				d.DrawGlyphNoClip(mark(testColour, c.radius, draw.PyramidGlyph{}), at(&d, axes, c.costs[i], *p.Test.AUC))
			}
			if p.Validation.AUC == nil {
				if i == c.chosen && p.Test.AUC != nil {
					on.ring(at(&d, axes, c.costs[i], *p.Test.AUC), 9)
				}
				return
			}
			place := at(&d, axes, c.costs[i], *p.Validation.AUC)
			m := mark(validationColour, c.radius, draw.CircleGlyph{})
			if c.faint[i] {
				m.Color = pale(validationColour, faintOpacity)
			}
			d.DrawGlyphNoClip(m, place)
			if i == c.chosen {
				on.ring(place, 9)
			}
		})
	}
}

// tip says what a tree costs and how good it is.
func (c *frontierChart) tip(point int) string {
	p := &c.points[point]
	return fmt.Sprintf("tree %s: cost %.4g, %d leaves, depth %d\nvalidation AUC %s\ntest AUC %s", report.Number(p.Tree),
		c.costs[point], p.Leaves, p.Depth, partOf(&p.Validation), partOf(&p.Test))
}

// partOf writes an area with its interval.
func partOf(p *runfolder.Part) string {
	if p.AUC == nil {
		return "-"
	}
	if p.Interval == nil {
		return fmt.Sprintf("%.4f", *p.AUC)
	}
	return fmt.Sprintf("%.4f (%.3f to %.3f)", *p.AUC, p.Low, p.High)
}

// summary says in a sentence what the picture shows.
func (c *frontierChart) summary() string {
	first, last := c.costs[c.order[0]], c.costs[c.order[len(c.order)-1]]
	text := fmt.Sprintf("%d trees that cost %.4g to %.4g", len(c.points), first, last)
	if c.chosen < 0 {
		return text
	}
	p := &c.points[c.chosen]
	text += fmt.Sprintf("; the run's tree %s: cost %.4g, %d leaves", report.Number(p.Tree), c.costs[c.chosen], p.Leaves)
	if p.Validation.AUC != nil {
		text += fmt.Sprintf(", validation AUC %.4f", *p.Validation.AUC)
	}
	if p.Test.AUC != nil {
		text += fmt.Sprintf(", test AUC %.4f", *p.Test.AUC)
	}
	return text
}
