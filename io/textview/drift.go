package textview

import "github.com/espalier-ml/espalier/io/runfolder"

// DriftTable returns the table of drift: a line for each column, and one for the leaves.
func DriftTable(d *runfolder.Drift) *Table {
	t := NewTable(Column{Head: "column", Left: true}, Column{Head: "PSI"},
		Column{Head: "chi square", Rank: 2}, Column{Head: "p"},
		Column{Head: "moved most", Left: true, Rank: 1}, Column{Head: "before"}, Column{Head: "now"},
		Column{Head: "", Left: true})
	for _, b := range d.All() {
		alarm := ""
		switch {
		case b.Alarm:
			alarm = "drift"
		case b.LeftOut != "":
			alarm = "left out"
		}
		t.Add(b.Column, fourDigits(b.PSI), fourDigits(b.ChiSquare), fourDigits(b.P),
			b.Moved.Bin, Percent(b.Moved.Before), Percent(b.Moved.Now), alarm)
	}
	return t
}
