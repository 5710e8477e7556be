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

	entries []tallyEntry
	slots   []int32 // 1 + the position of an entry, at its hash or after it; 0: free; a power of 2 of them
	room    []byte  // memory for keys
	bytes   int     // bytes of all keys
}

type tallyEntry struct {
	key  []byte
	hash uint64
	rows int64
}

// Add adds a row.
func (t *Tally) Add(key []byte) {
	if 4*len(t.entries) >= 3*len(t.slots) {
		t.index()
	}
	hash := HashKey(key)
	at := t.slot(hash, key)
	if i := t.slots[at]; i > 0 {
		t.entries[i-1].rows++
		return
	}
	if len(key) > cap(t.room)-len(t.room) {
		const most = 64 << 10 // a larger part may stay unused
		t.room = make([]byte, 0, max(len(key), min(t.bytes, most)))
	}
	from := len(t.room)
	t.room = append(t.room, key...)
	t.entries = append(t.entries, tallyEntry{t.room[from:len(t.room):len(t.room)], hash, 1})
	t.slots[at] = int32(len(t.entries))
	t.bytes += len(key)
}

// slot returns the slot of a key, or the free slot where it belongs.
func (t *Tally) slot(hash uint64, key []byte) uint64 {
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		i := t.slots[at]
		if i == 0 {
			return at
		}
		if e := &t.entries[i-1]; e.hash == hash && bytes.Equal(e.key, key) {
			return at
		}
	}
}

// index enters all entries into new slots.
func (t *Tally) index() {
	slots := 16
	for 3*slots <= 4*len(t.entries) {
		slots *= 2
	}
	t.slots = make([]int32, slots)
	for i := range t.entries {
		t.slots[t.slot(t.entries[i].hash, t.entries[i].key)] = int32(i + 1)
	}
}

// Bytes returns the approximate memory of the tally, in bytes.
func (t *Tally) Bytes() int {
	const perEntry = 64 // the entry and its slots
	return t.bytes + perEntry*len(t.entries)
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
	slices.SortFunc(t.entries, func(a, b tallyEntry) int { return bytes.Compare(a.key, b.key) })
	t.slots = nil // Add enters the entries again
	dst = appendTallyHead(slices.Grow(dst, tallyHeadBytes+t.bytes+4*len(t.entries)), t.Dropped, len(t.entries))
	for i := range t.entries {
		dst = appendTallied(dst, t.entries[i].key, t.entries[i].rows)
	}
	return dst
}

// tallyHeadBytes is the greatest length of the part of a tally before its keys.
const tallyHeadBytes = 1 + 2*binary.MaxVarintLen64

func appendTallyHead(dst []byte, dropped int64, keys int) []byte {
	return wire.Writer(dst).Byte(tallyVersion).Count(dropped).Length(keys)
}

func appendTallied(dst, key []byte, rows int64) []byte {
	return wire.Writer(dst).Bytes(key).Count(rows)
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
	// The number of keys is known at the end, so the head is put before them then.
	dst := make([]byte, tallyHeadBytes, tallyHeadBytes+len(one)+len(other))
	keys := 0
	moreA := a.Next()
	moreB := b.Next()
	for moreA || moreB {
		order := -1
		switch {
		case !moreA:
			order = 1
		case moreB:
			order = bytes.Compare(a.Key, b.Key)
		}
		var key []byte
		var rows int64
		if order <= 0 {
			key = a.Key
			rows = a.Rows
			moreA = a.Next()
		}
		if order >= 0 {
			key = b.Key
			rows += b.Rows
			moreB = b.Next()
		}
		if rows > maxBlockCount {
			return nil, errTally
		}
		dst = appendTallied(dst, key, rows)
		keys++
	}
	if err := errors.Join(a.Err(), b.Err()); err != nil {
		return nil, err
	}
	return headTally(dst, a.Dropped+b.Dropped, keys), nil
}

// headTally puts the head of a tally before its keys, for which dst has room.
func headTally(dst []byte, dropped int64, keys int) []byte {
	head := appendTallyHead(nil, dropped, keys)
	dst = dst[tallyHeadBytes-len(head):]
	copy(dst, head)
	return dst
}
