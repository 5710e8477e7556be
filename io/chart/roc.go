package chart

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// maxCurves is the greatest number of curves: each has its own pair of colour and dashes.
const maxCurves = 26

// curve is the ROC curve of a class.
type curve struct {
	*metric.Class

	number int // of the class
}

// tip names the class and its area.
func (c *curve) tip() string {
	if c.AUC == nil {
		return report.Name(c.Class.Class)
	}
	return fmt.Sprintf("%s: AUC %.4f", report.Name(c.Class.Class), *c.AUC)
}

// style returns the colour and the dashes of a class. Neighbours differ in both.
func (c *curve) style() draw.LineStyle {
	colours := []uint32{blue, vermillion, green, black, orange, purple, sky}
	dashes := [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 2, 2, 2}}
	return dashed(line(colours[c.number%len(colours)], 1.6), dashes[c.number%len(dashes)]...)
}

// ROC draws the ROC curve of each class against the rest, on test rows, else on validation
// rows. Of two classes it is the second's alone: the first's is its mirror image. Of more than
// 26 those with most rows have a curve. class names one class; empty: all. An error says what
// the metrics lack.
func ROC(m *runfolder.Metrics, class string) (*Picture, error) {
	part, of, err := curved(m)
	if err != nil {
		return nil, err
	}
	curves, note, err := curvesOf(of, class)
	if err != nil {
		return nil, err
	}
	for _, c := range curves {
		if err := checkCurve(c.Class); err != nil {
			return nil, err
		}
	}
	p := &Picture{title: "ROC curves on " + part + " rows", height: 430}
	p.notes = []string{note}
	p.words = note
	for _, c := range curves {
		p.words += "; " + c.tip()
	}
	x := axis{"false positive rate: share of the other classes' rows", 0, 1, 6}
	y := axis{"true positive rate: share of the class's rows", 0, 1, 6}
	const side = 440
	left := p.area()
	left.Max.X = left.Min.X + side
	p.frame = p.frameOf(newPlot(x, y), left)
	p.content = func(on *paper, area vg.Rectangle) {
		list := area
		area.Max.X = area.Min.X + side
		list.Min.X = area.Max.X + 2*margin
		axes := on.plot(x, y)
		lines := func(d draw.Canvas, axes *plot.Plot) { drawCurves(on, d, axes, curves) }
		axes.Add(layer(grid), layer(diagonal), layer(lines))
		axes.Draw(draw.Canvas{Canvas: on.Canvas, Rectangle: area})
		listCurves(on, list, curves)
	}
	return p, nil
}

// curved returns the part whose curves are drawn.
func curved(m *runfolder.Metrics) (part string, of *metric.Metrics, err error) {
	earlier := false // some area has no curve
	for _, p := range slices.Backward(m.Parts()) {
		if slices.ContainsFunc(p.Metrics.PerClass, func(c metric.Class) bool { return c.ROC != nil }) {
			return p.Name, p.Metrics, nil
		}
		earlier = earlier || p.Name != dataset.Train.String() && p.Metrics.AUCOvRMacro != nil
	}
	reason := "there are no validation or test rows of two classes or more"
	if earlier {
		reason = "an earlier version has written it; train again"
	}
	return "", nil, errors.New("metrics.json has no ROC curves: " + reason)
}

// curvesOf returns the curves to draw, in the order of the classes, and a note on them.
func curvesOf(m *metric.Metrics, class string) (curves []*curve, note string, err error) {
	for i := range m.PerClass {
		c := &curve{&m.PerClass[i], i}
		if class != "" && c.Class.Class == class {
			if c.ROC == nil {
				return nil, "", fmt.Errorf("class %s has no ROC curve: none or all of the rows are of it", report.Name(class))
			}
			c.number = 0
			return []*curve{c}, "class " + report.Name(class) + " against the rest", nil
		}
		if c.ROC != nil {
			curves = append(curves, c)
		}
	}
	if class != "" {
		names := make([]string, len(m.PerClass))
		for i := range m.PerClass {
			names[i] = m.PerClass[i].Class
		}
		return nil, "", fmt.Errorf("no class is called %s: the classes are %s", report.Name(class),
			report.Listed(names, report.Name))
	}
	if len(m.PerClass) == 2 {
		curves = curves[1:]
		curves[0].number = 0
		note = fmt.Sprintf("class %s against %s", report.Name(m.PerClass[1].Class), report.Name(m.PerClass[0].Class))
		return curves, note, nil
	}
	note = fmt.Sprintf("each of %d classes against the rest", len(m.PerClass))
	if m.AUCOvRMacro != nil {
		note += fmt.Sprintf("; mean AUC %.4f", *m.AUCOvRMacro)
	}
	if all := len(curves); all > maxCurves {
		slices.SortStableFunc(curves, func(a, b *curve) int { return cmp.Compare(b.Support, a.Support) })
		curves = curves[:maxCurves]
		slices.SortFunc(curves, func(a, b *curve) int { return cmp.Compare(a.number, b.number) })
		for i, c := range curves {
			c.number = i
		}
		note += fmt.Sprintf("; the %d of %d classes with most rows", maxCurves, all)
	}
	return curves, note, nil
}

// diagonal draws the line of what knows nothing.
func diagonal(d draw.Canvas, axes *plot.Plot) {
	style := dashed(draw.LineStyle{Color: grey(), Width: 0.75}, 3, 3)
	d.StrokeLines(style, []vg.Point{at(&d, axes, 0, 0), at(&d, axes, 1, 1)})
}

func drawCurves(on *paper, d draw.Canvas, axes *plot.Plot, curves []*curve) {
	for _, c := range curves {
		points := make([]vg.Point, len(c.ROC.FalsePositiveRate))
		for i, x := range c.ROC.FalsePositiveRate {
			points[i] = at(&d, axes, x, c.ROC.TruePositiveRate[i])
		}
		on.group("ec-curve", c.tip(), "", func() { d.StrokeLines(c.style(), points) })
	}
}

// listCurves names the curves, with their areas.
func listCurves(on *paper, area vg.Rectangle, curves []*curve) {
	const row = 15.5
	words, y := style(textSize, ink()), area.Max.Y-row
	figure := aligned(words, draw.XRight)
	on.write(aligned(bold(words), draw.XRight), vg.Point{X: area.Max.X, Y: y + row/2}, "AUC")
	on.write(bold(words), vg.Point{X: area.Min.X + signWidth + signGap, Y: y + row/2}, "class")
	room := area.Max.X - area.Min.X - signWidth - signGap - 60
	for _, c := range curves {
		y -= row
		on.StrokeLine2(c.style(), area.Min.X, y, area.Min.X+signWidth, y)
		name := fitted(words, report.Name(c.Class.Class), room)
		on.write(words, vg.Point{X: area.Min.X + signWidth + signGap, Y: y}, name)
		on.write(figure, vg.Point{X: area.Max.X, Y: y}, report.Figure(c.AUC))
	}
}
