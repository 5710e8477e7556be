package textview

import (
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Total is a clause that compares the cost of the tests and errors of a run's tree, per row, with the cost of errors
// without any test, on the same rows; empty without error costs.
func Total(r *runfolder.Run) string {
	f := &facts{Run: r, write: name}
	return string(f.total())
}

func (f *facts) total() written {
	part, m := f.Metrics.Best()
	costs := f.Tree.Label.ErrorCosts
	if costs == nil || m.ExpectedErrorCost == nil || m.ExpectedCost == nil {
		return ""
	}
	total := *m.ExpectedCost + *m.ExpectedErrorCost
	on := part + " rows"
	if all := f.Frontier; all != nil && f.Metrics.Folds != nil && part == dataset.Train.String() {
		if held := all.Points[chosenOf(all.Points)].TotalCost; held != nil {
			total = *held
			on = "the folds"
		}
	}
	untested := m.Untested(costs)
	least := 0
	for k := range untested {
		if untested[k] < untested[least] {
			least = k
		}
	}
	var texts []string
	for k, cost := range untested {
		if k == least || len(untested) == 2 {
			texts = append(texts, string(f.say("calling every row %s costs %v", m.PerClass[k].Class, written(figureOf(cost)))))
		}
	}
	return f.say("tests and errors together cost %v per row on %v; without tests, %v", written(figureOf(total)), written(on),
		written(strings.Join(texts, ", ")))
}
