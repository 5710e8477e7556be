package binning

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Limits bound what a summary keeps. Only summaries with equal limits can be merged.
type Limits struct {
	// Values is the greatest number of distinct values of a numeric column; a column
	// with more is counted in buckets. At least 1.
	Values int
	// Categories is the greatest number of distinct values of a categorical column; the
	// summary of a column with more overflows. At least 1.
	Categories int
}

// DefaultLimits returns 65,536 values and as many categories: the number of codes of two
// bytes.
func DefaultLimits() Limits { return Limits{Values: 1 << 16, Categories: 1 << 16} }

// maxShift is the greatest number of low bits that buckets drop. It leaves 10 bits of
// the fraction: 1,024 buckets per octave, none wider than 0.1 % of its numbers.
const maxShift = 42

// Summary holds the distinct values of a column of the training rows, with their weights. Only one
// goroutine at a time may use it, even for reading.
//
// A numeric column with more than Limits.Values distinct values is counted in buckets. A bucket is
// a float64, as an integer in the same order, without its low bits. The summary drops the fewest
// bits with which the buckets fit the limit, and at most 42. So a bucket is never wider than 0.1 %
// of its numbers, and much finer if the column spans few octaves, as times and coordinates do. A
// bucket is represented by its lower edge, a float64. Cuts are at lower edges, so the weights of
// bins stay exact. A union never drops fewer bits than its parts, and dropping bits in one step or
// in several gives the same result. So the width of the buckets only depends on the union of the
// values.
//
// A categorical column with more than Limits.Categories distinct values overflows: the summary
// keeps the weights, but no values.
type Summary struct {
	kind   dataset.Kind
	typ    dataset.ValueType
	limits Limits

	weight   int64 // weight of the rows with a value
	missing  int64
	overflow bool
	shift    uint8            // number of low bits dropped from the keys of numbers
	numbers  table            // by key
	texts    map[string]int64 // by value, categorical texts only
}

// New returns an empty summary. A numeric column must be of type Number. Limits below 1 count as 1.
// New panics for other kinds and types, which the reader of the schema must refuse.
func New(kind dataset.Kind, typ dataset.ValueType, limits Limits) *Summary {
	if err := checkColumn(kind, typ); err != nil {
		panic(err)
	}
	s := &Summary{kind: kind, typ: typ, limits: Limits{max(1, limits.Values), max(1, limits.Categories)}}
	if typ == dataset.Text {
		s.texts = map[string]int64{}
	}
	return s
}

func checkColumn(kind dataset.Kind, typ dataset.ValueType) error {
	switch {
	case kind == dataset.Numeric && typ == dataset.Number:
	case kind == dataset.Categorical && (typ == dataset.Number || typ == dataset.Text):
	default:
		return fmt.Errorf("binning: no summary of %s columns of type %s", kind, typ)
	}
	return nil
}

// Kind returns the kind of the column.
func (s *Summary) Kind() dataset.Kind { return s.kind }

// Type returns the value type of the column.
func (s *Summary) Type() dataset.ValueType { return s.typ }

// Limits returns the summary's limits.
func (s *Summary) Limits() Limits { return s.limits }

// Missing returns the weight of the rows without a value: null or NaN.
func (s *Summary) Missing() int64 { return s.missing }

// Weight returns the weight of the rows with a value.
func (s *Summary) Weight() int64 { return s.weight }

// Overflow reports whether a categorical column has more distinct values than
// Limits.Categories.
func (s *Summary) Overflow() bool { return s.overflow }

// Exact reports whether the summary has the column's own values: neither buckets nor an overflow.
func (s *Summary) Exact() bool {
	s.settle()
	return s.shift == 0 && !s.overflow
}

// Distinct returns the number of distinct values or buckets, 0 after an
// overflow.
func (s *Summary) Distinct() int {
	s.settle()
	return s.numbers.n + len(s.texts)
}

// AddVector adds the rows at the given positions of a row group's column. weights[r] is
// the positive weight of row r; if weights is nil, every row weighs 1. AddVector panics
// if the type of v differs from the summary's.
func (s *Summary) AddVector(v *dataset.Vector, rows []int32, weights []int64) {
	if v.Type != s.typ {
		panic(fmt.Sprintf("binning: %s vector for a %s summary", v.Type, s.typ))
	}
	if v.Index == nil {
		s.addPlain(v.Numbers, rows, weights)
		return
	}
	s.addDictionary(v, rows, weights)
}

