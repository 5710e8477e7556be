package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// frontierChart is the picture of a frontier.
type frontierChart struct {
	points []runfolder.Point
	costs  []float64  // by point
	judged []*float64 // by point: AUC on the validation rows or, where the run has none, on the folds
	folds  bool       // whether judged is the AUC on the folds
	order  []int      // positions of the drawn points, by ascending cost
	dear   []int      // positions of the points beyond the axis, by ascending cost
	faint  []bool     // by point: a cheaper one has at least its judged AUC
	chosen int        // point of the run's tree; -1 if absent
	limit  float64    // limit of the expected cost; 0: none
	far    bool       // whether the limit is far beyond all trees, and not drawn
	radius float64    // of marks
}

// Frontier draws the AUC of a frontier's trees over their cost: on validation rows, or on the folds if no validation rows
// define it, and on test rows, with 95 % intervals. The run's tree and the limit of the cost are marked; dominated trees are
// faint. The axis of costs ends behind the last tree that is better than cheaper ones: a note names more expensive trees. The Spots of its
// Frame are the marks of the judged AUC, by point, of a tree beyond the axis at its end; a tree without that AUC has its
// spot at its AUC on test rows, or else on the axis. The error describes what the frontier lacks.
func Frontier(f *runfolder.Frontier) (*Picture, error) {
	if err := checkFrontier(f.Points); err != nil {
		return nil, err
	}
	c := newFrontierChart(f)
	low, high := c.span()
	if math.IsInf(low, 0) {
		return nil, fmt.Errorf("the frontier has %d trees and no AUC: validation or test rows of two classes or more "+
			"define one", len(f.Points))
	}
	label := "expected cost of a row"
	if a := &f.Points[0].Algorithm; a.CostUnit != "" {
		label += ", in " + textview.Name(a.CostUnit)
	}
	dearest := c.costs[c.order[len(c.order)-1]]
	if !c.far {
		dearest = max(dearest, c.limit)
	}
	if dearest == 0 {
		dearest = 1
	}
	p := &Picture{Title: "AUC of the frontier's trees by what they cost", Height: 400, Legend: c.legend()}
	p.Words = c.summary()
	p.Notes = []string{p.Words}
	if text := c.beyond(); text != "" {
		p.Words += "; " + text
		p.Notes = append(p.Notes, text)
	}
	axes := NewAxes(p.area(), newAxis(label, 0, float64(dearest*1.03), 10), newAxis("AUC", low, high, 9))
	p.frame = &axes.Frame
	for i := range c.points {
		auc := *cmp.Or(c.judged[i], c.points[i].Test.AUC, &low)
		p.frame.Spots = append(p.frame.Spots, p.frame.At(min(c.costs[i], p.frame.XMax), min(max(auc, low), high)))
	}
	p.Draw = func(on *svg.Canvas, _ svg.Box) {
		axes.Draw(on)
		c.limits(on, p.frame)
		c.intervals(on, p.frame)
		c.marks(on, p.frame)
	}
	return p, nil
}

