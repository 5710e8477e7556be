package conformance

import (
	"math"
	"math/rand/v2"
)

// Table is a small data set. It has a numeric feature with missing values (NaN), a
// categorical feature, and a label with one null (an empty text).
type Table struct {
	Number []float64
	Text   []string
	Label  []string
}

// NewTable draws a table with a number of rows. Every call draws the same rows.
func NewTable(rows int) *Table {
	random := rand.New(rand.NewPCG(1, 2))
	t := &Table{}
	for r := range rows {
		x := float64(random.IntN(40)) / 4
		if random.IntN(10) == 0 {
			x = math.NaN()
		}
		t.Number = append(t.Number, x)
		t.Text = append(t.Text, string(rune('a'+random.IntN(5))))
		label := "no"
		if x > 5 != (random.IntN(8) == 0) {
			label = "yes"
		}
		if r == 3 {
			label = ""
		}
		t.Label = append(t.Label, label)
	}
	return t
}
