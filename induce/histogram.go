package induce

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// layout says where each feature's cells lie in a node's histogram: two a
// (code, class), objects and weight.
type layout struct {
	offsets []int // len(columns)+1
	classes int
}

func newLayout(columns []split.Column, classes int) layout {
	l := layout{offsets: make([]int, len(columns)+1), classes: classes}
	for f := range columns {
		l.offsets[f+1] = l.offsets[f] + 2*classes*columns[f].Codes
	}
	return l
}

func (l *layout) cells() int { return l.offsets[len(l.offsets)-1] }

// of returns the cells of a feature among those of the features from the given
// one on.
func (l *layout) of(cells []int64, feature, from int) []int64 {
	return cells[l.offsets[feature]-l.offsets[from] : l.offsets[feature+1]-l.offsets[from]]
}

// counter counts one feature's codes into its cells.
type counter struct {
	codes  *dataset.Codes
	common int // a code that most objects have, -1: none, see commonCode
}

// rows are objects to be counted: order names them, class and weight go along
// with it. n and m are their number and weight by class.
type rows struct {
	order  []int32
	class  []uint16
	weight []int64
	n, m   []int64
}

// count adds objects to a feature's cells, which hold as many classes as r.n.
// The objects of the common code are not counted but inferred.
func (c *counter) count(cells []int64, r *rows) {
	if c.codes.U8 != nil {
		countCodes(cells, c.codes.U8, r, c.common)
	} else {
		countCodes(cells, c.codes.U16, r, c.common)
	}
	if c.common < 0 {
		return
	}
	width := 2 * len(r.n)
	rest := cells[c.common*width : c.common*width+width]
	r.total(rest)
	for code := 0; code < len(cells); code += width {
		if code != c.common*width {
			subtract(rest, cells[code:code+width])
		}
	}
}

// total writes the cells of all objects together.
func (r *rows) total(cells []int64) {
	for k := range r.n {
		cells[2*k], cells[2*k+1] = r.n[k], r.m[k]
	}
}

// countCodes is the innermost loop of training.
func countCodes[T uint8 | uint16](cells []int64, codes []T, r *rows, common int) {
	order, classes := r.order, len(r.n)
	class, weight := r.class[:len(order)], r.weight[:len(order)]
	for i, id := range order {
		code := int(codes[id])
		if code == common {
			continue
		}
		at := 2 * (code*classes + int(class[i]))
		cell := cells[at : at+2 : at+2]
		cell[0]++
		cell[1] += weight[i]
	}
}

// countSeen does what count does and returns the codes that it met, ascending,
// so that a small node pays for its own codes only. seen has a bit for each
// code, all zero between calls.
func (c *counter) countSeen(cells []int64, r *rows, seen []uint64, present []int32) []int32 {
	counted := 0
	if c.codes.U8 != nil {
		counted = countCodesSeen(cells, c.codes.U8, r, c.common, seen)
	} else {
		counted = countCodesSeen(cells, c.codes.U16, r, c.common, seen)
	}
	if counted == len(r.order) {
		return drain(seen, present[:0])
	}
	width := 2 * len(r.n)
	rest := cells[c.common*width : c.common*width+width]
	r.total(rest)
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			code := i<<6 + bits.TrailingZeros64(word)
			subtract(rest, cells[code*width:code*width+width])
		}
	}
	seen[c.common>>6] |= 1 << (c.common & 63)
	return drain(seen, present[:0])
}

func countCodesSeen[T uint8 | uint16](cells []int64, codes []T, r *rows, common int, seen []uint64) int {
	order, classes := r.order, len(r.n)
	class, weight := r.class[:len(order)], r.weight[:len(order)]
	counted := 0
	for i, id := range order {
		code := int(codes[id])
		if code == common {
			continue
		}
		counted++
		seen[code>>6] |= 1 << (code & 63)
		at := 2 * (code*classes + int(class[i]))
		cell := cells[at : at+2 : at+2]
		cell[0]++
		cell[1] += weight[i]
	}
	return counted
}

// commonSample is the number of objects that commonCode looks at.
const commonSample = 1 << 12

// commonCode returns a code that at least three of four objects have, -1 when
// there seems to be none: few mispredicted branches then cost less than the
// counting of most objects. What is counted does not depend on it.
func commonCode(codes *dataset.Codes, objects int, seen []int32) int {
	clear(seen)
	step := max(1, objects/commonSample)
	n, best := 0, 0
	for i := 0; i < objects; i += step {
		code := codes.At(i)
		seen[code]++
		n++
		if seen[code] > seen[best] {
			best = code
		}
	}
	if 4*int(seen[best]) >= 3*n {
		return best
	}
	return -1
}

// drain appends the codes marked in seen in ascending order and unmarks them.
func drain(seen []uint64, dst []int32) []int32 {
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, int32(i<<6+bits.TrailingZeros64(word)))
		}
		seen[i] = 0
	}
	return dst
}

// subtract takes b from a, cell by cell.
func subtract(a, b []int64) {
	b = b[:len(a)]
	for i := range a {
		a[i] -= b[i]
	}
}
