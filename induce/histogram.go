package induce

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Layout is the place of each feature's cells in a histogram of a node. For each code and class
// there are two cells: the number of objects and their weight. A packed layout has a single cell
// for both: see Selection.
type Layout struct {
	offsets []int // offset of each feature's cells, then the number of all cells: len(columns)+1
}

// NewLayout returns the layout of the histograms of the features.
func NewLayout(columns []split.Column, classes int) Layout { return newLayout(columns, 2*classes) }

// NewPackedLayout returns the layout of the packed histograms of the features.
func NewPackedLayout(columns []split.Column, classes int) Layout { return newLayout(columns, classes) }

func newLayout(columns []split.Column, width int) Layout {
	l := Layout{offsets: make([]int, len(columns)+1)}
	for f := range columns {
		l.offsets[f+1] = l.offsets[f] + width*columns[f].Codes
	}
	return l
}

// Cells returns the number of cells of all features.
func (l *Layout) Cells() int { return l.offsets[len(l.offsets)-1] }

// CellsBetween returns the number of cells of the features [from, to).
func (l *Layout) CellsBetween(from, to int) int { return l.offsets[to] - l.offsets[from] }

// Column returns the cells of a feature. cells starts with the cells of the feature from.
func (l *Layout) Column(cells []int64, feature, from int) []int64 {
	return cells[l.offsets[feature]-l.offsets[from] : l.offsets[feature+1]-l.offsets[from]]
}

// Selection is a list of objects to be counted.
type Selection struct {
	Order  []int32  // indexes of the objects, ascending; nil: 0, 1, 2, ...
	Class  []uint16 // class of each object
	Weight []int64  // weight of each object in its class; nil in a packed selection, where each weighs 1
	Shares []Share  // weights of the objects in other classes, ordered by object
	N, M   []int64  // number of objects by class, and total weight by class, shares included

	// Packed means that the cells are packed: the upper half of a cell is the number of objects,
	// the lower half their weight, which must be below 2^32. Counting an object then takes one
	// addition instead of two, and the cells take half the memory.
	Packed bool
}

// Share is the weight of an object in a class other than its own.
type Share struct {
	At     int32 // index of the object, as in Selection.Order
	Class  uint16
	Weight int64
}

// AppendShares appends the shares of an object, given its class and its class weights. It returns
// the shares, and the weight of the object in its own class.
func AppendShares(to []Share, at int32, class uint16, raw []dataset.ClassWeight) (shares []Share, own int64) {
	for _, cw := range raw {
		if cw.Class == class {
			own = cw.Weight
		} else {
			to = append(to, Share{at, cw.Class, cw.Weight})
		}
	}
	return to, own
}

// packedObject counts a single object in a packed cell.
const packedObject = 1 << 32

// Width returns how many cells a code has.
func (s *Selection) Width() int {
	if s.Packed {
		return len(s.N)
	}
	return 2 * len(s.N)
}

// Unpack writes the packed cells of a feature as pairs: the number of objects, and their weight. It
// only writes codes that have objects, and returns these codes, ascending, in the memory of
// present.
func Unpack(pairs, packed []int64, classes int, present []int32) []int32 {
	present = present[:0]
	if classes == 2 {
		return unpackTwo(pairs, packed, present)
	}
	for code := 0; code*classes < len(packed); code++ {
		cells := packed[code*classes : code*classes+classes]
		some := int64(0)
		for _, cell := range cells {
			some |= cell
		}
		if some != 0 {
			unpack(pairs[2*code*classes:2*(code+1)*classes], cells)
			present = append(present, int32(code))
		}
	}
	return present
}

// unpackTwo is Unpack for two classes.
func unpackTwo(pairs, packed []int64, present []int32) []int32 {
	for at := 0; at+1 < len(packed); at += 2 {
		a, b := packed[at], packed[at+1]
		if a|b == 0 {
			continue
		}
		to := pairs[2*at : 2*at+4 : 2*at+4]
		to[0], to[1], to[2], to[3] = a>>32, int64(uint32(a)), b>>32, int64(uint32(b))
		present = append(present, int32(at>>1))
	}
	return present
}

// UnpackCodes writes the packed cells of the given codes as pairs, as Unpack does.
func UnpackCodes(pairs, packed []int64, classes int, codes []int32) {
	for _, code := range codes {
		at := int(code) * classes
		unpack(pairs[2*at:2*(at+classes)], packed[at:at+classes])
	}
}