// addPlain looks up values itself, and calls addNumber only for new values, because a call per row
// would take longer than the look-up.
func (s *Summary) addPlain(numbers []float64, rows []int32, weights []int64) {
	slots, shift, low := s.numbers.slots, s.numbers.shift, s.shift
	var found int64
rows:
	for _, r := range rows {
		x := numbers[r]
		w := int64(1)
		if weights != nil {
			w = weights[r]
		}
		if len(slots) > 0 && x == x {
			key := numberKey(x) >> (low & 63) << (low & 63)
			for at := slotOf(key, shift); ; at++ {
				e := &slots[at&uint64(len(slots)-1)]
				if e.key == key {
					e.weight += w
					found += w
					continue rows
				}
				if e.key == keyNone {
					break
				}
			}
		}
		s.addNumber(x, w)
		slots, shift, low = s.numbers.slots, s.numbers.shift, s.shift
	}
	s.weight += found
}

// addDictionary sums up the rows by position in the dictionary, so that it looks up each value once
// instead of once per row.
func (s *Summary) addDictionary(v *dataset.Vector, rows []int32, weights []int64) {
	values := len(v.Numbers)
	if v.Type == dataset.Text {
		values = len(v.Texts)
	}
	scratch, _ := countsPool.Get().(*[]int64)
	if scratch == nil {
		scratch = new([]int64)
	}
	defer countsPool.Put(scratch)
	*scratch = slices.Grow((*scratch)[:0], values+1)
	counts := (*scratch)[:values+1] // counts[0] is for index -1, missing
	clear(counts)
	if weights == nil {
		for _, r := range rows {
			counts[v.Index[r]+1]++
		}
	} else {
		for _, r := range rows {
			counts[v.Index[r]+1] += weights[r]
		}
	}
	s.missing += counts[0]
	if s.typ == dataset.Number && s.numbers.n == 0 {
		s.numbers.reserve(min(present(counts[1:]), s.limits.Values))
	}
	for i, w := range counts[1:] {
		switch {
		case w == 0:
		case s.typ == dataset.Text:
			s.addText(v.Texts[i], w)
		default:
			s.addNumber(v.Numbers[i], w)
		}
	}
}

// present returns the number of counts above zero.
func present(counts []int64) (n int) {
	for _, w := range counts {
		if w > 0 {
			n++
		}
	}
	return n
}

// countsPool keeps weights by position in a dictionary.
var countsPool sync.Pool //nolint:gochecknoglobals // a pool

func (s *Summary) addNumber(x float64, w int64) {
	if x != x {
		s.missing += w
		return
	}
	s.weight += w
	s.addKey(numberKey(x)>>s.shift<<s.shift, w)
}

// addKey adds weight to a key without its dropped bits.
func (s *Summary) addKey(key uint64, w int64) {
	if s.overflow {
		return
	}
	before := s.numbers.n
	s.numbers.add(key, w)
	if s.numbers.n != before {
		s.grown()
	}
}

// grown enforces the limits after a new value. Until the numbers are read, there may be twice as
// many as the limit, so that bits are dropped in few large steps.
func (s *Summary) grown() {
	switch {
	case s.kind == dataset.Categorical && s.numbers.n+len(s.texts) > s.limits.Categories:
		s.drop()
	case s.kind == dataset.Numeric && s.numbers.n/2 > s.limits.Values:
		s.settle()
	}
}

func (s *Summary) addText(text string, w int64) {
	s.weight += w
	if s.overflow {
		return
	}
	if old, ok := s.texts[text]; ok {
		s.texts[text] = old + w
		return
	}
	s.texts[strings.Clone(text)] = w // a copy, because text may share the memory of a whole page
	s.grown()
}

// drop marks the overflow, and drops all values.
func (s *Summary) drop() {
	s.overflow = true
	s.numbers = table{}
	if s.texts != nil {
		s.texts = map[string]int64{}
	}
}

