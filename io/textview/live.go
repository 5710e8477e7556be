package textview

import (
	"strconv"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// LiveTable returns a table of the live figures of a tree, by day and in all. The calibration is its
// expected error, which excludes what chance explains.
func LiveTable(t *runfolder.LiveTree) *Table {
	table := NewTable(Column{Head: "day", Left: true}, Column{Head: "predictions", Rank: 1}, Column{Head: "labelled"},
		Column{Head: "AUC"}, Column{Head: "95 %", Rank: 3}, Column{Head: "accuracy"}, Column{Head: "log loss", Rank: 4},
		Column{Head: "calibration", Rank: 2}, Column{Head: "cost"})
	add := func(name string, d *runfolder.LiveDay) {
		row := []string{name, strconv.FormatInt(d.Predictions, 10), strconv.FormatInt(d.Labelled, 10)}
		if m := d.Metrics; m != nil {
			row = append(row, Figure(m.AUCOvRMacro), areaInterval(m.Intervals), Figure(m.Accuracy), Figure(m.LogLoss),
				Figure(m.Calibration.ExpectedError), Figure(m.ExpectedCost))
		} else {
			row = append(row, "-", "-", "-", "-", "-", "-")
		}
		table.Add(row...)
	}
	for i := range t.Days {
		add(t.Days[i].Day, &t.Days[i])
	}
	add("all", &t.All)
	return table
}

// ShadowText describes how often a tree was another tree of predict; empty if never.
func ShadowText(t *runfolder.LiveTree) string {
	switch t.All.Shadow {
	case 0:
		return ""
	case t.All.Predictions:
		return ", in shadow"
	default:
		return ", in shadow for " + strconv.FormatInt(t.All.Shadow, 10) + " predictions"
	}
}
