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

func (l *layout) of(cells []int64, feature int) []int64 {
	return cells[l.offsets[feature]:l.offsets[feature+1]]
}

// count adds objects to a feature's cells: order names them, class and weight
// go along with order. The innermost loop of training.
func count(cells []int64, codes *dataset.Codes, order []int32, class []uint16, weight []int64, classes int) {
	if codes.U8 != nil {
		countCodes(cells, codes.U8, order, class, weight, classes)
	} else {
		countCodes(cells, codes.U16, order, class, weight, classes)
	}
}

func countCodes[T uint8 | uint16](cells []int64, codes []T, order []int32, class []uint16, weight []int64, classes int) {
	class, weight = class[:len(order)], weight[:len(order)]
	for i, id := range order {
		at := 2 * (int(codes[id])*classes + int(class[i]))
		cell := cells[at : at+2 : at+2]
		cell[0]++
		cell[1] += weight[i]
	}
}

// countSeen does what count does and marks the codes that it meets in seen, so
// that a small node pays for its own codes only.
func countSeen(cells []int64, codes *dataset.Codes, order []int32, class []uint16, weight []int64, classes int, seen []uint64) {
	if codes.U8 != nil {
		countCodesSeen(cells, codes.U8, order, class, weight, classes, seen)
	} else {
		countCodesSeen(cells, codes.U16, order, class, weight, classes, seen)
	}
}

func countCodesSeen[T uint8 | uint16](cells []int64, codes []T, order []int32, class []uint16, weight []int64, classes int, seen []uint64) {
	class, weight = class[:len(order)], weight[:len(order)]
	for i, id := range order {
		code := codes[id]
		seen[code>>6] |= 1 << (code & 63)
		at := 2 * (int(code)*classes + int(class[i]))
		cell := cells[at : at+2 : at+2]
		cell[0]++
		cell[1] += weight[i]
	}
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
