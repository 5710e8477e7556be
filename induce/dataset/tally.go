package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Tally counts equal rows of a stream: opaque keys, each with the weight and the number of
// its rows. The encoding does not depend on the order of the rows. The merged tallies of
// parts of the rows equal the tally of all rows. A tally belongs to one goroutine at a
// time.
//
// Weights are whole numbers until the first fractional weight, then in units of
// 1/TallyScale.
type Tally struct {
	Dropped int64 // number of rows left out

	at      map[string]int32 // entries by key
	entries []tallyEntry
	bytes   int
	scaled  bool
}

type tallyEntry struct {
	key          []byte
	weight, rows int64
}

// TallyScale is the number of units in a weight of 1, if some weight is fractional.
const TallyScale = 1_000_000

// Add adds a row of a positive weight, in units of 1/TallyScale. whole says that
// the weight is a whole number.
func (t *Tally) Add(key []byte, weight int64, whole bool) {
	if !whole && !t.scaled {
		t.scale()
	}
	if !t.scaled {
		weight /= TallyScale
	}
	i, ok := t.at[string(key)]
	if !ok {
		if t.at == nil {
			t.at = make(map[string]int32)
		}
		i = int32(len(t.entries))
		t.entries = append(t.entries, tallyEntry{key: slices.Clone(key)})
		t.at[string(key)] = i
		t.bytes += len(key)
	}
	t.entries[i].weight += weight
	t.entries[i].rows++
}

func (t *Tally) scale() {
	t.scaled = true
	for i := range t.entries {
		t.entries[i].weight *= TallyScale
	}
}

// Bytes returns the approximate memory of the tally, in bytes.
func (t *Tally) Bytes() int {
	const perEntry = 120 // the entry, its key, and its share of the map
	return 2*t.bytes + perEntry*len(t.entries)
}

// Empty reports whether no row was added or dropped.
func (t *Tally) Empty() bool { return len(t.entries) == 0 && t.Dropped == 0 }

// The flags of an encoded tally.
const (
	tallyWeighted = 1 << iota // the number of rows follows the weight, as some rows weigh other than 1
	tallyScaled               // weights are in units of 1/TallyScale
)

// tallyVersion opens encoded tallies.
const tallyVersion = 1

// AppendBinary appends the tally to dst:
//
//	version, flags   1 byte each
//	dropped, keys    uvarints
//	per key          in byte order: length, bytes, weight, and the rows if flag 1 is set
func (t *Tally) AppendBinary(dst []byte) []byte {
	sorted := slices.SortedFunc(slices.Values(t.entries),
		func(a, b tallyEntry) int { return bytes.Compare(a.key, b.key) })
	w := newTallyWriter(dst, t.Dropped, sorted, t.scaled)
	for i := range sorted {
		w.put(&sorted[i])
	}
	return w.b
}

type tallyWriter struct {
	b        []byte
	weighted bool
}

func newTallyWriter(dst []byte, dropped int64, entries []tallyEntry, scaled bool) *tallyWriter {
	w := &tallyWriter{weighted: scaled ||
		slices.ContainsFunc(entries, func(e tallyEntry) bool { return e.weight != e.rows })}
	var flags byte
	if w.weighted {
		flags |= tallyWeighted
	}
	if scaled {
		flags |= tallyScaled
	}
	w.b = binary.AppendUvarint(append(dst, tallyVersion, flags), uint64(dropped))
	w.b = binary.AppendUvarint(w.b, uint64(len(entries)))
	return w
}

func (w *tallyWriter) put(e *tallyEntry) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(e.key))), e.key...)
	w.b = binary.AppendUvarint(w.b, uint64(e.weight))
	if w.weighted {
		w.b = binary.AppendUvarint(w.b, uint64(e.rows))
	}
}

var errTally = errors.New("not an encoded tally")

// TallyReader reads an encoded tally, key by key in byte order.
type TallyReader struct {
	Dropped int64
	Keys    int  // number of keys
	Scaled  bool // weights are in units of 1/TallyScale

	// The key read by Next, with its weight and rows.
	Key          []byte
	Weight, Rows int64

	rest     []byte
	left     int
	weighted bool
	bad      bool
}