func newFrontierChart(f *runfolder.Frontier) *frontierChart {
	points := f.Points
	c := &frontierChart{points: points, faint: make([]bool, len(points)), chosen: -1, limit: f.Limits.ExpectedCost, radius: 4}
	c.folds = !slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Validation.AUC != nil })
	for i := range points {
		c.costs = append(c.costs, points[i].ExpectedCost)
		c.judged = append(c.judged, points[i].Validation.AUC)
		if c.folds {
			c.judged[i] = points[i].Folds
		}
		c.order = append(c.order, i)
		if points[i].Selected {
			c.chosen = i
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(c.costs[i], c.costs[j]) })
	c.cutDear()
	best := math.Inf(-1)
	for _, i := range c.order {
		auc := c.judged[i]
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

// earns is the AUC by which a tree is better than all cheaper ones, so that the axis reaches it.
const earns = 0.001

// stretch is how many times as long the axis may become to reach trees that earn less.
const stretch = 1.25

// cutDear takes the points from the order that would squeeze the other points: points far beyond the last tree that earns
// something, the run's tree, and the limit.
func (c *frontierChart) cutDear() {
	if len(c.order) == 0 {
		return
	}
	end := 0.0
	best := math.Inf(-1)
	for _, i := range c.order {
		auc := c.points[i].ExpectedAUC()
		if auc == nil {
			auc = c.points[i].Test.AUC
		}
		if i == c.chosen || auc != nil && *auc >= best+earns {
			end = max(end, c.costs[i])
		}
		if auc != nil {
			best = max(best, *auc)
		}
	}
	if dearest := c.costs[c.order[len(c.order)-1]]; c.limit <= float64(stretch*dearest) {
		end = max(end, c.limit)
	} else {
		c.far = true
	}
	at := slices.IndexFunc(c.order, func(i int) bool { return c.costs[i] > float64(stretch*end) })
	if at > 0 {
		c.dear = c.order[at:]
		c.order = slices.Clip(c.order[:at])
	}
}

// beyond describes the trees and the limit that are not drawn; empty if all are.
func (c *frontierChart) beyond() string {
	limit := ""
	if c.far {
		limit = fmt.Sprintf("the limit, %.4g, is above the cost of all trees", c.limit)
	}
	if len(c.dear) == 0 {
		return limit
	}
	if limit != "" {
		limit += "; "
	}
	least := c.costs[c.dear[0]]
	most := c.costs[c.dear[len(c.dear)-1]]
	if len(c.dear) == 1 {
		return limit + fmt.Sprintf("not drawn: a tree that costs %.4g, not better than cheaper ones by %v of AUC", most, earns)
	}
	return limit + fmt.Sprintf("not drawn: %d trees that cost %.4g to %.4g, not better than cheaper ones by %v of AUC", len(c.dear), least, most, earns)
}

// limits draws the limit of the cost, if there is one.
func (c *frontierChart) limits(on *svg.Canvas, f *Frame) {
	if c.limit == 0 || c.far {
		return
	}
	top := f.At(c.limit, f.YMax)
	on.Lines(svg.Line(svg.Ink, 1, 6, 4), f.At(c.limit, f.YMin), top)
	words := small()
	text := fmt.Sprintf("limit %.4g", c.limit)
	at := top.Plus(limitGap, svg.TickSize)
	if at.X+words.Width(text) > f.Right {
		words = aligned(words, svg.Right)
		at.X -= 2 * limitGap
	}
	on.Text(words, at, text)
}

// limitGap is the space between the line of a limit and its text.
const limitGap = 5

// span returns the ends of the vertical axis; infinite ones without any AUC.
func (c *frontierChart) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, i := range c.order {
		if auc := c.judged[i]; auc != nil {
			low = min(low, *auc)
			high = max(high, *auc)
		}
		for _, part := range []*metric.Judgement{&c.points[i].Validation, &c.points[i].Test} {
			if part.AUC == nil {
				continue
			}
			low = min(low, *part.AUC)
			high = max(high, *part.AUC)
			if part.Interval != nil {
				low = min(low, part.Low)
				high = max(high, part.High)
			}
		}
	}
	if math.IsInf(low, 0) {
		return low, high
	}
	step, _ := niceStep(low, max(high, low+0.01), 8)
	high = float64(math.Ceil(high/step-1e-9) * step)
	return min(float64(math.Floor(low/step+1e-9)*step), high-step), high // an axis has a length
}

// The colours of the two parts.
const (
	validationColour = svg.Blue
	testColour       = svg.Vermillion
)

func validationLine() svg.Style { return svg.Line(validationColour, 1.5) }
func testLine() svg.Style       { return svg.Line(testColour, 1.5, 4, 3) }

func (c *frontierChart) legend() []Entry {
	measured := func(part func(p *runfolder.Point) *float64) bool {
		return slices.ContainsFunc(c.points, func(p runfolder.Point) bool { return part(&p) != nil })
	}
	var list []Entry
	words := "validation rows, with 95 % intervals"
	if c.folds {
		words = "folds of the training rows"
	}
	if slices.ContainsFunc(c.judged, func(auc *float64) bool { return auc != nil }) {
		list = append(list, Entry{func(on *svg.Canvas, left svg.Point) {
			area := svg.Box{Left: left.X, Top: left.Y - 5, Right: left.X + SignWidth, Bottom: left.Y + 5}
			if !c.folds {
				on.Rect(svg.Area(validationColour).Pale(bandOpacity), area, 0)
			}
			on.Lines(validationLine(), left, left.Plus(SignWidth, 0))
			on.Circle(svg.Area(validationColour), left.Plus(SignWidth/2, 0), 4)
		}, words})
	}
	if measured(func(p *runfolder.Point) *float64 { return p.Test.AUC }) {
		list = append(list, Entry{func(on *svg.Canvas, left svg.Point) {
			middle := left.Plus(SignWidth/2, 0)
			on.Lines(svg.Line(testColour, 0.75), middle.Plus(0, -6), middle.Plus(0, 6))
			on.Lines(testLine(), left, left.Plus(SignWidth, 0))
			on.Triangle(svg.Area(testColour), middle, 4)
		}, "test rows"})
	}
	if c.chosen >= 0 {
		list = append(list, Entry{func(on *svg.Canvas, left svg.Point) {
			on.Circle(svg.Area(validationColour), left.Plus(SignWidth/2, 0), 4)
			on.Circle(ring(), left.Plus(SignWidth/2, 0), 7.5)
		}, "the run's tree"})
	}
	if slices.Contains(c.faint, true) {
		list = append(list, Entry{func(on *svg.Canvas, left svg.Point) {
			on.Circle(svg.Area(validationColour).Pale(faintOpacity), left.Plus(SignWidth/2, 0), 4)
		}, "a cheaper tree is as good on " + strings.Split(words, ",")[0]})
	}
	return list
}

// The opacities of the band of the intervals, and of dominated points.
const (
	bandOpacity  = 0.16
	faintOpacity = 0.3
)

