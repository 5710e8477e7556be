package chart

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// maxCurves is the greatest number of curves: each has its own pair of colour and dashes.
const maxCurves = 26

// curve is the ROC curve of a class.
type curve struct {
	*metric.Class

	number int // index of the class
}

// tip names the class and its area.
func (c *curve) tip() string {
	if c.AUC == nil {
		return textview.Name(c.Class.Class)
	}
	return fmt.Sprintf("%s: AUC %.4f", textview.Name(c.Class.Class), *c.AUC)
}

// style returns the colour and the dashes of a class. Neighbours differ in both.
func (c *curve) style() svg.Style {
	colours := []svg.Colour{svg.Blue, svg.Vermillion, svg.Green, svg.Ink, svg.Orange, svg.Purple, svg.Sky}
	dashes := [][]float64{nil, {7, 3}, {2, 2}, {9, 2, 2, 2}}
	return svg.Line(colours[c.number%len(colours)], 1.6, dashes[c.number%len(dashes)]...)
}

// ROC draws the ROC curve of each class against its complement, on test rows if there are any,
// otherwise on validation rows. For two classes it only draws the curve of the second class,
// because the first class has its mirror image. If there are more than 26 classes, it draws the
// curves of the classes with the most rows. class names a single class; empty: all. The error
// describes what the metrics lack.
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
	p := &Picture{Title: "ROC curves on " + part + " rows", Height: 430, Notes: []string{note}, Words: note}
	for _, c := range curves {
		p.Words += "; " + c.tip()
	}
	const side = 440
	left := p.area()
	left.Right = left.Left + side
	axes := NewAxes(left, newAxis("false positive rate: share of the other classes' rows", 0, 1, 6),
		newAxis("true positive rate: share of the class's rows", 0, 1, 6))
	p.frame = &axes.Frame
	p.Draw = func(on *svg.Canvas, area svg.Box) {
		axes.Draw(on)
		on.Lines(diagonal(), axes.At(0, 0), axes.At(1, 1))
		drawCurves(on, p.frame, curves)
		area.Left += side + 2*Margin
		listCurves(on, area, curves)
	}
	return p, nil
}

// curved returns the part whose curves are drawn.
func curved(m *runfolder.Metrics) (part string, of *metric.Metrics, err error) {
	earlier := false // whether some area has no curve
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
				return nil, "", fmt.Errorf("class %s has no ROC curve: none or all of the rows are of it", textview.Name(class))
			}
			c.number = 0
			return []*curve{c}, "class " + textview.Name(class) + " against the rest", nil
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
		return nil, "", fmt.Errorf("no class is called %s: the classes are %s", textview.Name(class),
			textview.Listed(names, textview.Name))
	}
	if len(m.PerClass) == 2 {
		if len(curves) < 2 {
			return nil, "", fmt.Errorf("%s: only one of two classes has a ROC curve; the file is damaged", runfolder.MetricsName)
		}
		curves = curves[1:]
		curves[0].number = 0
		note = fmt.Sprintf("class %s against %s", textview.Name(m.PerClass[1].Class), textview.Name(m.PerClass[0].Class))
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

// diagonal is the style of the curve of a classifier without information.
func diagonal() svg.Style { return svg.Line(svg.Soft, 0.75, 3, 3) }

func drawCurves(on *svg.Canvas, f *Frame, curves []*curve) {
	for _, c := range curves {
		points := make([]svg.Point, len(c.ROC.FalsePositiveRate))
		for i, x := range c.ROC.FalsePositiveRate {
			points[i] = f.At(x, c.ROC.TruePositiveRate[i])
		}
		on.Group("ec-curve", c.tip(), "", func() { on.Lines(c.style(), points...) })
	}
}

// listCurves names the curves, with their areas.
func listCurves(on *svg.Canvas, area svg.Box, curves []*curve) {
	const row = 15.5
	const names = SignWidth + signGap
	words := plain()
	y := area.Top + row/2
	on.Text(aligned(bold(), svg.Right), svg.Point{X: area.Right, Y: y}, "AUC")
	on.Text(bold(), svg.Point{X: area.Left + names, Y: y}, "class")
	room := area.Right - area.Left - names - 60
	y += row / 2
	for _, c := range curves {
		y += row
		left := svg.Point{X: area.Left, Y: y}
		on.Lines(c.style(), left, left.Plus(SignWidth, 0))
		on.Text(words, left.Plus(names, 0), words.Fit(textview.Name(c.Class.Class), room))
		on.Text(aligned(words, svg.Right), svg.Point{X: area.Right, Y: y}, textview.Figure(c.AUC))
	}
}
