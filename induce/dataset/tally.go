package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/wire"
)

// Tally counts equal rows of a stream: opaque keys, each with its number of rows. The encoding does
// not depend on the order of the rows, and merging the tallies of parts of the rows gives the tally
// of all rows. Only one goroutine at a time may use a tally.
type Tally struct {
	Dropped int64 // number of rows left out

	at      map[string]int32 // entries by key
	entries []tallyEntry
	bytes   int
}

type tallyEntry struct {
	key  []byte
	rows int64
}

// Add adds a row.
func (t *Tally) Add(key []byte) {
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
	t.entries[i].rows++
}

// Bytes returns the approximate memory of the tally, in bytes.
func (t *Tally) Bytes() int {
	const perEntry = 112 // the entry, its key, and its share of the map
	return 2*t.bytes + perEntry*len(t.entries)
}

// Empty reports whether no row was added or dropped.
func (t *Tally) Empty() bool { return len(t.entries) == 0 && t.Dropped == 0 }

// tallyVersion opens encoded tallies.
const tallyVersion = 2

// AppendBinary appends the tally to dst:
//
//	version          1 byte
//	dropped, keys    uvarints
//	per key          in byte order: length, bytes, rows
func (t *Tally) AppendBinary(dst []byte) []byte {
	sorted := slices.SortedFunc(slices.Values(t.entries),
		func(a, b tallyEntry) int { return bytes.Compare(a.key, b.key) })
	return appendTally(dst, t.Dropped, sorted)
}

func appendTally(dst []byte, dropped int64, entries []tallyEntry) []byte {
	dst = binary.AppendUvarint(append(dst, tallyVersion), uint64(dropped))
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for i := range entries {
		e := &entries[i]
		dst = append(binary.AppendUvarint(dst, uint64(len(e.key))), e.key...)
		dst = binary.AppendUvarint(dst, uint64(e.rows))
	}
	return dst
}

var errTally = errors.New("not an encoded tally")

// TallyReader reads an encoded tally, key by key in byte order.
type TallyReader struct {
	Dropped int64
	Keys    int // number of keys

	// The key read by Next, with its rows.
	Key  []byte
	Rows int64

	in   wire.Reader
	left int
}

// ReadTally begins to read a tally.
func ReadTally(b []byte) (*TallyReader, error) {
	if len(b) < 1 || b[0] != tallyVersion {
		return nil, errTally
	}
	r := &TallyReader{in: wire.Reader{Rest: b[1:]}}
	r.Dropped = int64(r.in.AtMost(maxBlockCount))
	r.Keys = r.in.Length(1)
	if r.in.Bad {
		return nil, errTally
	}
	r.left = r.Keys
	return r, nil
}

// Next reads the next key. It returns false after the last key, and if the tally is invalid: see
// Err.
func (r *TallyReader) Next() bool {
	if r.in.Bad || r.left == 0 {
		return false
	}
	before := r.Key
	r.Key = r.in.Bytes()
	r.Rows = int64(r.in.AtMost(maxBlockCount))
	if r.left < r.Keys && bytes.Compare(before, r.Key) >= 0 || r.Rows == 0 {
		r.in.Fail()
	}
	r.left--
	return !r.in.Bad
}

// Err returns why the tally is invalid, after Next has returned false; nil if it is valid.
func (r *TallyReader) Err() error {
	if r.in.Bad || r.left == 0 && len(r.in.Rest) > 0 {
		return errTally
	}
	return nil
}

// MergeTallies returns the sum of encoded tallies. There must be at least one tally.
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
	entries := make([]tallyEntry, 0, max(a.Keys, b.Keys))
	moreA, moreB := a.Next(), b.Next()
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
			e = tallyEntry{a.Key, a.Rows}
			moreA = a.Next()
		}
		if order >= 0 {
			e = tallyEntry{b.Key, e.rows + b.Rows}
			moreB = b.Next()
		}
		if e.rows > maxBlockCount {
			return nil, errTally
		}
		entries = append(entries, e)
	}
	if err := errors.Join(a.Err(), b.Err()); err != nil {
		return nil, err
	}
	return appendTally(make([]byte, 0, len(one)+len(other)), a.Dropped+b.Dropped, entries), nil
}
