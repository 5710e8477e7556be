package counting

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// Shape holds the sizes of an entry's key and of its sums.
type Shape struct {
	Words    int // words in a key, which are always exact, at least one
	Numbers  int // probabilities
	Counters int
}

// Table counts rows by their keys. It is a hash table.
//
// The table has at most 2^22 probabilities, so 2,097,152 entries with two. As long as the distinct
// keys fit, it is exact. Otherwise rows share an entry if their probabilities differ only in the
// lowest bits. As few bits as possible are lost for all rows to fit, and the probabilities of an
// entry are the means over its rows. Both depend on the rows alone, not on their order or on the
// order of merges. Words and counters stay exact. While rows are counted, there may be twice as
// many entries. Keys without probabilities are not bounded.
type Table struct {
	shape    Shape
	most     int // greatest number of entries
	level    int // how many of its lowest bits each probability has lost
	keys     []uint64
	rows     []int64 // by entry
	sums     []int64 // by entry, then by probability: sum over rows of the highest bits; only if level > 0
	counters []int64 // by entry, then by counter
	slots    []int32 // entry plus 1; 0 if empty
	passed   []uint64
	key      []uint64
}

// The key of an entry is its words, then the bits of each probability, shifted to the right.
func (t *Table) keyLen() int { return t.shape.Words + t.shape.Numbers }

func (t *Table) len() int { return len(t.rows) }

func (t *Table) keyOf(entry int) []uint64 { return t.keys[entry*t.keyLen():][:t.keyLen()] }

// The greatest values of a shape and of a bound.
const (
	mostNumbers  = 1 << 22
	mostWords    = 1 << 4
	mostCounters = 1 << 18
)

// lastLevel is the level at which probabilities have no bits left.
const lastLevel = 64

// meanBits is how many of the lowest bits of a probability the sums of an entry leave out, so that
// sums over 2^33 rows do not overflow. The bits of a positive number grow roughly like its
// logarithm, so their mean is roughly the mean of the logarithms.
const meanBits = 32

// New returns a table without entries.
func New(s Shape) *Table { return newTable(s, max(1, mostNumbers/max(1, s.Numbers))) }

func newTable(s Shape, most int) *Table {
	return &Table{shape: s, most: most, passed: make([]uint64, s.Words+s.Numbers)}
}

// Bound lowers the number of entries to most, at least 1, before any row is counted.
func (t *Table) Bound(most int) { t.most = max(1, min(t.most, most)) }

// Add counts a row, and returns the counters of its entry. The caller may add to them until the
// next call. The lists of probabilities are concatenated in the key.
func (t *Table) Add(words []uint64, probabilities ...[]float64) []int64 {
	return t.AddRows(1, words, probabilities...)
}

// AddRows is Add for a number of equal rows.
func (t *Table) AddRows(rows int64, words []uint64, probabilities ...[]float64) []int64 {
	t.fitSoon()
	t.key = append(t.key[:0], words...)
	for _, list := range probabilities {
		for _, p := range list {
			t.key = append(t.key, math.Float64bits(p+0)) // -0 becomes 0
		}
	}
	return t.countersOf(t.addRows(t.key, rows))
}

func (t *Table) countersOf(entry int) []int64 {
	n := t.shape.Counters
	return t.counters[entry*n:][:n:n]
}

func (t *Table) sumsOf(entry int) []int64 { return t.sums[entry*t.shape.Numbers:][:t.shape.Numbers] }

// addRows adds rows, with all bits of their probabilities, to an entry, and returns the entry.
func (t *Table) addRows(key []uint64, rows int64) int {
	if t.level == 0 {
		entry := t.entry(key)
		t.rows[entry] += rows
		return entry
	}
	entry := t.entryAt(0, key)
	t.rows[entry] += rows
	sums := t.sumsOf(entry)
	for k, word := range key[t.shape.Words:] {
		sums[k] += rows * int64(word>>meanBits)
	}
	return entry
}

// entryAt returns the entry of a key at level level, which must be at most the level of the table.
func (t *Table) entryAt(level int, key []uint64) int {
	copy(t.passed, key[:t.shape.Words])
	for k := t.shape.Words; k < len(key); k++ {
		t.passed[k] = key[k] >> (t.level - level)
	}
	return t.entry(t.passed)
}

