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
	if held := errorsOnFolds(f.Run); held != nil {
		total = figureOf(*m.ExpectedCost + *held)
		on = "the folds"
	}
	return f.totalOn(m, total, on)
}

// errorsOnFolds returns the cost of errors on the folds, with the optimism of a choice by totals, if neither test nor
// validation rows measure the tree; otherwise nil, as it is if the folds do not know it.
func errorsOnFolds(r *runfolder.Run) *float64 {
	part, _ := r.Metrics.Best()
	if r.Frontier == nil || r.Metrics.Folds == nil || part != dataset.Train.String() {
		return nil
	}
	chosen := &r.Frontier.Points[chosenOf(r.Frontier.Points)]
	if chosen.ErrorCost == nil || chosen.TotalOptimism == nil {
		return chosen.ErrorCost
	}
	return new(*chosen.ErrorCost + *chosen.TotalOptimism)
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
