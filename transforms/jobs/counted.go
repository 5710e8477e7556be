package jobs

import (
	"fmt"
	"iter"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// readCounts reads how many equal rows each line represents.
func (g *rowGroup) readCounts(columns *columnReader) error {
	const expected = "expected a whole number from 0 to 10^12"
	var v dataset.Vector
	if err := columns.readNumbers(g.spec.Count, &v); err != nil {
		// a whole number that floats do not keep exact
		return dataset.ReplaceHint(err, "divide the counts by a constant: a line has at most 10^12 rows")
	}
	counts := make([]int64, g.rows)
	for r := range g.kept() {
		switch x := numberAt(&v, r); {
		case v.Missing(r):
			return g.errorAt(g.spec.Count, "", fmt.Sprintf("the count of %s is missing, %s", g.rowName(r), expected),
				"fill it in (0: no row), or leave the line out")
		case v.Type != dataset.Number:
			return g.errorAt(g.spec.Count, v.Spell(r), fmt.Sprintf("the count of %s is a text, %s", g.rowName(r), expected),
				"name another column with --count")
		case !(x >= 0 && x <= dataset.MostCount) || x != math.Trunc(x):
			return g.errorAt(g.spec.Count, v.Spell(r), fmt.Sprintf("the count of %s is not a whole number from 0 to 10^12", g.rowName(r)),
				"a line with the count n is n rows: correct it, or leave the line out; --weight takes fractions, the importance of rows")
		default:
			counts[r] = int64(x)
		}
	}
	g.counts = counts
	return nil
}

// kept yields the lines that are not refused and represent rows.
func (g *rowGroup) kept() iter.Seq[int] {
	return func(yield func(int) bool) {
		refused := g.refused()
		for r := range g.rows {
			if len(refused) > 0 && int(refused[0]) == g.first+r {
				refused = refused[1:]
			} else if g.countOf(r) > 0 && !yield(r) {
				return
			}
		}
	}
}

// numberAt returns the number of row r; NaN if it has none.
func numberAt(v *dataset.Vector, r int) float64 {
	if v.Missing(r) || v.Type != dataset.Number {
		return math.NaN()
	}
	if v.Index != nil {
		r = int(v.Index[r])
	}
	return v.Numbers[r]
}

// countOf returns the number of equal rows that row r represents.
func (g *rowGroup) countOf(r int) int64 {
	if g.counts == nil {
		return 1
	}
	return g.counts[r]
}

// divide deals the rows of each line to parts, by the hash of the place of the line.
func (g *rowGroup) divide() {
	parts := g.parts
	counts := g.counts
	g.parts = nil
	g.counts = nil
	g.lines = make([]int32, 0, g.rows)
	add := func(line int, part dataset.Part, rows int64) {
		g.lines = append(g.lines, int32(line))
		g.parts = append(g.parts, part)
		g.counts = append(g.counts, rows)
	}
	for line, hash := range g.places() {
		if parts[line] == dataset.None {
			add(line, dataset.None, counts[line])
			continue
		}
		for part, rows := range g.spec.Shares.Deal(hash, counts[line]) {
			if rows > 0 {
				add(line, dataset.Part(part), rows)
			}
		}
	}
	for _, v := range []*dataset.Vector{&g.label, &g.own} {
		if whole := *v; whole.Type != 0 {
			*v = dataset.Vector{}
			pick(v, &whole, g.lines)
		}
	}
}
