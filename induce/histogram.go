package induce

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Layout says where each feature's cells lie in a node's histogram. For each code and
// class there are two cells: the number of objects and their weight.
type Layout struct {
	offsets []int // of each feature's cells, and the number of all: len(columns)+1
}

// NewLayout returns the layout of the histograms of the features.
func NewLayout(columns []split.Column, classes int) Layout {
	l := Layout{offsets: make([]int, len(columns)+1)}
	for f := range columns {
		l.offsets[f+1] = l.offsets[f] + 2*classes*columns[f].Codes
	}
	return l
}

// Cells returns the number of cells of all features.
func (l *Layout) Cells() int { return l.offsets[len(l.offsets)-1] }

// CellsBetween returns the number of cells of the features [from, to).
func (l *Layout) CellsBetween(from, to int) int { return l.offsets[to] - l.offsets[from] }

// Column returns the cells of a feature. The given cells begin with those of the
// feature from.
func (l *Layout) Column(cells []int64, feature, from int) []int64 {
	return cells[l.offsets[feature]-l.offsets[from] : l.offsets[feature+1]-l.offsets[from]]
}

// Selection is a list of objects to be counted.
type Selection struct {
	Order  []int32  // numbers of the objects
	Class  []uint16 // of each
	Weight []int64  // of each
	N, M   []int64  // number and weight of the objects by class
}

// ColumnCounter counts the codes of one feature into its cells.
type ColumnCounter struct {
	Codes  *dataset.Codes
	Common int // a code that most objects have, see CommonCode; -1: none
}

// Count adds the selected objects to a feature's cells, 2*len(s.N) a code. The
// objects of the common code are not counted: their cells are the totals less all
// other cells.
func (c *ColumnCounter) Count(cells []int64, s *Selection) {
	if c.Codes.U8 != nil {
		countCodes(cells, c.Codes.U8, s, c.Common)
	} else {
		countCodes(cells, c.Codes.U16, s, c.Common)
	}
	if c.Common < 0 {
		return
	}
	width := 2 * len(s.N)
	rest := cells[c.Common*width : c.Common*width+width]
	s.total(rest)
	for code := 0; code < len(cells); code += width {
		if code != c.Common*width {
			Subtract(rest, cells[code:code+width])
		}
	}
}

// total writes the sums of all selected objects to the cells of one code.
func (s *Selection) total(cells []int64) {
	for k := range s.N {
		cells[2*k], cells[2*k+1] = s.N[k], s.M[k]
	}
}

// countCodes is the innermost loop of training.
func countCodes[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	order, classes := s.Order, len(s.N)
	class, weight := s.Class[:len(order)], s.Weight[:len(order)]
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

// CountSeen adds the selected objects to a feature's cells, as Count does, and returns
// the codes of these objects, ascending, in the memory of present. So a small node
// pays for its own codes only. seen has a bit for each code, all zero between calls.
func (c *ColumnCounter) CountSeen(cells []int64, s *Selection, seen []uint64, present []int32) []int32 {
	counted := 0
	if c.Codes.U8 != nil {
		counted = countCodesSeen(cells, c.Codes.U8, s, c.Common, seen)
	} else {
		counted = countCodesSeen(cells, c.Codes.U16, s, c.Common, seen)
	}
	if counted == len(s.Order) {
		return drain(seen, present[:0])
	}
	width := 2 * len(s.N)
	rest := cells[c.Common*width : c.Common*width+width]
	s.total(rest)
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			code := i<<6 + bits.TrailingZeros64(word)
			Subtract(rest, cells[code*width:code*width+width])
		}
	}
	seen[c.Common>>6] |= 1 << (c.Common & 63)
	return drain(seen, present[:0])
}

// countCodesSeen is countCodes, and marks the codes. It returns the number of objects
// without the common code.
func countCodesSeen[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int, seen []uint64) int {
	order, classes := s.Order, len(s.N)
	class, weight := s.Class[:len(order)], s.Weight[:len(order)]
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

// CommonCode returns a code that at least three of four objects have, by a sample of
// them, or -1. To pass over these objects costs a few mispredicted branches, which is
// less than to count them. The counts are the same with and without. seen has a place
// for each code.
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
