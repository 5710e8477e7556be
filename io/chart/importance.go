package chart

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// maxBars is the greatest number of features in a picture.
const maxBars = 30

// bars is a column of bars: a figure for each feature.
type bars struct {
	head   string
	colour uint32
	of     func(f *runfolder.FeatureImportance) *float64
	none   string // what stands in place of an absent figure
}

// Importance draws what each tested feature brings: the AUC that the tree loses without it,
// and that loss by unit of its cost; the fall of entropy, where no loss was measured. Features
// stand by falling loss, at most 30. An error says what the document lacks.
func Importance(m *runfolder.Importance) (*Picture, error) {
	if len(m.Features) == 0 {
		return nil, errors.New("the tree tests no feature: importance.json is empty")
	}
	if err := checkImportance(m); err != nil {
		return nil, err
	}
	measured := slices.ContainsFunc(m.Features, func(f runfolder.FeatureImportance) bool { return f.AUCLost != nil })
	columns := []bars{{"fall of entropy, bits a row", blue, impurity, ""}}
	title, note := "What each feature brings", "no AUC was measured: the fall of entropy by the tests on a feature"
	if measured {
		columns = []bars{{"AUC lost", blue, lost, "not measured"}, {"AUC lost by unit of cost", orange, lostPerCost, "free"}}
		note = fmt.Sprintf("the AUC that the tree loses on %s rows if a feature says nothing", m.Part)
		if m.AUC != nil {
			note += fmt.Sprintf("; it has %.4f", *m.AUC)
		}
	}
	features := slices.SortedStableFunc(slices.Values(m.Features), func(a, b runfolder.FeatureImportance) int {
		return cmp.Or(cmp.Compare(orNothing(columns[0].of(&b)), orNothing(columns[0].of(&a))),
			cmp.Compare(b.Impurity, a.Impurity))
	})
	if n := len(features); n > maxBars {
		features = features[:maxBars]
		note += fmt.Sprintf("; the first %d of %d features", maxBars, n)
	}
	p := &Picture{title: title, notes: []string{note}, words: note, height: vg.Length(barRow*len(features)) + barRow}
	for i := range features {
		p.words += fmt.Sprintf("; %s %s", report.Name(features[i].Feature), figureOf(columns[0].of(&features[i]), "-"))
	}
	p.content = func(on *paper, area vg.Rectangle) { drawBars(on, area, features, columns) }
	return p, nil
}

func impurity(f *runfolder.FeatureImportance) *float64    { return &f.Impurity }
func lost(f *runfolder.FeatureImportance) *float64        { return f.AUCLost }
func lostPerCost(f *runfolder.FeatureImportance) *float64 { return f.AUCPerCost }

// orNothing returns a figure, below all others where it is absent.
func orNothing(x *float64) float64 {
	if x == nil {
		return -2
	}
	return *x
}

// figureOf writes a figure with at most four digits behind the point, fewer for large ones.
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
	barHeight = 13
	nameWidth = 190
	figureGap = 5
)

// drawBars draws a row for each feature: its name, and a bar with its figure in each column.
func drawBars(on *paper, area vg.Rectangle, features []runfolder.FeatureImportance, columns []bars) {
	words := style(textSize, ink())
	names := vg.Length(0)
	for i := range features {
		names = max(names, widthOf(words, fitted(words, report.Name(features[i].Feature), nameWidth)))
	}
	wide := (area.Max.X - area.Min.X - names) / vg.Length(len(columns))
	for i := range features {
		f, y := &features[i], area.Max.Y-vg.Length(barRow*(vg.Length(i)+1.5))
		on.group("ec-feature", featureTip(f), "", func() {
			on.write(aligned(words, draw.XRight), vg.Point{X: area.Min.X + names, Y: y},
				fitted(words, report.Name(f.Feature), nameWidth))
			for k := range columns {
				left := area.Min.X + names + vg.Length(wide*vg.Length(k)) + 2*figureGap
				columns[k].draw(on, vg.Point{X: left, Y: y}, wide-2*figureGap, features, i)
			}
		})
	}
	for k := range columns {
		at := vg.Point{X: area.Min.X + names + vg.Length(wide*vg.Length(k)) + 2*figureGap, Y: area.Max.Y - barRow/2}
		on.write(bold(words), at, columns[k].head)
	}
}

// draw draws the bar of a feature and its figure in a place of some width. Bars of negative
// figures go to the left; no bar where the figure is absent.
func (b *bars) draw(on *paper, left vg.Point, width vg.Length, features []runfolder.FeatureImportance, feature int) {
	words := style(tickSize, ink())
	low, high, figures := 0.0, 0.0, vg.Length(0)
	for i := range features {
		if x := b.of(&features[i]); x != nil {
			low, high = min(low, *x), max(high, *x)
		}
		figures = max(figures, widthOf(words, figureOf(b.of(&features[i]), b.none)))
	}
	span := high - low
	if span == 0 {
		span = 1
	}
	place := func(x float64) vg.Length {
		return left.X + vg.Length((width-figures-2*figureGap)*vg.Length((x-low)/span))
	}
	x := b.of(&features[feature])
	end := place(0)
	if x != nil {
		bar := vg.Rectangle{
			Min: vg.Point{X: min(place(0), place(*x)), Y: left.Y - barHeight/2},
			Max: vg.Point{X: max(place(0), place(*x)), Y: left.Y + barHeight/2},
		}
		on.SetColor(rgb(b.colour))
		on.Fill(bar.Path())
		end = bar.Max.X
	}
	on.StrokeLine2(draw.LineStyle{Color: grey(), Width: 0.75}, place(0), left.Y-barRow/2, place(0), left.Y+barRow/2)
	on.write(words, vg.Point{X: end + figureGap, Y: left.Y}, figureOf(x, b.none))
}

// featureTip says what a feature brings and costs.
func featureTip(f *runfolder.FeatureImportance) string {
	return fmt.Sprintf("%s: AUC lost %s, by unit of cost %s; fall of entropy %.4f bits a row; paid %.4g a row; "+
		"asked of %s of the rows", report.Name(f.Feature), figureOf(f.AUCLost, "-"), figureOf(f.AUCPerCost, "-"), f.Impurity,
		f.ExpectedCost, report.Percent(f.RowsAsked))
}