// ring is the style of the ring around the mark of the run's tree.
func ring() svg.Style { return svg.Line(svg.Ink, 2) }

// maxWhiskers is the greatest number of trees whose intervals of validation are lines. Those
// of more trees are a band.
const maxWhiskers = 12

// intervals draws the intervals.
func (c *frontierChart) intervals(on *svg.Canvas, f *Frame) {
	whisker := func(cost float64, part *metric.Judgement, shift float64, colour svg.Colour) {
		if part.AUC != nil && part.Interval != nil {
			low, high := f.At(cost, part.Low), f.At(cost, part.High)
			on.Lines(svg.Line(colour, 1).Pale(0.6), low.Plus(shift, 0), high.Plus(shift, 0))
		}
	}
	few := len(c.order) <= maxWhiskers
	var lows, highs []svg.Point
	for _, i := range c.order {
		validation := &c.points[i].Validation
		if few {
			whisker(c.costs[i], validation, -1.5, validationColour)
			whisker(c.costs[i], &c.points[i].Test, 1.5, testColour)
			continue
		}
		if !c.faint[i] && validation.Interval != nil {
			lows = append(lows, f.At(c.costs[i], validation.Low))
			highs = append(highs, f.At(c.costs[i], validation.High))
		}
	}
	if !few {
		slices.Reverse(highs)
		on.Polygon(svg.Area(validationColour).Pale(bandOpacity), append(lows, highs...))
		if c.chosen >= 0 {
			whisker(c.costs[c.chosen], &c.points[c.chosen].Test, 0, testColour)
		}
	}
}

// marks draws the curves and a group for each tree.
func (c *frontierChart) marks(on *svg.Canvas, f *Frame) {
	var validation, test []svg.Point
	for _, i := range c.order {
		if auc := c.judged[i]; auc != nil && !c.faint[i] {
			validation = append(validation, f.At(c.costs[i], *auc))
		}
		if auc := c.points[i].Test.AUC; auc != nil {
			test = append(test, f.At(c.costs[i], *auc))
		}
	}
	on.Lines(testLine(), test...)
	on.Lines(validationLine(), validation...)
	for _, i := range c.order {
		on.Group("ec-point", c.tip(i), fmt.Sprintf(` data-point="%d"`, i), func() { c.mark(on, f, i) })
	}
}

// mark draws the marks of a tree.
func (c *frontierChart) mark(on *svg.Canvas, f *Frame, point int) {
	p := &c.points[point]
	around := cmp.Or(c.judged[point], p.Test.AUC) // where the ring is
	if p.Test.AUC != nil {
		on.Triangle(svg.Area(testColour), f.At(c.costs[point], *p.Test.AUC), c.radius)
	}
	if auc := c.judged[point]; auc != nil {
		style := svg.Area(validationColour)
		if c.faint[point] {
			style = style.Pale(faintOpacity)
		}
		on.Circle(style, f.At(c.costs[point], *auc), c.radius)
	}
	if point == c.chosen && around != nil {
		on.Circle(ring(), f.At(c.costs[point], *around), 9)
	}
}

// tip describes the cost and the quality of a tree.
func (c *frontierChart) tip(point int) string {
	p := &c.points[point]
	text := fmt.Sprintf("tree %s: cost %.4g, %d leaves, depth %d\nvalidation AUC %s\ntest AUC %s", textview.Number(p.Tree),
		c.costs[point], p.Leaves, p.Depth, partOf(&p.Validation), partOf(&p.Test))
	if p.Folds != nil {
		text += fmt.Sprintf("\nAUC on the folds %.4f", *p.Folds)
	}
	return text
}

// partOf writes an area with its interval.
func partOf(p *metric.Judgement) string {
	if p.AUC == nil {
		return "-"
	}
	if p.Interval == nil {
		return fmt.Sprintf("%.4f", *p.AUC)
	}
	return fmt.Sprintf("%.4f (%.3f to %.3f)", *p.AUC, p.Low, p.High)
}

// summary describes the picture in a sentence.
func (c *frontierChart) summary() string {
	first := c.costs[c.order[0]]
	last := c.costs[append(c.order, c.dear...)[len(c.points)-1]]
	text := fmt.Sprintf("%d trees that cost %.4g to %.4g", len(c.points), first, last)
	if c.chosen < 0 {
		return text
	}
	p := &c.points[c.chosen]
	text += fmt.Sprintf("; the run's tree %s: cost %.4g, %d leaves", textview.Number(p.Tree), c.costs[c.chosen], p.Leaves)
	if p.Validation.AUC != nil {
		text += fmt.Sprintf(", validation AUC %.4f", *p.Validation.AUC)
	} else if p.Folds != nil {
		text += fmt.Sprintf(", AUC on the folds %.4f", *p.Folds)
	}
	if p.Test.AUC != nil {
		text += fmt.Sprintf(", test AUC %.4f", *p.Test.AUC)
	}
	return text
}
