package report

// DriftRow is a line of the table of drift: a column, or the leaves.
type DriftRow struct {
	Column            string
	PSI               float64
	KolmogorovSmirnov *float64 // nil: its bins have no order
	JensenShannon     float64
	ChiSquare, P      float64
	Bin               string // whose share has changed most
	Before, Now       float64
	Alarm             bool
}

// DriftTable returns the table of drift.
func DriftTable(rows []DriftRow) *Table {
	t := NewTable(Column{Head: "column", Left: true}, Column{Head: "PSI"}, Column{Head: "KS", Rank: 3},
		Column{Head: "JS", Rank: 2}, Column{Head: "chi square", Rank: 4}, Column{Head: "p"},
		Column{Head: "moved most", Left: true, Rank: 1}, Column{Head: "before"}, Column{Head: "now"},
		Column{Head: "", Left: true})
	for i := range rows {
		r := &rows[i]
		ks, alarm := "", ""
		if r.KolmogorovSmirnov != nil {
			ks = fourDigits(*r.KolmogorovSmirnov)
		}
		if r.Alarm {
			alarm = "drift"
		}
		t.Add(r.Column, fourDigits(r.PSI), ks, fourDigits(r.JensenShannon), fourDigits(r.ChiSquare), fourDigits(r.P), r.Bin,
			Percent(r.Before), Percent(r.Now), alarm)
	}
	return t
}
