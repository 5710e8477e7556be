package drift

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Column describes the codes of a column, or of the leaves of a tree.
type Column struct {
	Ordered bool // whether neighbouring codes have neighbouring values
	Other   int  // code of unlisted values; -1: none
	Missing int  // code of missing values; -1: none
}

// ColumnOf returns the description of a feature's codes.
func ColumnOf(f *dataset.Feature) Column {
	return Column{Ordered: f.Kind == dataset.Numeric || f.Ordered, Other: f.OtherCode(), Missing: f.MissingCode()}
}

// Sample holds the rows of a column by code.
type Sample struct {
	Rows []int64
	// Effect is the design effect of rows that come in groups, see DesignEffect: the rows count as
	// 1/Effect times as many independent rows. 0: the rows are independent.
	Effect float64
	// Keys holds, by code, the number of buckets of keys (see dataset.Bucket) that have such rows. nil: unknown.
	Keys []int64
}

// effect returns the design effect, at least 1.
func (s *Sample) effect() float64 { return max(1, s.Effect) }

const (
	// leastExpected is the least number of independent rows that both samples expect in a bin of the
	// chi-square test. With fewer rows, its distribution differs from chi-square at the small levels that
	// many columns need.
	leastExpected = 10
	// orderedBins is about the greatest number of bins of ordered values. Fewer, larger bins need fewer rows
	// to find a shift of all values.
	orderedBins = 10
	// aloneTimes is how many times the least number of rows of a bin a category needs to be a bin of its own. At
	// the least number itself, chance would decide which categories are alone, and those have more rows than
	// they would have on another day.
	aloneTimes = 4
	// mostRare is the share of rows with a rare value from which a column has no shares to compare.
	mostRare = 0.9
	// mostUncertain is the share of rows with a value of fewer than leastExpected independent rows from which
	// the number of keys of each value must be known.
	mostUncertain = 0.01
)

// Reasons why a column is left out.
const (
	ownValues   = "nearly every row has a value of its own"
	unknownKeys = "many values are rare, and it is not known how many keys have each"
)

// apart is the place in bins.of of codes that are too rare for the chi-square test.
const apart = -1

// bins are the bins of a comparison. They depend on the rows before and on the number of the rows now, but not on
// the distribution of the rows now: bins chosen by that would differ by chance.
type bins struct {
	of       []int     // by code: its bin, or apart
	expected []float64 // by bin: rows before, see findRare
	apart    float64   // rows before whose codes are apart

	seldom  []bool  // by code: whether its values are rare, see findRare
	rare    float64 // rows before that count as rows with such values
	effect  float64 // design effect of the rows before in the bins
	spread  float64 // design effect of the rare rows, relative to the effect of the sample
	leftOut string  // reason why the column cannot be compared
}

// bins returns the bins for a number of independent rows now. Both samples must have rows.
func (c *Column) bins(before *Sample, now float64) *bins {
	n := float64(Rows(before.Rows))
	b := &bins{
		of: make([]int, len(before.Rows)), seldom: make([]bool, len(before.Rows)), effect: before.effect(), spread: 1,
	}
	rows := make([]float64, len(before.Rows))
	for code, k := range before.Rows {
		rows[code] = float64(k)
	}
	if c.Other >= 0 {
		c.findRare(b, before, rows)
	}
	least := leastExpected * max(b.effect, n/now)
	left := c.merge(b, rows, least, n)
	if c.Other < 0 {
		b.add(left, least)
	} else {
		for _, code := range left.codes {
			b.seldom[code] = true
		}
		b.rare += left.rows
		all := merged{rows: b.rare}
		for code, is := range b.seldom {
			if is {
				all.codes = append(all.codes, code)
			}
		}
		if all.rows < least { // not a bin, so the bins have no error of its share
			b.effect = before.effect()
		}
		b.add(all, least)
	}
	least = leastExpected * max(b.effect, n/now)
	if c.Missing >= 0 {
		b.add(merged{[]int{c.Missing}, rows[c.Missing]}, least)
	}
	return b
}

// merged is a set of codes with their rows before.
type merged struct {
	codes []int
	rows  float64
}

// add adds a bin. Codes with fewer than least rows are apart.
func (b *bins) add(m merged, least float64) {
	at := apart
	if m.rows >= least {
		at = len(b.expected)
		b.expected = append(b.expected, m.rows)
	} else {
		b.apart += m.rows
	}
	for _, code := range m.codes {
		b.of[code] = at
	}
}

// merge merges codes with their neighbours, in the order of codes, until each bin has at least least rows of n.
// It returns the codes after the last bin.
//
// A bin that ends where it has enough rows is an unbiased estimate, even though the rows before decide where it
// ends; so are quantiles. Bins of the most frequent categories would not be: they have more rows by chance.
func (c *Column) merge(b *bins, rows []float64, least, n float64) (open merged) {
	end := least
	alone := aloneTimes * least
	if c.Ordered {
		end = max(end, n/orderedBins)
		alone = max(alone, n/orderedBins)
	}
	for code, k := range rows {
		switch {
		case b.seldom[code] || code == c.Missing:
		case k >= alone:
			b.add(merged{[]int{code}, k}, least)
		default:
			open.codes = append(open.codes, code)
			open.rows += k
			if open.rows >= end {
				b.add(open, least)
				open = merged{}
			}
		}
	}
	if open.rows >= least {
		b.add(open, least)
		open = merged{}
	}
	return open
}

// findRare finds the rare values of a column with unlisted values.
//
// No row before has an unseen value, so the rows before underestimate the share of such values, and overestimate
// the share of seen values. Good (1953) and Robbins (1968): the expected share of the values that are seen at most
// r times is the share of the rows with a value that is seen at most r+1 times. The variance of its error is that
// of as many independent rows, plus (r+1)(r+2) for each value that is seen r+2 times. Here r is 1 or, if the rarest
// values are not listed, how often the rarest listed value is seen. Values that are seen at most r times are
// rare. The rows of the values that are seen r+1 times count as theirs: their number in rows becomes 0.
//
// With keys, a value is seen as often as there are keys that have it.
func (c *Column) findRare(b *bins, before *Sample, rows []float64) {
	n := float64(Rows(before.Rows))
	size := before.effect()
	seen := before.Keys
	if seen == nil {
		seen = before.Rows
	}
	r := int64(1)
	uncertain := rows[c.Other]
	if before.Rows[c.Other] > 0 {
		r = math.MaxInt64
	}
	for code, k := range before.Rows {
		if code == c.Other || code == c.Missing {
			continue
		}
		if rows[code] < leastExpected*size {
			uncertain += rows[code]
		}
		if k > 0 && before.Rows[c.Other] > 0 {
			r = min(r, max(1, seen[code]))
		}
	}
	next := 0.0 // rows of the values that are seen r+2 times
	for code, k := range rows {
		switch {
		case code == c.Missing:
		case code == c.Other || seen[code] <= r:
			b.seldom[code] = true
			b.rare += k
		case seen[code] == r+1:
			b.rare += k
			rows[code] = 0
		case seen[code] == r+2:
			next += k
		}
	}
	switch {
	case b.rare >= mostRare*n:
		b.leftOut = ownValues
	case before.Effect > 0 && before.Keys == nil && uncertain > mostUncertain*n:
		b.leftOut = unknownKeys
	}
	more := float64((float64(r)+1)*next) / size // (r+1)(r+2) for each of these values
	b.spread = 1 + more/(b.rare/size+1)
	if b.rare > 0 && b.rare < n {
		b.effect = float64(size * (1 + more/float64(b.rare/size*(1-b.rare/n))))
	}
}
