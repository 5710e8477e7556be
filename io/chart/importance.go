package chart

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// maxBars is the greatest number of features in a picture.
const maxBars = 30

// bars is a column of bars: a figure for each feature.
type bars struct {
	head   string
	colour svg.Colour
	of     func(f *importance.Feature) *float64
	none   string // text in place of an absent figure
}

// Importance draws what each tested feature contributes: the AUC that the tree loses without it,
// and this loss per unit of its cost; or the decrease of entropy, if no loss was measured. Features
// are sorted by descending loss, at most 30 of them. The error describes what the document lacks.
func Importance(m *runfolder.Importance) (*Picture, error) {
	if len(m.Features) == 0 {
		return nil, errors.New("the tree tests no feature: importance.json is empty")
	}
	if err := checkImportance(m); err != nil {
		return nil, err
	}
	measured := slices.ContainsFunc(m.Features, func(f importance.Feature) bool { return f.AUCLost != nil })
	columns := []bars{{"fall of entropy, bits a row", svg.Blue, impurity, ""}}
	title := "What each feature brings"
	note := "no AUC was measured: the fall of entropy by the tests on a feature"
	if measured {
		columns = []bars{{"AUC lost", svg.Blue, lost, "not measured"}, {"AUC lost by unit of cost", svg.Orange, lostPerCost, "free"}}
		note = fmt.Sprintf("the AUC that the tree loses on %s rows if a feature is permuted", m.Part)
		if m.AUC != nil {
			note += fmt.Sprintf("; it has %.4f", *m.AUC)
		}
	}
	features := slices.SortedStableFunc(slices.Values(m.Features), func(a, b importance.Feature) int {
		return cmp.Or(cmp.Compare(orNothing(columns[0].of(&b)), orNothing(columns[0].of(&a))),
			cmp.Compare(b.Impurity, a.Impurity))
	})
	if n := len(features); n > maxBars {
		features = features[:maxBars]
		note += fmt.Sprintf("; the first %d of %d features", maxBars, n)
	}
	p := &Picture{Title: title, Notes: []string{note}, Words: note, Height: float64(barRow*len(features)) + barRow}
	for i := range features {
		p.Words += fmt.Sprintf("; %s %s", textview.Name(features[i].Name), figureOf(columns[0].of(&features[i]), "-"))
	}
	p.Draw = func(on *svg.Canvas, area svg.Box) { drawBars(on, area, features, columns) }
	return p, nil
}

func impurity(f *importance.Feature) *float64    { return &f.Impurity }
func lost(f *importance.Feature) *float64        { return f.AUCLost }
func lostPerCost(f *importance.Feature) *float64 { return f.AUCPerCost }

// orNothing returns a figure, or a number below all figures if it is absent.
func orNothing(x *float64) float64 {
	if x == nil {
		return -2
	}
	return *x
}

// figureOf formats a figure with at most four digits after the decimal point, fewer for large
// figures.
func figureOf(x *float64, none string) string {
	switch {
	case x == nil:
		return none
	case *x >= 100 || *x <= -100:
		return strconv.FormatFloat(*x, 'g', 4, 64)
	case *x != 0 && *x < 0.0001 && *x > -0.0001:
		return strconv.FormatFloat(*x, 'g', 2, 64)
	}
	return strconv.FormatFloat(*x, 'f', 4, 64)
}

// Sizes of bars, in points.
const (
	barRow    = 20
	barHeight = 13.
	nameWidth = 190
	figureGap = 5
)

// drawBars draws a row for each feature: its name, and a bar with its figure in each column.
func drawBars(on *svg.Canvas, area svg.Box, features []importance.Feature, columns []bars) {
	words := plain()
	names := 0.0
	for i := range features {
		names = max(names, words.Width(words.Fit(textview.Name(features[i].Name), nameWidth)))
	}
	wide := (area.Right - area.Left - names) / float64(len(columns))
	left := func(column int) float64 { return area.Left + names + float64(wide*float64(column)) + 2*figureGap }
	for k := range columns {
		on.Text(bold(), svg.Point{X: left(k), Y: area.Top + barRow/2}, columns[k].head)
	}
	for i := range features {
		f := &features[i]
		y := area.Top + float64(barRow*(float64(i)+1.5))
		on.Group("ec-feature", featureTip(f), "", func() {
			on.Text(aligned(words, svg.Right), svg.Point{X: area.Left + names, Y: y},
				words.Fit(textview.Name(f.Name), nameWidth))
			for k := range columns {
				columns[k].draw(on, svg.Point{X: left(k), Y: y}, wide-2*figureGap, features, i)
			}
		})
	}
}

// draw draws the bar of a feature and its figure in a given place and width. Bars of negative
// figures extend to the left; there is no bar if the figure is absent.
func (b *bars) draw(
	on *svg.Canvas, left svg.Point, width float64, features []importance.Feature, feature int,
) {
	words := small()
	var low, high, figures float64
	for i := range features {
		if x := b.of(&features[i]); x != nil {
			low = min(low, *x)
			high = max(high, *x)
		}
		figures = max(figures, words.Width(figureOf(b.of(&features[i]), b.none)))
	}
	span := high - low
	if span == 0 {
		span = 1
	}
	place := func(x float64) float64 { return left.X + float64((width-figures-2*figureGap)*((x-low)/span)) }
	x := b.of(&features[feature])
	zero := svg.Point{X: place(0), Y: left.Y}
	end := zero.X
	if x != nil {
		bar := svg.Box{Left: min(zero.X, place(*x)), Top: left.Y - barHeight/2, Bottom: left.Y + barHeight/2}
		bar.Right = max(zero.X, place(*x))
		on.Rect(svg.Area(b.colour), bar, 0)
		end = bar.Right
	}
	on.Lines(svg.Line(svg.Soft, 0.75), zero.Plus(0, -barRow/2), zero.Plus(0, barRow/2))
	on.Text(words, svg.Point{X: end + figureGap, Y: left.Y}, figureOf(x, b.none))
}

// featureTip describes what a feature contributes and costs.
func featureTip(f *importance.Feature) string {
	return fmt.Sprintf("%s: AUC lost %s, by unit of cost %s; fall of entropy %.4f bits a row; paid %.4g a row; "+
		"asked of %s of the rows", textview.Name(f.Name), figureOf(f.AUCLost, "-"), figureOf(f.AUCPerCost, "-"), f.Impurity,
		f.ExpectedCost, textview.Percent(f.RowsAsked))
}
