package textview

import (
	"cmp"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// DriftTable returns the table of drift: a line for each column, and one for the leaves.
func DriftTable(d *runfolder.Drift) *Table {
	t := NewTable(Column{Head: "column", Left: true}, Column{Head: "asked", Left: true}, Column{Head: "PSI"},
		Column{Head: "chi square", Rank: 3}, Column{Head: "p"}, Column{Head: "median", Left: true, Rank: 2},
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
		asked, median := "", ""
		if b.Asked {
			asked = "yes"
		}
		if m := b.Medians; m != nil {
			median = m[0]
			if m[1] != m[0] {
				median = cmp.Or(m[0], "none") + " -> " + cmp.Or(m[1], "none")
			}
		}
		t.Add(b.Column, asked, fourDigits(b.PSI), fourDigits(b.ChiSquare), fourDigits(b.P), median,
			b.Moved.Bin, Percent(b.Moved.Before), Percent(b.Moved.Now), alarm)
	}
	return t
}