// settle drops low bits of the keys until the limit is met. All methods that read the numbers call
// it first.
func (s *Summary) settle() {
	if s.kind != dataset.Numeric || s.numbers.n <= s.limits.Values || s.shift == maxShift {
		return
	}
	s.coarsen(s.fitting(s.numbers.sorted()))
}

// fitting returns the least number of dropped bits with which the sorted keys fit the limit.
func (s *Summary) fitting(list []entry) uint8 {
	// Two neighbouring keys merge if the highest bit in which they differ is dropped.
	var merging [65]int
	for i := 1; i < len(list); i++ {
		merging[bits.Len64(list[i-1].key^list[i].key)]++
	}
	n := len(list)
	for shift := range uint8(maxShift) {
		n -= merging[shift]
		if n <= s.limits.Values {
			return shift
		}
	}
	return maxShift
}

// coarsen drops the shift low bits of all keys.
func (s *Summary) coarsen(shift uint8) {
	if shift <= s.shift {
		return
	}
	old := s.numbers
	s.shift = shift
	s.numbers = table{}
	s.numbers.reserve(min(old.n, s.limits.Values))
	for e := range old.scattered() {
		s.numbers.add(e.key>>shift<<shift, e.weight)
	}
}

// Merge adds the rows of another summary with the same kind, type and limits. It does not change
// other.
func (s *Summary) Merge(other *Summary) error {
	switch {
	case s.kind != other.kind || s.typ != other.typ:
		return fmt.Errorf("binning: summary of a %s column of type %s cannot take in one of a %s column of type %s",
			s.kind, s.typ, other.kind, other.typ)
	case s.limits != other.limits:
		return fmt.Errorf("binning: summary with limits %+v cannot take in one with %+v", s.limits, other.limits)
	case s == other:
		return errors.New("binning: a summary cannot take itself in")
	}
	s.missing += other.missing
	s.weight += other.weight
	if s.overflow || other.overflow {
		s.drop()
		return nil
	}
	s.coarsen(other.shift)
	for e := range other.numbers.scattered() {
		s.addKey(e.key>>s.shift<<s.shift, e.weight)
	}
	for text, w := range other.texts { // the order does not matter, even if the summary overflows
		if s.overflow {
			break
		}
		s.texts[text] += w
		s.grown()
	}
	return nil
}

// Numbers returns the distinct values in ascending order, with their weights. If the
// summary is not Exact, it returns the lower edges of the buckets. It is empty for texts.
func (s *Summary) Numbers() (values []float64, weights []int64) {
	list := s.entries()
	values = make([]float64, len(list))
	weights = make([]int64, len(list))
	for i, e := range list {
		values[i] = keyNumber(e.key)
		weights[i] = e.weight
	}
	return values, weights
}

// entries returns the settled entries in ascending order.
func (s *Summary) entries() []entry {
	s.settle()
	return s.numbers.sorted()
}

// Range returns the least and the greatest number or, if the summary is not Exact, bounds of them.
// It is nil if there are no numbers, or if the least or the greatest is infinite.
func (s *Summary) Range() []float64 {
	s.settle()
	if s.numbers.n == 0 {
		return nil
	}
	least := uint64(math.MaxUint64)
	greatest := uint64(0)
	for e := range s.numbers.scattered() {
		least = min(least, e.key)
		greatest = max(greatest, e.key)
	}
	greatest |= 1<<s.shift - 1 // the greatest key of the last bucket
	if low, high := keyNumber(least), keyNumber(greatest); !math.IsInf(low, 0) && !math.IsInf(high, 0) && high == high {
		return []float64{low, high}
	}
	return nil
}

// Spelled returns the distinct values in the spelling of categories and classes, with
// their weights: numbers in ascending order, texts in byte order.
func (s *Summary) Spelled() (values []string, weights []int64) {
	if s.typ == dataset.Text {
		values = slices.Sorted(maps.Keys(s.texts))
		weights = make([]int64, len(values))
		for i, v := range values {
			weights[i] = s.texts[v]
		}
		return values, weights
	}
	numbers, weights := s.Numbers()
	values = make([]string, len(numbers))
	for i, x := range numbers {
		values[i] = dataset.SpellNumber(x)
	}
	return values, weights
}
