package modelcard

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/textview"
)

// The greatest numbers of rows of tables.
const (
	maxClasses  = 30
	maxSlices   = 60
	maxFeatures = 30
	maxPoints   = 12
)

// figure writes a metric with its 95 % interval, if there is one.
func figure(x *float64, i *metric.Interval) markdown {
	if x == nil || i == nil {
		return markdown(textview.Figure(x))
	}
	return say("%s (%.3f to %.3f)", textview.Figure(x), i.Low, i.High)
}

// number writes a number with at most four significant digits.
func number(x float64) markdown { return say("%.4g", x) }

// count writes a number of rows.
func count(n int64) markdown { return markdown(humanize.Comma(n)) }

// parts returns the figures of each part.
func (b *builder) parts() *table {
	t := &table{Heads: []string{
		"part", "rows", "AUC", "accuracy", "balanced accuracy", "log loss", "Brier score", "cost", "tests",
	}}
	priced := b.metrics.ExpectedErrorCost != nil
	if priced {
		t.Heads = append(t.Heads, "error cost")
	}
	further := b.Tree.Complexity.Further
	for _, cost := range further.List() {
		t.Heads = append(t.Heads, textview.Name(cost.Unit))
	}
	for _, p := range b.Metrics.Parts() {
		m := p.Metrics
		i := m.Intervals
		if i == nil {
			i = &metric.Intervals{}
		}
		row := []markdown{
			markdown(p.Name), count(m.Rows), figure(m.AUCOvRMacro, i.AUCOvRMacro), figure(m.Accuracy, i.Accuracy),
			figure(m.BalancedAccuracy, i.BalancedAccuracy), figure(m.LogLoss, nil), figure(m.Brier, nil),
			figure(m.ExpectedCost, i.ExpectedCost), figure(m.ExpectedTests, i.ExpectedTests),
		}
		if priced {
			row = append(row, figure(m.ExpectedErrorCost, i.ExpectedErrorCost))
		}
		for _, cost := range further.List() {
			row = append(row, figure(new(m.Further.Of(cost.Unit).ExpectedCost), nil))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// classes returns the figures of each class or, if there are many, of the most frequent classes.
func (b *builder) classes() *table {
	t := &table{Heads: []string{"class", "share of rows", "precision", "recall", "AUC", "average precision"}}
	list := slices.Clone(b.metrics.PerClass)
	if len(list) > maxClasses {
		slices.SortStableFunc(list, func(a, b metric.Class) int { return cmp.Compare(b.Support, a.Support) })
	}
	for i := range list[:visible(len(list), maxClasses)] {
		c := &list[i]
		t.Rows = append(t.Rows, []markdown{
			name(c.Class), percent(c.Prevalence), figure(c.Precision, nil), figure(c.Recall, nil), figure(c.AUC, nil),
			figure(c.AveragePrecision, nil),
		})
	}
	return t.more(len(list) - visible(len(list), maxClasses))
}

// operating returns the operating points of the class of interest, with what they are about; nil without such points.
func (b *builder) operating() (*table, markdown) {
	points, what := textview.OperatingTable(b.Tree, b.metrics, b.part)
	if points == nil {
		return nil, ""
	}
	heads, rows := points.Cells()
	t := &table{Heads: heads}
	for _, row := range rows {
		var cells []markdown
		for _, cell := range row {
			cells = append(cells, escape(cell, math.MaxInt))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, escape(strings.ToUpper(what[:1])+what[1:]+".", math.MaxInt)
}

// more adds a row about the rows that the table leaves out.
func (t *table) more(n int) *table {
	if n > 0 {
		row := make([]markdown, len(t.Heads))
		row[0] = say("and %d others", n)
		t.Rows = append(t.Rows, row)
	}
	return t
}

func percent(share *float64) markdown { return markdown(textview.PercentOf(share)) }

// slices returns the figures of each slice, the worst first; nil if there are no slices.
func (b *builder) slices() *table {
	list := textview.WorstSlices(b.metrics)
	if len(list) == 0 {
		return nil
	}
	t := &table{Heads: []string{"slice", "rows", "share", "AUC", "accuracy", "log loss", "cost", "against all rows"}}
	for i := range list[:visible(len(list), maxSlices)] {
		s := &list[i]
		in := s.Intervals
		if in == nil {
			in = &metric.Intervals{}
		}
		t.Rows = append(t.Rows, []markdown{
			escape(textview.SliceName(&s.SliceRows), math.MaxInt), count(s.Rows), percent(s.Share),
			figure(s.AUCOvRMacro, in.AUCOvRMacro), figure(s.Accuracy, in.Accuracy), figure(s.LogLoss, nil),
			figure(s.ExpectedCost, in.ExpectedCost), markdown(strings.Join(textview.Apart(b.metrics, s), ", ")),
		})
	}
	return t.more(len(list) - visible(len(list), maxSlices))
}

// apart describes the last column of the table of slices.
func (b *builder) apart() markdown {
	return "Below, above: the 95 % interval of the figure does not overlap the interval of all rows. With many slices some do so by " +
		"chance."
}

// features returns what each tested feature contributes and costs; nil if unknown.
func (b *builder) features() *table {
	if b.Importance == nil || len(b.Importance.Features) == 0 {
		return nil
	}
	list := slices.Clone(b.Importance.Features)
	lost := func(x *float64) float64 {
		if x == nil {
			return math.Inf(-1)
		}
		return *x
	}
	t := &table{Heads: []string{"feature", "AUC lost without it", "paid a row", "rows asked"}}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		return cmp.Or(cmp.Compare(lost(list[k].AUCLost), lost(list[i].AUCLost)),
			cmp.Compare(list[k].Impurity, list[i].Impurity))
	})
	for _, i := range order[:visible(len(order), maxFeatures)] {
		f := &list[i]
		t.Rows = append(t.Rows, []markdown{
			name(f.Name), figure(f.AUCLost, nil), number(f.ExpectedCost), percent(&f.RowsAsked),
		})
	}
	return t.more(len(list) - visible(len(list), maxFeatures))
}

// frontier returns trees among which the run chose, at most maxPoints; nil if there was a single
// tree.
func (b *builder) frontier() *table {
	if b.Frontier == nil {
		return nil
	}
	t := &table{Heads: []string{"tree", "cost", "leaves", textview.MeritHead(b.Frontier), "validation AUC", "test AUC", ""}}
	points := b.Frontier.Points
	chosen := 0
	costs := make([]float64, len(points))
	for i := range points {
		costs[i] = points[i].ExpectedCost
		if points[i].Selected {
			chosen = i
		}
	}
	for _, i := range textview.OutlineFrontier(costs, chosen, nil, visible(len(points), maxPoints)) {
		p := &points[i]
		mark := markdown("")
		if p.Selected {
			mark = "chosen"
		}
		t.Rows = append(t.Rows, []markdown{
			name(textview.Number(p.Tree)), number(costs[i]), markdown(strconv.Itoa(p.Leaves)), figure(&p.Merit, nil),
			figure(p.Validation.AUC, p.Validation.Interval), figure(p.Test.AUC, p.Test.Interval), mark,
		})
	}
	return t.more(len(points) - len(t.Rows))
}

// visible returns how many of n rows a table of at most most has, see textview.Visible.
func visible(n, most int) int {
	n, _ = textview.Visible(n, most)
	return n
}
