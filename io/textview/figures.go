package textview

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// FiguresTable returns a table of the parts' metrics. The cost is the billed cost, and skill is the
// skill of the log loss: see metric.Metrics.
func FiguresTable(parts []runfolder.MeasuredPart) *Table {
	t := NewTable(Column{Head: "part", Left: true}, Column{Head: "rows"}, Column{Head: "AUC"},
		Column{Head: "95 %", Rank: 3},
		Column{Head: "accuracy", Rank: 1}, Column{Head: "balanced", Rank: 4}, Column{Head: "log loss", Rank: 5}, Column{Head: "skill", Rank: 7},
		Column{Head: "Brier", Rank: 6},
		Column{Head: "cost"}, Column{Head: "tests", Rank: 2})
	priced := slices.ContainsFunc(parts, func(p runfolder.MeasuredPart) bool { return p.Metrics.ExpectedErrorCost != nil })
	if priced {
		t.Columns = append(t.Columns, Column{Head: "error cost"})
	}
	var units []string
	for _, p := range parts {
		for _, cost := range p.Metrics.Further.List() {
			if !slices.Contains(units, cost.Unit) {
				units = append(units, cost.Unit)
				t.Columns = append(t.Columns, Column{Head: name(cost.Unit)})
			}
		}
	}
	for _, p := range parts {
		m := p.Metrics
		row := []string{
			p.Name, strconv.FormatInt(m.Rows, 10), Figure(m.AUCOvRMacro), areaInterval(m.Intervals), Figure(m.Accuracy),
			Figure(m.BalancedAccuracy),
			Figure(m.LogLoss), Figure(m.LogLossSkill), Figure(m.Brier), Figure(m.ExpectedCost), Figure(m.ExpectedTests),
		}
		if priced {
			row = append(row, Figure(m.ExpectedErrorCost))
		}
		for _, unit := range units {
			row = append(row, Figure(new(m.Further.Of(unit).ExpectedCost)))
		}
		t.Add(row...)
	}
	return t
}

// Figure writes a metric with four digits; "-" if it is undefined.
func Figure(x *float64) string {
	return orDash(x, func(x float64) string { return fmt.Sprintf("%.4f", x) })
}

// orDash writes a figure; "-" if it is undefined.
func orDash(x *float64, write func(float64) string) string {
	if x == nil {
		return "-"
	}
	return write(*x)
}

// PercentOf writes a share; "-" if it is undefined.
func PercentOf(share *float64) string { return orDash(share, Percent) }

// Accuracy formats the accuracy, followed by the accuracy of always predicting the most frequent
// class of the rows; "-" if it is undefined.
func Accuracy(m *metric.Metrics) string {
	if m.Accuracy == nil || len(m.PerClass) == 0 {
		return Figure(m.Accuracy)
	}
	most := mostFrequent(m)
	return fmt.Sprintf("%s (always %s: %s)", Figure(m.Accuracy), strconv.Quote(most.Class), Figure(most.Prevalence))
}

// mostFrequent returns the most frequent class of the rows.
func mostFrequent(m *metric.Metrics) metric.Class {
	return slices.MaxFunc(m.PerClass, func(a, b metric.Class) int { return cmp.Compare(a.Support, b.Support) })
}

// Area writes the area under the ROC curve with its 95 % interval.
func Area(m *metric.Metrics) string {
	if m.Intervals == nil || m.Intervals.AUCOvRMacro == nil {
		return Figure(m.AUCOvRMacro)
	}
	return fmt.Sprintf("%s (%s)", Figure(m.AUCOvRMacro), areaInterval(m.Intervals))
}

func areaInterval(i *metric.Intervals) string {
	if i == nil {
		return "-"
	}
	return intervalOf(i.AUCOvRMacro)
}
