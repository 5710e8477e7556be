package induce

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Layout says where each feature's cells lie in a node's histogram: two a
// (code, class), objects and weight.
type Layout struct {
	offsets []int // len(columns)+1
	classes int
}

// NewLayout returns the layout of the histograms of the features.
func NewLayout(columns []split.Column, classes int) Layout {
	l := Layout{offsets: make([]int, len(columns)+1), classes: classes}
	for f := range columns {
		l.offsets[f+1] = l.offsets[f] + 2*classes*columns[f].Codes
	}
	return l
}

// Cells returns the number of cells of all features.
func (l *Layout) Cells() int { return l.offsets[len(l.offsets)-1] }

// CellsBetween returns the number of cells of the features [from, to).
func (l *Layout) CellsBetween(from, to int) int { return l.offsets[to] - l.offsets[from] }

// Column returns the cells of a feature among those of the features from the given
// one on.
func (l *Layout) Column(cells []int64, feature, from int) []int64 {
	return cells[l.offsets[feature]-l.offsets[from] : l.offsets[feature+1]-l.offsets[from]]
}

// ColumnCounter counts one feature's codes into its cells.
type ColumnCounter struct {
	Codes  *dataset.Codes
	Common int // a code that most objects have, -1: none, see CommonCode
}

// Selection are objects to be counted: Order names them, Class and Weight go along
// with it. N and M are their number and weight by class.
type Selection struct {
	Order  []int32
	Class  []uint16
	Weight []int64
	N, M   []int64
}

// Count adds objects to a feature's cells, which hold as many classes as r.N.
// The objects of the common code are not counted but inferred.
func (c *ColumnCounter) Count(cells []int64, r *Selection) {
	if c.Codes.U8 != nil {
		countCodes(cells, c.Codes.U8, r, c.Common)
	} else {
		countCodes(cells, c.Codes.U16, r, c.Common)
	}
	if c.Common < 0 {
		return
	}
	width := 2 * len(r.N)
	rest := cells[c.Common*width : c.Common*width+width]
	r.total(rest)
	for code := 0; code < len(cells); code += width {
		if code != c.Common*width {
			Subtract(rest, cells[code:code+width])
		}
	}
}

// total writes the cells of all objects together.
func (r *Selection) total(cells []int64) {
	for k := range r.N {
		cells[2*k], cells[2*k+1] = r.N[k], r.M[k]
	}
}

// countCodes is the innermost loop of training.
func countCodes[T uint8 | uint16](cells []int64, codes []T, r *Selection, common int) {
	order, classes := r.Order, len(r.N)
	class, weight := r.Class[:len(order)], r.Weight[:len(order)]
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

// CountSeen does what Count does and returns the codes that it met, ascending,
// so that a small node pays for its own codes only. seen has a bit for each
// code, all zero between calls.
func (c *ColumnCounter) CountSeen(cells []int64, r *Selection, seen []uint64, present []int32) []int32 {
	counted := 0
	if c.Codes.U8 != nil {
		counted = countCodesSeen(cells, c.Codes.U8, r, c.Common, seen)
	} else {
		counted = countCodesSeen(cells, c.Codes.U16, r, c.Common, seen)
	}
	if counted == len(r.Order) {
		return drain(seen, present[:0])
	}
	width := 2 * len(r.N)
	rest := cells[c.Common*width : c.Common*width+width]
	r.total(rest)
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			code := i<<6 + bits.TrailingZeros64(word)
			Subtract(rest, cells[code*width:code*width+width])
		}
	}
	seen[c.Common>>6] |= 1 << (c.Common & 63)
	return drain(seen, present[:0])
}

func countCodesSeen[T uint8 | uint16](cells []int64, codes []T, r *Selection, common int, seen []uint64) int {
	order, classes := r.Order, len(r.N)
	class, weight := r.Class[:len(order)], r.Weight[:len(order)]
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

// commonSample is the number of objects that CommonCode looks at.
const commonSample = 1 << 12

// CommonCode returns a code that at least three of four objects have, -1 when
// there seems to be none: few mispredicted branches then cost less than the
// counting of most objects. What is counted does not depend on it.
func CommonCode(codes *dataset.Codes, objects int, seen []int32) int {
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

// Subtract takes b from a, cell by cell.
func Subtract(a, b []int64) {
	b = b[:len(a)]
	for i := range a {
		a[i] -= b[i]
	}
}