// entry returns the entry of a key, and adds it if it is absent.
func (t *Table) entry(key []uint64) int {
	if 2*t.len() >= len(t.slots) {
		t.grow()
	}
	mask := len(t.slots) - 1
	for at := int(hashOf(key)) & mask; ; at = (at + 1) & mask {
		switch entry := int(t.slots[at]) - 1; {
		case entry < 0:
			t.slots[at] = int32(t.len() + 1)
			t.keys = append(t.keys, key...)
			t.rows = append(t.rows, 0)
			for range t.shape.Counters {
				t.counters = append(t.counters, 0)
			}
			for n := t.shape.Numbers; n > 0 && t.level > 0; n-- {
				t.sums = append(t.sums, 0)
			}
			return t.len() - 1
		case slices.Equal(t.keyOf(entry), key):
			return entry
		}
	}
}

// grow makes room for twice as many entries.
func (t *Table) grow() {
	t.slots = make([]int32, max(16, 2*len(t.slots)))
	more := len(t.slots)/2 - t.len()
	t.keys, t.rows = slices.Grow(t.keys, more*t.keyLen()), slices.Grow(t.rows, more)
	t.counters = slices.Grow(t.counters, more*t.shape.Counters)
	mask := len(t.slots) - 1
	for entry := range t.len() {
		at := int(hashOf(t.keyOf(entry))) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = int32(entry + 1)
	}
}

