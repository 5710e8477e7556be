package binning

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Identity is how far the values of a column are keys of the rows, such as row numbers and names of customers.
type Identity int

// The identities of columns.
const (
	NoKey     Identity = iota
	MaybeKey           // chance would make some values equal, but a measurement on a grid, such as a time, has the same look
	Numbering          // numbers of rows, or ranks, with gaps or without
	Key
)

// chancePairs is the number of pairs of equal values that measurements have on average where a column without any is
// taken for a key: chance gives none in one of 3,000 columns.
const chancePairs = 8

// Identity returns whether the values of a column are keys. s has the given number of rows, out of all. Keys are texts or
// whole numbers, each in one row. Numbers are maybe keys if some rows have none. Whole numbers may also be counts, prices or times: keys have a name of
// keys; numberings are at least half of the numbers between the least and the greatest.
func (s *Summary) Identity(name string, rows, all int64) Identity {
	rows -= s.missing
	if s.missing > 0 && s.typ == dataset.Text || s.overflow || !s.different(rows) {
		return NoKey
	}
	width := float64(rows)
	if observed := s.Range(); observed != nil {
		width = observed[1] - observed[0] + 1
	}
	likely := float64(rows)*float64(rows)/(2*width) >= chancePairs
	switch {
	case s.missing > 0 && likely:
		return MaybeKey
	case s.missing > 0:
		return NoKey
	case s.typ == dataset.Number && rows > 1 && namesKeys(name), s.typ == dataset.Text && likely:
		return Key
	case likely && width <= 2*float64(all):
		return Numbering
	case likely:
		return MaybeKey
	default:
		return NoKey
	}
}

// different reports whether each row has a text or a whole number of its own. In buckets, there are at most as many rows as
// whole numbers: measurements fill some bucket with more.
func (s *Summary) different(rows int64) bool {
	if s.typ == dataset.Text {
		return int64(len(s.texts)) == rows
	}
	list := s.entries()
	if s.shift == 0 {
		return int64(len(list)) == rows && !slices.ContainsFunc(list, func(e entry) bool {
			x := keyNumber(e.key)
			return x != math.Trunc(x)
		})
	}
	return s.weight == rows && !slices.ContainsFunc(list, func(e entry) bool {
		last := keyNumber(e.key | (1<<s.shift - 1))
		return float64(e.weight) > math.Floor(last)-math.Ceil(keyNumber(e.key))+1
	})
}

// namesKeys reports whether the last word of a name is a usual one for keys: Id, customer_id, rownames, "Unnamed: 0".
func namesKeys(name string) bool {
	words := strings.FieldsFunc(spaced(name), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return false
	}
	return slices.Contains([]string{
		"id", "ids", "uid", "uuid", "guid", "rowid", "rowname", "rownames", "rownum", "userid", "customerid", "unnamed",
	}, strings.ToLower(words[len(words)-1]))
}

// spaced puts a blank before each capital letter that follows a small one.
func spaced(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