func unpack(pairs, cells []int64) {
	pairs = pairs[:2*len(cells)]
	for k, cell := range cells {
		pairs[2*k], pairs[2*k+1] = cell>>32, int64(uint32(cell))
	}
}

// ColumnCounter counts the codes of one feature into its cells.
type ColumnCounter struct {
	Codes  *dataset.Codes
	Common int // a code that most objects have, see CommonCode; -1 if absent
}

// Count adds the selected objects to the cells of a feature, Selection.Width cells for each code.
// Objects with the common code are not counted: their cells are the totals less all other cells.
func (c *ColumnCounter) Count(cells []int64, s *Selection) {
	if c.Codes.U8 != nil {
		countCodes(cells, c.Codes.U8, s, c.Common)
		addShares(cells, c.Codes.U8, s, c.Common, 1)
	} else {
		countCodes(cells, c.Codes.U16, s, c.Common)
		addShares(cells, c.Codes.U16, s, c.Common, 1)
	}
	if c.Common < 0 {
		return
	}
	width := s.Width()
	rest := cells[c.Common*width : c.Common*width+width]
	s.total(rest)
	for code := 0; code < len(cells); code += width {
		if code != c.Common*width {
			Subtract(rest, cells[code:code+width])
		}
	}
}

// Uncount subtracts the selected objects from the cells of a feature.
func (c *ColumnCounter) Uncount(cells []int64, s *Selection) {
	if c.Codes.U8 != nil {
		uncountCodes(cells, c.Codes.U8, s)
		addShares(cells, c.Codes.U8, s, -1, -1)
	} else {
		uncountCodes(cells, c.Codes.U16, s)
		addShares(cells, c.Codes.U16, s, -1, -1)
	}
}

func uncountCodes[T uint8 | uint16](cells []int64, codes []T, s *Selection) {
	order := s.Order
	classes := len(s.N)
	class := s.Class[:len(order)]
	switch {
	case s.Packed && s.Weight == nil:
		for i, id := range order {
			cells[int(codes[id])*classes+int(class[i])] -= packedObject + 1
		}
	case s.Packed:
		for i, id := range order {
			cells[int(codes[id])*classes+int(class[i])] -= packedObject + s.Weight[i]
		}
	default:
		for i, id := range order {
			at := 2 * (int(codes[id])*classes + int(class[i]))
			cells[at]--
			cells[at+1] -= s.Weight[i]
		}
	}
}

// total writes the sums of all selected objects to the cells of one code.
func (s *Selection) total(cells []int64) {
	for k := range s.N {
		if s.Packed {
			cells[k] = s.N[k]*packedObject + s.M[k]
		} else {
			cells[2*k], cells[2*k+1] = s.N[k], s.M[k]
		}
	}
}

// countCodes counts the codes of a feature. Its loops are the innermost of training.
func countCodes[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	switch {
	case !s.Packed:
		countPairs(cells, codes, s, common)
	case s.Weight != nil && s.Order == nil:
		countAllWeights(cells, codes, s, common)
	case s.Weight != nil:
		countWeights(cells, codes, s, common)
	case s.Order == nil:
		countAll(cells, codes, s, common)
	default:
		countOnes(cells, codes, s, common)
	}
}

