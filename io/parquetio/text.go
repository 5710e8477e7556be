package parquetio

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// MaxText bounds the bytes of one text that is read.
const MaxText = 64 << 10

// next cuts the first value off bytes in the PLAIN layout.
func (l *leaf) next(b []byte) (value, rest []byte, err error) {
	n := uint64(l.width)
	if l.physical == format.ByteArray {
		if len(b) < 4 {
			return nil, nil, errShort
		}
		n = uint64(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	if n > uint64(len(b)) {
		return nil, nil, errShort
	}
	return b[:n], b[n:], nil
}

func tooLong(n int) *dataset.DataError {
	return fault(fmt.Sprintf("a value of %d bytes, expected at most %d", n, MaxText),
		"values this long are no categories: leave the column out of training with --ignore")
}

func checkText(b []byte) error {
	if len(b) > MaxText {
		return tooLong(len(b))
	}
	if !utf8.Valid(b) {
		e := fault("a text that is not valid UTF-8", "write the column as text or leave it out")
		e.Value = string(b)
		return e
	}
	return nil
}

// setTexts sets the vector's texts to the dictionary's values. They share one string.
func (d *decoder) setTexts(b []byte, n int) error {
	if d.leaf.kind == boolean {
		return d.setBooleans(b, n)
	}
	if d.leaf.kind == uuid || d.leaf.digits {
		return d.setSpelled(b, n)
	}
	all := string(b)
	at := 0
	for range n {
		value, _, err := d.leaf.next(b[at:])
		if err != nil {
			return err
		}
		if err := checkText(value); err != nil {
			return err
		}
		at += 4 + len(value)
		d.dst.Texts = append(d.dst.Texts, all[at-len(value):at])
	}
	return nil
}

func (d *decoder) setSpelled(b []byte, n int) error {
	for range n {
		value, rest, err := d.leaf.next(b)
		if err != nil {
			return err
		}
		s, err := d.leaf.spell(value)
		if err != nil {
			return err
		}
		d.dst.Texts = append(d.dst.Texts, s)
		b = rest
	}
	return nil
}

// spell spells a UUID or, if digits are wanted, a number.
func (l *leaf) spell(value []byte) (string, error) {
	if l.digits {
		return l.spellDigits(value)
	}
	return spellUUID(value), nil
}

func (d *decoder) setBooleans(b []byte, n int) error {
	if n > 8*len(b) {
		return errShort
	}
	for i := range n {
		d.dst.Texts = append(d.dst.Texts, spellBoolean(b[i/8]>>(i%8)&1))
	}
	return nil
}

func spellBoolean(bit byte) string {
	if bit == 0 {
		return "false"
	}
	return "true"
}

// spellUUID returns the canonical form, 8-4-4-4-12 hexadecimal digits.
func spellUUID(b []byte) string {
	var s [36]byte
	at := 0
	for i, c := range b[:16] {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			s[at] = '-'
			at++
		}
		hex.Encode(s[at:], []byte{c})
		at += 2
	}
	return string(s[:])
}

// appendTexts decodes a page of plain texts.
func (d *decoder) appendTexts(p page) error {
	n := p.values()
	at := len(d.dst.Index)
	data, err := d.plainLayout(p.encoding, p.data, n)
	if err != nil {
		return err
	}
	d.dst.Index = reserve(d.dst.Index, p.rows, d.rows)
	if d.positions == nil {
		d.positions = make(map[string]int32)
		for i, s := range d.dst.Texts {
			d.positions[s] = int32(i)
		}
	}
	if d.leaf.kind == boolean {
		err = d.appendBooleans(data, n)
	} else {
		err = d.appendValues(data, n)
	}
	if err != nil {
		return err
	}
	if p.missing > 0 {
		d.dst.Index = d.dst.Index[:at+p.rows]
		spread(d.dst.Index[at:], p.levels, n, -1)
	}
	return nil
}

func (d *decoder) appendBooleans(b []byte, n int) error {
	if n > 8*len(b) {
		return errShort
	}
	positions := [2]int32{d.position([]byte("false")), d.position([]byte("true"))}
	for i := range n {
		d.dst.Index = append(d.dst.Index, positions[b[i/8]>>(i%8)&1])
	}
	return nil
}

func (d *decoder) appendValues(b []byte, n int) error {
	for range n {
		value, rest, err := d.leaf.next(b)
		if err != nil {
			return err
		}
		b = rest
		if d.leaf.kind == uuid || d.leaf.digits {
			s, err := d.leaf.spell(value)
			if err != nil {
				return err
			}
			value = []byte(s)
		}
		i, ok := d.positions[string(value)] // without a copy of the value
		if !ok {
			if err := checkText(value); err != nil {
				return err
			}
			i = d.position(value)
		}
		d.dst.Index = append(d.dst.Index, i)
	}
	return nil
}

// position returns the position of a text in the vector. It adds a new text.
func (d *decoder) position(value []byte) int32 {
	i, ok := d.positions[string(value)]
	if !ok {
		i = int32(len(d.dst.Texts))
		s := string(value)
		d.dst.Texts = append(d.dst.Texts, s)
		d.positions[s] = i
	}
	return i
}

// runBits turns n run-length encoded booleans into the PLAIN layout: bits.
func (s *scratch) runBits(b []byte, n int) ([]byte, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errRuns
	}
	// The levels' buffer is in use: it holds the levels of these values.
	values := scratch{}
	bits, _, err := values.runLevels(b[4:4+binary.LittleEndian.Uint32(b)], n)
	if err != nil {
		return nil, err
	}
	s.plain = grow(s.plain, (n+7)/8)
	clear(s.plain)
	for i := range n {
		bit := byte(1) // no levels: all are 1
		if bits != nil {
			bit = bits[i]
		}
		s.plain[i/8] |= bit << (i % 8)
	}
	return s.plain, nil
}