func hashOf(key []uint64) uint64 {
	h := uint64(0)
	for _, word := range key {
		h = (h ^ word) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h >> 1 // no negative int
}

// fit raises the level to the least at which the number of entries is within the bound; to
// lastLevel if it never is.
func (t *Table) fit() {
	if t.shape.Numbers == 0 || t.len() <= t.most || t.level == lastLevel {
		return
	}
	order := t.sortedBy(t.compareByBits)
	var merging [lastLevel + 1]int // by additional level: entries that merge with the entry before
	for i, entry := range order[1:] {
		if a, b := t.keyOf(order[i]), t.keyOf(entry); slices.Equal(a[:t.shape.Words], b[:t.shape.Words]) {
			_, differ := t.highest(a, b)
			merging[bits.Len64(differ)]++
		}
	}
	up := 1
	left := t.len() - merging[1]
	for left > t.most && t.level+up < lastLevel {
		up++
		left -= merging[up]
	}
	*t = *t.at(t.level + up)
}

// fitSoon is fit, but only once there are twice as many entries as allowed, so that fewer calls are
// needed in all. Methods that read the table call fit first.
func (t *Table) fitSoon() {
	if t.len() > 2*t.most {
		t.fit()
	}
}

// compareByBits orders keys by their words, then by the highest bit of each probability, then by
// the next bit, and so on. So entries that merge at some level are adjacent.
func (t *Table) compareByBits(a, b []uint64) int {
	k, _ := t.highest(a, b)
	return cmp.Or(slices.Compare(a[:t.shape.Words], b[:t.shape.Words]), cmp.Compare(a[k], b[k]))
}

// highest returns the position of the first probability whose difference has the highest bit of
// all, and the difference.
func (t *Table) highest(a, b []uint64) (position int, differ uint64) {
	for k := t.shape.Words; k < len(a); k++ {
		if x := a[k] ^ b[k]; differ < x && differ < differ^x {
			position = k
			differ = x
		}
	}
	return position, differ
}

// at returns the table at a level, which must be at least its own.
func (t *Table) at(level int) *Table {
	to := newTable(t.shape, t.most)
	n := min(t.len(), t.most)
	to.level, to.rows, to.keys = level, make([]int64, 0, n), make([]uint64, 0, n*t.keyLen())
	to.sums = make([]int64, 0, n*t.shape.Numbers)
	to.counters = make([]int64, 0, n*t.shape.Counters)
	to.slots = make([]int32, 1<<bits.Len(uint(2*n)))
	to.addAll(t)
	return to
}

// addAll adds the entries of a table whose level is at most the same.
func (t *Table) addAll(from *Table) {
	for entry := range from.len() {
		var sums []int64
		if from.level > 0 {
			sums = from.sumsOf(entry)
		}
		t.addEntry(from.level, from.keyOf(entry), from.rows[entry], sums, from.countersOf(entry))
	}
}

// addEntry adds an entry whose level is at most the same. sums is nil at level 0.
func (t *Table) addEntry(level int, key []uint64, rows int64, sums, counters []int64) {
	var to int
	if level == 0 {
		to = t.addRows(key, rows)
	} else {
		to = t.entryAt(level, key)
		t.rows[to] += rows
		for k, sum := range sums {
			t.sums[to*t.shape.Numbers+k] += sum
		}
	}
	for k, w := range counters {
		t.counters[to*t.shape.Counters+k] += w
	}
}

// sorted returns the entries in the order of their keys.
func (t *Table) sorted() []int { return t.sortedBy(slices.Compare[[]uint64]) }

// sortedBy returns the entries ordered by their first words, then by compare. It first groups
// entries by their first word, because the keys of one group fit into the L1 cache.
func (t *Table) sortedBy(compare func(a, b []uint64) int) []int {
	type entry struct {
		first uint64
		at    int
	}
	list := make([]entry, t.len())
	for i := range list {
		list[i] = entry{t.keyOf(i)[0], i}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
	order := make([]int, len(list))
	for i := range list {
		order[i] = list[i].at
	}
	from := 0
	for i := range list {
		if i+1 == len(list) || list[i+1].first != list[i].first {
			slices.SortFunc(order[from:i+1], func(a, b int) int { return compare(t.keyOf(a), t.keyOf(b)) })
			from = i + 1
		}
	}
	return order
}

// LostBits returns how many of its lowest bits each probability has lost, up to 64; 0 if the table
// is exact.
func (t *Table) LostBits() int {
	t.fit()
	return t.level
}

// Entry describes the rows with the same key.
type Entry struct {
	Words         []uint64
	Probabilities []float64 // means over the rows, if bits are lost
	Rows          int64
	Counters      []int64
}

// Len returns the number of entries.
func (t *Table) Len() int {
	t.fit()
	return t.len()
}

// Entries returns the entries in the order of their keys.
func (t *Table) Entries() []Entry { return slices.AppendSeq(make([]Entry, 0, t.Len()), t.All()) }

// All iterates over the entries in the order of their keys. The table must not change meanwhile;
// the entries stay valid.
func (t *Table) All() iter.Seq[Entry] { return t.each(t.sorted) }

// Unordered is All in no particular order, which takes less time.
func (t *Table) Unordered() iter.Seq[Entry] {
	return t.each(func() []int {
		order := make([]int, t.len())
		for i := range order {
			order[i] = i
		}
		return order
	})
}

// each iterates over the entries in the order that order returns.
func (t *Table) each(order func() []int) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		t.fit()
		numbers := make([]float64, t.len()*t.shape.Numbers)
		for _, entry := range order() {
			key := t.keyOf(entry)
			p := numbers[:t.shape.Numbers:t.shape.Numbers]
			numbers = numbers[t.shape.Numbers:]
			for k, word := range key[t.shape.Words:] {
				if p[k] = math.Float64frombits(word); t.level > 0 {
					p[k] = meanOf(t.sumsOf(entry)[k], t.rows[entry])
				}
			}
			if !yield(Entry{key[:t.shape.Words:t.shape.Words], p, t.rows[entry], t.countersOf(entry)}) {
				return
			}
		}
	}
}

// meanOf returns the mean of the probabilities of rows, given the sum of their highest bits. The
// bits left out are half of their range on average.
func meanOf(sum, rows int64) float64 {
	mean := float64(sum)/float64(rows) + 0.5
	return min(1, math.Float64frombits(uint64(float64(mean*(1<<meanBits)))))
}

// Append appends the table in a form that does not depend on the order of rows and merges.
func (t *Table) Append(b []byte) []byte {
	t.fit()
	w := wire.Writer(b).Length(t.shape.Words).Length(t.shape.Numbers).Length(t.shape.Counters)
	w = w.Length(t.most).Length(t.level).Length(t.len())
	before := uint64(0)
	for _, entry := range t.sorted() {
		key := t.keyOf(entry)
		w = w.Uvarint(key[0] - before)
		before = key[0]
		for _, word := range key[1:] {
			w = w.Uvarint(word)
		}
		for k := 0; t.level > 0 && k < t.shape.Numbers; k++ {
			w = w.Count(t.sumsOf(entry)[k])
		}
		w = AppendRecord(w, t.rows[entry], Listed(t.countersOf(entry)))
	}
	return w
}

