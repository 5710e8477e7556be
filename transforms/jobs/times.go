package jobs

import (
	"fmt"
	"iter"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// mostTimes is the greatest count of a line: sums of some millions of them fit 64 bits.
const mostTimes = 1_000_000_000_000

// readCounts reads how many equal rows each line represents.
func (g *rowGroup) readCounts(columns *columnReader) error {
	var v dataset.Vector
	if err := columns.readNumbers(g.spec.Count, &v); err != nil {
		return err
	}
	if v.Type != dataset.Number {
		return g.errorAt(g.spec.Count, v.Spell(0), "the counts are text, expected whole numbers", "name another column with --count")
	}
	g.times = make([]int64, g.rows)
	for r := range g.kept() {
		x := numberAt(&v, r)
		if !(x >= 0 && x <= mostTimes) || x != math.Trunc(x) {
			problem := fmt.Sprintf("the count of %s is not a whole number from 0 to %d", g.rowName(r), int64(mostTimes))
			return g.errorAt(g.spec.Count, v.Spell(r), problem, "a line with the count n is n rows: correct it, or leave the line out; "+
				"--weight takes fractions, the importance of rows")
		}
		g.times[r] = int64(x)
	}
	return nil
}

// kept yields the lines that are not refused.
func (g *rowGroup) kept() iter.Seq[int] {
	return func(yield func(int) bool) {
		refused := g.refused()
		for r := range g.rows {
			if len(refused) > 0 && int(refused[0]) == g.first+r {
				refused = refused[1:]
			} else if !yield(r) {
				return
			}
		}
	}
}

// numberAt returns the number of row r; NaN if it has none.
func numberAt(v *dataset.Vector, r int) float64 {
	if v.Missing(r) {
		return math.NaN()
	}
	if v.Index != nil {
		r = int(v.Index[r])
	}
	return v.Numbers[r]
}

// time returns the number of equal rows that row r represents.
func (g *rowGroup) time(r int) int64 {
	if g.times == nil {
		return 1
	}
	return g.times[r]
}

// divide deals the rows of each line to parts, by the hash of the place of the line.
func (g *rowGroup) divide() {
	parts, times := g.parts, g.times
	g.parts, g.times, g.lines = nil, nil, make([]int32, 0, g.rows)
	add := func(line int, part dataset.Part, rows int64) {
		g.lines, g.parts, g.times = append(g.lines, int32(line)), append(g.parts, part), append(g.times, rows)
	}
	for line, hash := range g.places() {
		if parts[line] == dataset.None {
			add(line, dataset.None, times[line])
			continue
		}
		for part, rows := range g.spec.Shares.Deal(hash, times[line]) {
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