// ReadTally begins to read a tally.
func ReadTally(b []byte) (*TallyReader, error) {
	const flags = tallyWeighted | tallyScaled
	if len(b) < 2 || b[0] != tallyVersion || b[1]&^flags != 0 {
		return nil, errTally
	}
	r := &TallyReader{rest: b[2:], weighted: b[1]&tallyWeighted != 0, Scaled: b[1]&tallyScaled != 0}
	r.Dropped = r.count()
	n := r.count()
	if r.bad || n > int64(len(r.rest)) || r.Scaled && !r.weighted {
		return nil, errTally
	}
	r.Keys, r.left = int(n), int(n)
	return r, nil
}

func (r *TallyReader) count() int64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || x > maxBlockCount {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return int64(x)
}

// Next reads the next key. It returns false after the last key and at a fault; Err tells
// which.
func (r *TallyReader) Next() bool {
	if r.bad || r.left == 0 {
		return false
	}
	before := r.Key
	n := r.count()
	if r.bad || n > int64(len(r.rest)) {
		r.bad = true
		return false
	}
	r.Key, r.rest = r.rest[:n:n], r.rest[n:]
	r.Weight = r.count()
	r.Rows = r.Weight
	if r.weighted {
		r.Rows = r.count()
	}
	if r.left < r.Keys && bytes.Compare(before, r.Key) >= 0 || r.Weight == 0 || r.Rows == 0 {
		r.bad = true
	}
	r.left--
	return !r.bad
}

// Err returns the fault of the tally after Next has returned false; nil: there is none.
func (r *TallyReader) Err() error {
	if r.bad || r.left == 0 && len(r.rest) > 0 {
		return errTally
	}
	return nil
}

// MergeTallies merges at least one encoded tally.
func MergeTallies(list ...[]byte) ([]byte, error) {
	for len(list) > 1 { // merging in pairs copies each tally log2(len(list)) times
		merged := make([][]byte, 0, (len(list)+1)/2)
		for i := 0; i < len(list); i += 2 {
			if i+1 == len(list) {
				merged = append(merged, list[i])
				continue
			}
			b, err := mergeTwo(list[i], list[i+1])
			if err != nil {
				return nil, err
			}
			merged = append(merged, b)
		}
		list = merged
	}
	return list[0], nil
}

func mergeTwo(one, other []byte) ([]byte, error) {
	a, err := ReadTally(one)
	if err != nil {
		return nil, err
	}
	b, err := ReadTally(other)
	if err != nil {
		return nil, err
	}
	scaled := a.Scaled || b.Scaled
	entries := make([]tallyEntry, 0, max(a.Keys, b.Keys))
	moreA, moreB := a.next(scaled), b.next(scaled)
	for moreA || moreB {
		order := -1
		switch {
		case !moreA:
			order = 1
		case moreB:
			order = bytes.Compare(a.Key, b.Key)
		}
		var e tallyEntry
		if order <= 0 {
			e = tallyEntry{a.Key, a.Weight, a.Rows}
			moreA = a.next(scaled)
		}
		if order >= 0 {
			e = tallyEntry{b.Key, e.weight + b.Weight, e.rows + b.Rows}
			moreB = b.next(scaled)
		}
		if e.weight > maxBlockCount {
			return nil, fmt.Errorf("the weights of equal rows add up to more than 2^62 units of 1/%d", TallyScale)
		}
		entries = append(entries, e)
	}
	if err := errors.Join(a.Err(), b.Err()); err != nil {
		return nil, err
	}
	w := newTallyWriter(make([]byte, 0, len(one)+len(other)), a.Dropped+b.Dropped, entries, scaled)
	for i := range entries {
		w.put(&entries[i])
	}
	return w.b, nil
}

// next is Next. If scaled is true, the weight is in units of 1/TallyScale.
func (r *TallyReader) next(scaled bool) bool {
	if !r.Next() {
		return false
	}
	if scaled && !r.Scaled {
		if r.Weight > maxBlockCount/TallyScale {
			r.bad = true
			return false
		}
		r.Weight *= TallyScale
	}
	return true
}