func countPairs[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	classes := len(s.N)
	class := s.Class
	weight := s.Weight[:len(class)]
	for i := range class {
		id := i
		if s.Order != nil {
			id = int(s.Order[i])
		}
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

// addShares adds the shares of a selection to the cells of a feature if sign is 1, and subtracts
// them if it is -1.
func addShares[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int, sign int64) {
	classes := len(s.N)
	scale := 2
	weight := 1
	if s.Packed { // the lower half of a cell is the weight
		scale = 1
		weight = 0
	}
	for i := range s.Shares {
		share := &s.Shares[i]
		if code := int(codes[share.At]); code != common {
			cells[scale*(code*classes+int(share.Class))+weight] += sign * share.Weight
		}
	}
}

func countWeights[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	order := s.Order
	classes := len(s.N)
	class := s.Class[:len(order)]
	weight := s.Weight[:len(order)]
	for i, id := range order {
		if code := int(codes[id]); code != common {
			cells[code*classes+int(class[i])] += packedObject + weight[i]
		}
	}
}

func countAllWeights[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	class := s.Class
	classes := len(s.N)
	codes = codes[:len(class)]
	weight := s.Weight[:len(class)]
	for i, k := range class {
		if code := int(codes[i]); code != common {
			cells[code*classes+int(k)] += packedObject + weight[i]
		}
	}
}

func countOnes[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	order := s.Order
	classes := len(s.N)
	class := s.Class[:len(order)]
	for i, id := range order {
		if code := int(codes[id]); code != common {
			cells[code*classes+int(class[i])] += packedObject + 1
		}
	}
}

func countAll[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int) {
	class := s.Class
	classes := len(s.N)
	codes = codes[:len(class)]
	for i, k := range class {
		if code := int(codes[i]); code != common {
			cells[code*classes+int(k)] += packedObject + 1
		}
	}
}

// CountSeen adds the selected objects to the cells of a feature, as Count does, and returns the
// codes of these objects, ascending, in the memory of present. So the cost of a small node depends
// only on its own codes. seen has a bit for each code, all zero between calls.
func (c *ColumnCounter) CountSeen(cells []int64, s *Selection, seen []uint64, present []int32) []int32 {
	counted := 0
	if c.Codes.U8 != nil {
		counted = countCodesSeen(cells, c.Codes.U8, s, c.Common, seen)
		addShares(cells, c.Codes.U8, s, c.Common, 1)
	} else {
		counted = countCodesSeen(cells, c.Codes.U16, s, c.Common, seen)
		addShares(cells, c.Codes.U16, s, c.Common, 1)
	}
	if counted == len(s.Class) {
		return drain(seen, present[:0])
	}
	width := s.Width()
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

// countCodesSeen is countCodes, and marks the codes. It returns how many objects do not have the
// common code.
func countCodesSeen[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int, seen []uint64) int {
	order := s.Order
	classes := len(s.N)
	if order == nil || !s.Packed {
		countCodes(cells, codes, s, common)
		return mark(codes, s, common, seen)
	}
	if s.Weight == nil {
		return countOnesSeen(cells, codes, s, common, seen)
	}
	class := s.Class[:len(order)]
	weight := s.Weight[:len(order)]
	counted := 0
	for i, id := range order {
		code := int(codes[id])
		if code == common {
			continue
		}
		counted++
		seen[code>>6] |= 1 << (code & 63)
		cells[code*classes+int(class[i])] += packedObject + weight[i]
	}
	return counted
}

func countOnesSeen[T uint8 | uint16](cells []int64, codes []T, s *Selection, common int, seen []uint64) int {
	order := s.Order
	classes := len(s.N)
	class := s.Class[:len(order)]
	counted := 0
	for i, id := range order {
		code := int(codes[id])
		if code == common {
			continue
		}
		counted++
		seen[code>>6] |= 1 << (code & 63)
		cells[code*classes+int(class[i])] += packedObject + 1
	}
	return counted
}

// mark marks the codes of the selected objects, except the common code, and returns how many
// objects do not have the common code.
func mark[T uint8 | uint16](codes []T, s *Selection, common int, seen []uint64) int {
	counted := 0
	for i := range s.Class {
		id := i
		if s.Order != nil {
			id = int(s.Order[i])
		}
		if code := int(codes[id]); code != common {
			counted++
			seen[code>>6] |= 1 << (code & 63)
		}
	}
	return counted
}

// commonSample is how many objects CommonCode samples.
const commonSample = 1 << 12

// CommonCode returns a code that at least three of four sampled objects have, or -1. Skipping these
// objects costs a few mispredicted branches, which is less than counting them. The counts are the
// same in both cases. seen has an entry for each code.
func CommonCode(codes *dataset.Codes, objects int, seen []int32) int {
	clear(seen)
	step := max(1, objects/commonSample)
	var n, best int
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

// drain appends the codes marked in seen in ascending order, and unmarks them.
func drain(seen []uint64, dst []int32) []int32 {
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, int32(i<<6+bits.TrailingZeros64(word)))
		}
		seen[i] = 0
	}
	return dst
}

// Subtract subtracts b from a, cell by cell.
func Subtract(a, b []int64) {
	b = b[:len(a)]
	for i := range a {
		a[i] -= b[i]
	}
}
