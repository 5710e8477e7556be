package binning

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/wire"
)

// codecVersion is the first byte of an encoded summary.
const codecVersion = 1

const flagOverflow = 1

// AppendBinary appends the summary's encoding to b. Equal summaries have equal
// encodings. The error is always nil; encoding.BinaryAppender requires it.
//
// The encoding has the version, kind, type, flags and number of dropped bits (a byte
// each), both limits, and the weights of rows with and without a value (uvarints).
// Unless the summary overflowed, the number of values follows, then each value with
// its weight, in ascending order. A text is its length and bytes. Numbers are encoded
// by their keys: first a byte with the number of low bits that are zero in all keys,
// then each key without these bits, as the difference to the key before.
func (s *Summary) AppendBinary(b []byte) ([]byte, error) {
	s.settle()
	var flags byte
	if s.overflow {
		flags |= flagOverflow
	}
	w := append(wire.Writer(b), codecVersion, byte(s.kind), byte(s.typ), flags, s.shift)
	w = w.Length(s.limits.Values).Length(s.limits.Categories).Count(s.weight).Count(s.missing)
	switch {
	case s.overflow:
		return w, nil
	case s.typ == dataset.Text:
		return s.appendTexts(w), nil
	default:
		return s.appendNumbers(w), nil
	}
}

func (s *Summary) appendTexts(w wire.Writer) []byte {
	w = w.Length(len(s.texts))
	for _, text := range slices.Sorted(maps.Keys(s.texts)) {
		w = w.Text(text).Count(s.texts[text])
	}
	return w
}

func (s *Summary) appendNumbers(w wire.Writer) []byte {
	list := s.numbers.sorted()
	zeros := commonZeros(list)
	w = w.Length(len(list)).Byte(zeros)
	before := uint64(0)
	for _, e := range list {
		key := e.key >> zeros
		w = w.Uvarint(key - before).Count(e.weight)
		before = key
	}
	return w
}

// commonZeros returns the number of low bits that are zero in all keys.
func commonZeros(list []entry) byte {
	all := uint64(keyZero)
	for _, e := range list {
		all |= e.key
	}
	return byte(bits.TrailingZeros64(all))
}

var errEncoding = errors.New("binning: encoded summary is malformed")

// Decode reads a summary of AppendBinary from the front of b, and returns it with the bytes after
// it. It returns an error for all other bytes, and takes memory in proportion to len(b).
func Decode(b []byte) (s *Summary, rest []byte, err error) {
	d := decoder{wire.Reader{Rest: b}}
	s, err = d.summary()
	if err != nil {
		return nil, nil, err
	}
	return s, d.Rest, nil
}

// decoder reads encoded summaries. After the first fault it reads zeros.
type decoder struct{ wire.Reader }

// positive reads a weight or limit.
func (d *decoder) positive() int64 {
	x := d.Count()
	if x == 0 {
		d.Fail()
	}
	return x
}

func (d *decoder) summary() (*Summary, error) {
	if version := d.Byte(); !d.Bad && version != codecVersion {
		return nil, fmt.Errorf("binning: encoded summary has version %d, want %d", version, codecVersion)
	}
	kind := dataset.Kind(d.Byte())
	typ := dataset.ValueType(d.Byte())
	flags := d.Byte()
	shift := d.Byte()
	limits := Limits{Values: int(d.positive()), Categories: int(d.positive())}
	weight := d.Count()
	missing := d.Count()
	if d.Bad || checkColumn(kind, typ) != nil || flags > flagOverflow || shift > maxShift {
		return nil, errEncoding
	}
	s := New(kind, typ, limits)
	s.missing = missing
	s.shift = shift
	switch {
	case flags&flagOverflow != 0:
		s.weight = weight
		s.drop()
	case typ == dataset.Text:
		d.texts(s)
	default:
		d.numbers(s)
	}
	if d.Bad || s.weight != weight || !s.plausible(flags) {
		return nil, errEncoding
	}
	return s, nil
}

// plausible reports whether adding rows can lead to the state of a decoded summary.
func (s *Summary) plausible(flags byte) bool {
	if s.kind == dataset.Categorical {
		return s.shift == 0 && s.overflow == (flags&flagOverflow != 0) && s.numbers.n <= s.limits.Categories
	}
	return !s.overflow && (s.shift == maxShift || s.numbers.n <= s.limits.Values)
}

func (d *decoder) texts(s *Summary) {
	before := ""
	for i := range d.Length(2) {
		text := d.Text()
		w := d.weight(s)
		if d.Bad || i > 0 && text <= before {
			d.Fail()
			return
		}
		before = text
		s.addText(text, w)
	}
}

func (d *decoder) numbers(s *Summary) {
	n := d.Length(2)
	zeros := d.Byte()
	if d.Bad || zeros > 63 {
		d.Fail()
		return
	}
	list := make([]entry, 0, n)
	const least, most = keyZero - 0x7ff<<52, keyZero + 0x7ff<<52 // the infinities
	key := uint64(0)
	all := uint64(keyZero)
	for range n {
		step := d.Uvarint()
		w := d.weight(s)
		if d.Bad || step == 0 || step > most>>zeros-key>>zeros {
			d.Fail()
			return
		}
		key += step << zeros
		if key < least || key>>s.shift<<s.shift != key {
			d.Fail()
			return
		}
		all |= key
		s.weight += w
		list = append(list, entry{key, w})
	}
	s.numbers = table{n: n, list: list}
	if bits.TrailingZeros64(all) != int(zeros) {
		d.Fail()
	}
}

// weight reads the weight of a value. The sum of the weights must not overflow.
func (d *decoder) weight(s *Summary) int64 {
	w := d.positive()
	if w > math.MaxInt64-s.weight {
		d.Fail()
		return 0
	}
	return w
}