// ErrTable is the error for encoded counts that are cut short, or that have another shape.
var ErrTable = errors.New("counts by probabilities of another tree, or cut short")

// tableReader reads an encoded table.
type tableReader struct {
	Reader

	table *Table // without entries
	count int
}

func newTableReader(b []byte) (*tableReader, error) {
	r := &tableReader{Reader: Reader{Reader: wire.Reader{Rest: b}}}
	var numbers [6]int
	for i, most := range []uint64{mostWords, mostNumbers, mostCounters, mostNumbers, lastLevel, uint64(len(b))} {
		numbers[i] = int(r.AtMost(most))
	}
	if r.Bad || numbers[0] == 0 {
		return nil, ErrTable
	}
	r.table = newTable(Shape{numbers[0], numbers[1], numbers[2]}, numbers[3])
	r.table.level = numbers[4]
	r.count = numbers[5]
	return r, nil
}

// key reads the key of an entry and the sums of its probabilities, given the key before.
func (r *tableReader) key(key []uint64, sums []int64) error {
	key[0] += r.Uvarint()
	for k := 1; k < len(key); k++ {
		most := uint64(math.MaxUint64)
		if k >= r.table.shape.Words {
			most = math.Float64bits(1) >> r.table.level
		}
		key[k] = r.AtMost(most)
	}
	for k := 0; k < len(sums) && r.table.level > 0; k++ {
		sums[k] = r.Count()
	}
	if r.Bad {
		return ErrTable
	}
	return nil
}

// each reads the entries.
func (r *tableReader) each(visit func(key []uint64, rows int64, sums, counters []int64) error) error {
	key := make([]uint64, r.table.keyLen())
	counters := make([]int64, r.table.shape.Counters)
	sums := make([]int64, r.table.shape.Numbers)
	for range r.count {
		if err := r.key(key, sums); err != nil {
			return err
		}
		if err := r.Next(len(counters)); err != nil {
			return err
		}
		most := int64(math.Float64bits(1) >> meanBits)
		if r.Rows <= 0 || slices.ContainsFunc(sums, func(x int64) bool { return x/r.Rows > most }) {
			return ErrTable
		}
		clear(counters)
		for _, s := range r.Shares {
			counters[s.Class] = s.Weight
		}
		if err := visit(key, r.Rows, sums, counters); err != nil {
			return err
		}
	}
	if len(r.Rest) > 0 {
		return ErrTable
	}
	return nil
}

// Merge adds an encoded table of the same shape. A table without rows also takes over its bound.
// check may refuse the words of an entry; nil accepts all. After an error the table is invalid.
func (t *Table) Merge(b []byte, check func(words []uint64) error) error {
	r, err := newTableReader(b)
	if err != nil {
		return err
	}
	return t.mergeFrom(r, check)
}

func (t *Table) mergeFrom(r *tableReader, check func(words []uint64) error) error {
	if t.len() == 0 && r.table.most > 0 {
		t.most = r.table.most
	}
	if r.table.shape != t.shape || r.table.most != t.most {
		return ErrTable
	}
	if r.table.level > t.level {
		*t = *t.at(r.table.level)
	}
	return r.each(func(key []uint64, rows int64, sums, counters []int64) error {
		if check != nil {
			if err := check(key[:t.shape.Words]); err != nil {
				return err
			}
		}
		t.addEntry(r.table.level, key, rows, sums, counters)
		t.fitSoon()
		return nil
	})
}

// Merge adds up encoded tables of the same shape.
func Merge(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	var t *Table
	for _, b := range list {
		r, err := newTableReader(b)
		if err != nil {
			return nil, err
		}
		if t == nil {
			t = newTable(r.table.shape, r.table.most)
		}
		if err := t.mergeFrom(r, nil); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, ErrTable
	}
	return t.Append(nil), nil
}
