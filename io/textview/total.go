package textview

import (
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Total is a clause that compares the cost of the tests and errors of a run's tree, per row, with the cost of errors
// without any test, on the same rows; empty without error costs.
func Total(r *runfolder.Run) string {
	f := &facts{Run: r, write: name}
	return string(f.total())
}

// EvaluatedTotal is the clause of Total for the metrics of a tree on other rows.
func EvaluatedTotal(t *tree.Tree, m *metric.Metrics) string {
	f := &facts{Run: &runfolder.Run{Tree: t}, write: name}
	if !f.pricesErrors(m) {
		return ""
	}
	return string(f.totalOn(m, figureOf(*m.ExpectedCost+*m.ExpectedErrorCost)+f.between(m), "these rows"))
}

// pricesErrors reports whether metrics have the cost of tests and of errors.
func (f *facts) pricesErrors(m *metric.Metrics) bool {
	return f.Tree.Label.ErrorCosts != nil && m.ExpectedErrorCost != nil && m.ExpectedCost != nil
}

func (f *facts) total() written {
	part, m := f.Metrics.Best()
	if !f.pricesErrors(m) {
		return ""
	}
	total := figureOf(*m.ExpectedCost+*m.ExpectedErrorCost) + f.between(m)
	on := part + " rows"
	if p := onFolds(f.Run); p != nil {
		total = figureOf(*p.TotalBeside(p))
		on = "the folds"
	}
	return f.totalOn(m, total, on)
}

// onFolds returns the chosen point of the frontier if neither test nor validation rows measure the tree, and the folds know
// what its errors cost; otherwise nil.
func onFolds(r *runfolder.Run) *runfolder.Point {
	part, _ := r.Metrics.Best()
	if r.Frontier == nil || r.Frontier.Folds == 0 || part != dataset.Train.String() {
		return nil
	}
	chosen := &r.Frontier.Points[chosenOf(r.Frontier.Points)]
	if chosen.ExpectedErrorCost == nil || chosen.ExpectedTotalCost == nil {
		return nil
	}
	return chosen
}

// between returns the interval of the total cost in brackets; empty if undefined.
func (f *facts) between(m *metric.Metrics) string {
	if m.Intervals == nil || m.Intervals.ExpectedTotalCost == nil {
		return ""
	}
	i := m.Intervals.ExpectedTotalCost
	return fmt.Sprintf(" (%s to %s)", figureOf(i.Low), figureOf(i.High))
}

// totalOn compares a total with the costs of errors without any test.
func (f *facts) totalOn(m *metric.Metrics, total, on string) written {
	untested := m.Untested(f.Tree.Label.ErrorCosts)
	least := 0
	for k := range untested {
		if untested[k] < untested[least] {
			least = k
		}
	}
	var texts []string
	for k, cost := range untested {
		if k == least || len(untested) == 2 {
			texts = append(texts, string(f.say("calling every row %s costs %v%s", m.PerClass[k].Class, written(figureOf(cost)), f.unit())))
		}
	}
	return f.say("tests and errors together cost %v%s per row on %v; without tests, %v", written(total), f.unit(), written(on),
		written(strings.Join(texts, ", ")))
}
