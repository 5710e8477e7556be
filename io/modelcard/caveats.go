package modelcard

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/textview"
)

// fewRows is the number of rows of a class below which a caveat mentions the class.
const fewRows = 200

// caveats are the reservations about the tree that follow from the documents.
func (b *builder) caveats() []markdown {
	var list []markdown
	add := func(told bool, format string, args ...any) {
		if told {
			list = append(list, say(format, args...))
		}
	}
	m := b.metrics
	t := &b.Tree.Training
	add(b.part == dataset.Validation.String(), "There is no test part: the figures are of the rows by which the tree was "+
		"chosen, and too good.")
	add(b.part == dataset.Train.String(), "There are neither test nor validation rows: the figures are of the "+
		"rows that the tree was grown from, and too good.")
	class, rows := rarest(m)
	add(rows < fewRows, "Only %.0f of the %s rows are of the class %s: figures of it are rough, as their intervals say.",
		rows, b.part, class)
	if c := m.Calibration; c != nil {
		add(c.FarOff(), "Probabilities are %s: do not read them as they are.", markdown(textview.OffBy(c, textview.ThreeDecimals)))
	}
	worse := b.worse()
	for _, slice := range worse[:min(len(worse), mostWorse)] {
		add(true, "The tree is worse where %s: look at other such rows before you rely on it there.", slice)
	}
	add(len(worse) > mostWorse, "The tree is also worse on %d further slices of the table.", len(worse)-mostWorse)
	add(len(t.ClassWeights) > 0, "Training rows were weighed by their classes: probabilities are those of classes "+
		"as frequent as the weights make them.")
	add(t.CutLeaves > 0, "A deadline came first: %d leaves would have been split further.", t.CutLeaves)
	add(true, "Values that training did not have go where the tree sends unseen ones: `espalier predict` counts them by "+
		"column, and `--max_unseen` refuses too many.")
	add(true, "The figures hold for rows like these. Measure the tree again as times change: "+
		"`espalier evaluate --model RUN --input NEW`.")
	return list
}

// mostWorse is the greatest number of slices that caveats name.
const mostWorse = 5

// worse names the slices on which the tree is worse than on all rows, beyond chance.
func (b *builder) worse() []markdown {
	var list []markdown
	for _, s := range textview.WorstSlices(b.metrics) {
		apart := textview.Apart(b.metrics, &s)
		if slices.Contains(apart, "AUC below") || slices.Contains(apart, "accuracy below") {
			list = append(list, escape(textview.SliceName(&s.SliceRows), math.MaxInt))
		}
	}
	return list
}

// rarest returns the class with the fewest rows, and their number.
func rarest(m *metric.Metrics) (class string, rows float64) {
	for k := range m.PerClass {
		c := &m.PerClass[k]
		n := 0.0
		if m.Weight > 0 {
			n = float64(c.Support) / float64(m.Weight) * float64(m.Rows)
		}
		if k == 0 || n < rows {
			class = c.Class
			rows = n
		}
	}
	return class, rows
}
