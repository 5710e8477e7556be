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
	MaybeKey           // chance would make more values equal, but a measurement on a grid, such as a time, has the same look
	Numbering          // numbers of rows, or ranks, with gaps or without
	Key
	Boundless // more texts than a feature may have
	Unseen    // most new rows are expected to have a text that no training row has
)

// fewRows is the least number of rows with a text by which a column may be Unseen: the expected share of 100 rows has a
// standard error of at most 0.1.
const fewRows = 100

// chancePairs is the number of pairs of equal values that measurements have on average where a column without any is
// taken for a key: chance gives none in one of 3,000 columns.
const chancePairs = 8

// farthestFirst is the greatest number that the first training row has: the rows before it are in other parts.
const farthestFirst = 64

// Identity returns whether the values of a column are keys. s has the given number of rows, out of all. Keys are texts or
// whole numbers, each in one row. Numbers are maybe keys if some rows have none, as are numberings but for one row, which
// repeats a number. Whole numbers may also be counts, prices or times: keys have a name of
// keys; numberings are at least half of the numbers between the least and the greatest, begin near 0, and have no name of
// a time: the years of yearly rows are a measurement. Texts of which more than half of new rows would have another are Unseen.
func (s *Summary) Identity(name string, rows, all int64) Identity {
	rows -= s.missing
	repeats := s.repeats(rows)
	switch {
	case s.overflow && s.typ == dataset.Text:
		return Boundless
	case s.typ == dataset.Text && (s.missing > 0 || repeats > 0):
		if rows >= fewRows && s.Unseen(rows+s.missing) > 0.5 {
			return Unseen
		}
		return NoKey
	case s.overflow, repeats > 1:
		return NoKey
	}
	width := float64(rows)
	first := 0.0
	if observed := s.Range(); observed != nil {
		width = observed[1] - observed[0] + 1
		first = min(math.Abs(observed[0]), math.Abs(observed[1]))
	}
	likely := float64(rows)*float64(rows)/(2*width) >= chancePairs
	numbering := likely && width <= 2*float64(all) && first <= farthestFirst && !namesTimes(name)
	switch {
	case repeats > 0 && numbering, repeats == 0 && s.missing > 0 && likely:
		return MaybeKey
	case repeats > 0, s.missing > 0:
		return NoKey
	case s.typ == dataset.Number && rows > 1 && namesKeys(name), s.typ == dataset.Text && likely:
		return Key
	case numbering:
		return Numbering
	case likely:
		return MaybeKey
	default:
		return NoKey
	}
}

// Unseen returns the share of new rows expected to have a text that the given number of rows lacks: the share of the rows with
// a text whose text no other row has (Good and Turing). If rows have weights, whose sums do not tell which texts occur once,
// Unseen returns the least share that this many texts allow.
func (s *Summary) Unseen(rows int64) float64 {
	if s.weight+s.missing != rows {
		return float64(2*int64(len(s.texts))-rows) / float64(rows)
	}
	once := 0
	for _, n := range s.texts {
		if n == 1 {
			once++
		}
	}
	return float64(once) / float64(s.weight)
}

// repeats returns the number of rows whose text or whole number another of the rows has, without the first row of each; all
// rows if some have other numbers. In buckets, it is the least number that their whole numbers leave: measurements fill some
// bucket with more.
func (s *Summary) repeats(rows int64) int64 {
	if s.typ == dataset.Text {
		return rows - int64(len(s.texts))
	}
	list := s.entries()
	if s.shift == 0 {
		if slices.ContainsFunc(list, func(e entry) bool { return keyNumber(e.key) != math.Trunc(keyNumber(e.key)) }) {
			return rows
		}
		return rows - int64(len(list))
	}
	if s.weight != rows {
		return rows
	}
	more := 0.0
	for _, e := range list {
		last := keyNumber(e.key | (1<<s.shift - 1))
		if n := float64(e.weight) - (math.Floor(last) - math.Ceil(keyNumber(e.key)) + 1); n > 0 { // false for the bucket of infinity
			more += n
		}
	}
	return int64(more)
}

// namesKeys reports whether the last word of a name is a usual one for keys: Id, customer_id, rownames, "Unnamed: 0".
func namesKeys(name string) bool {
	last := lastWord(name)
	of, isID := strings.CutSuffix(last, "id")
	return isID && slices.Contains(holders, of) ||
		slices.Contains([]string{"ids", "uid", "uuid", "guid", "rowname", "rownames", "rownum", "unnamed"}, last)
}

// holders have ids: customerid is a name of keys, paid is none.
var holders = []string{ //nolint:gochecknoglobals // a table
	"", "account", "application", "booking", "case", "claim", "client", "company", "contract", "customer", "device", "employee",
	"encounter", "event", "household", "invoice", "item", "listing", "loan", "member", "movie", "order", "participant",
	"passenger", "patient", "payment", "person", "player", "policy", "product", "record", "respondent", "row", "sample", "session",
	"store", "student", "subject", "ticket", "transaction", "trip", "user", "visit",
}

// namesTimes reports whether the last word of a name is a usual one for points in time, or its plural.
func namesTimes(name string) bool {
	return slices.Contains([]string{
		"year", "yr", "quarter", "month", "week", "day", "date", "hour", "minute", "second", "time",
	}, strings.TrimSuffix(lastWord(name), "s"))
}

// lastWord returns the last word of a name in small letters.
func lastWord(name string) string {
	words := strings.FieldsFunc(spaced(name), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(words[len(words)-1])
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
