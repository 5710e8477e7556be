package forest

import (
	"cmp"
	"iter"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// test is the best test of a node so far.
type test struct {
	gain        float64 // larger is better; below 0: no test
	feature     int32
	cut, span   uint16   // numeric, see node
	left, right []uint16 // categorical: codes of each child
	heavyRight  bool     // the second child has at least half of the weight
}

// scan finds the best test of a node. It has the items of a tree. An item is the drawn weight of
// one class of one object.
//
// With two classes, packed has an item's weight in the low 32 bits and its weight in the second
// class in the high 32 bits, and sums has their sums by code. With more classes, the items of a
// node are sorted by code.
type scan struct {
	features []dataset.Feature
	columns  [][]uint16 // codes by feature and item
	class    []uint16
	weight   []uint32
	packed   []uint64 // nil: more than two classes

	total   int64   // weight of the node
	both    uint64  // two classes: the node's packed weight
	classes []int64 // more classes: the node's weight by class
	present []uint16
	squares int64 // sum of the squares of classes

	sums   []uint64 // by code: packed weight; more classes: number of items
	order  []uint16 // codes of the node
	sorted []int32  // more classes: items, sorted by code
	ends   []int32  // by code: end of its items in sorted
	left   []int64  // by class: weight on the left
	shares []uint64 // more classes, by code: weight, and in the high 32 bits the weight of one class
}

func newScan(features []dataset.Feature, classes int) scan {
	most := 0
	for i := range features {
		most = max(most, features[i].Codes())
	}
	s := scan{features: features, columns: make([][]uint16, len(features)), sums: make([]uint64, most)}
	if classes <= 2 {
		s.packed = make([]uint64, 0, 1)
		return s
	}
	s.classes, s.left = make([]int64, classes), make([]int64, classes)
	s.ends, s.shares = make([]int32, most), make([]uint64, most)
	return s
}

func (s *scan) clear() {
	s.class, s.weight, s.packed = s.class[:0], s.weight[:0], s.packed[:0]
}

// add adds an item.
func (s *scan) add(class uint16, weight uint32) {
	if s.packed != nil {
		s.packed = append(s.packed, uint64(weight)|uint64(weight)*uint64(class)<<32)
		return
	}
	s.class, s.weight = append(s.class, class), append(s.weight, weight)
}

// load copies the codes of the items. objects has the object of each item.
func (s *scan) load(o *dataset.Objects, objects []int32) {
	for f := range s.columns {
		column := slices.Grow(s.columns[f][:0], len(objects))[:len(objects)]
		if codes := o.Codes[f].U8; codes != nil {
			for i, id := range objects {
				column[i] = uint16(codes[id])
			}
		} else {
			for i, id := range objects {
				column[i] = o.Codes[f].U16[id]
			}
		}
		s.columns[f] = column
	}
	if s.packed == nil {
		s.sorted = slices.Grow(s.sorted[:0], len(objects))[:len(objects)]
	}
}

// begin sums up the weights of the items ids of a node.
func (s *scan) begin(ids []int32) {
	if s.packed != nil {
		s.both = 0
		for _, id := range ids {
			s.both += s.packed[id]
		}
		s.total = int64(uint32(s.both))
		return
	}
	for _, k := range s.present {
		s.classes[k] = 0
	}
	s.present, s.total, s.squares = s.present[:0], 0, 0
	for _, id := range ids {
		k, w := s.class[id], int64(s.weight[id])
		if s.classes[k] == 0 {
			s.present = append(s.present, k)
		}
		s.squares += w * (2*s.classes[k] + w)
		s.classes[k] += w
		s.total += w
	}
	slices.Sort(s.present)
}

// pure reports whether the node has at most one class.
func (s *scan) pure() bool {
	if s.packed != nil {
		second := int64(s.both >> 32)
		return second == 0 || second == s.total
	}
	return len(s.present) <= 1
}

// weights returns the classes of the node and their weights.
func (s *scan) weights() iter.Seq2[uint16, int64] {
	return func(yield func(uint16, int64) bool) {
		if s.packed != nil {
			second := int64(s.both >> 32)
			_ = (second == s.total || yield(0, s.total-second)) && (second == 0 || yield(1, second))
			return
		}
		for _, k := range s.present {
			if !yield(k, s.classes[k]) {
				return
			}
		}
	}
}

// feature compares the tests of feature f with the best test so far, and updates best. It reports
// whether the objects of the node have several codes.
func (s *scan) feature(f int, ids []int32, least int64, best *test) bool {
	column := s.columns[f]
	s.count(column, ids)
	missing := uint16(s.features[f].MissingCode())
	several := len(s.order) > 1
	switch {
	case !several:
	case s.features[f].Kind == dataset.Categorical:
		s.arrange(ids, column)
		s.group(column, ids)
		if at := s.sweep(s.order, nil, least, best); at >= 0 {
			best.feature = int32(f)
			best.left, best.right = slices.Clone(s.order[:at+1]), slices.Clone(s.order[at+1:])
		}
	case s.order[len(s.order)-1] == missing:
		s.group(column, ids)
		values, last := s.order[:len(s.order)-1], s.order[len(s.order)-1:]
		if at := s.sweep(s.order, nil, least, best); at >= 0 {
			best.threshold(f, s.order, at, missing, false)
		}
		if at := s.sweep(values, last, least, best); at >= 0 {
			best.threshold(f, values, at, missing, true)
		}
	default:
		s.group(column, ids)
		if at := s.sweep(s.order, nil, least, best); at >= 0 {
			best.threshold(f, s.order, at, missing, !best.heavyRight)
		}
	}
	for _, code := range s.order {
		s.sums[code] = 0
	}
	return several
}

// threshold sets the test to the cut in the middle between the codes order[at] and order[at+1] of a
// numeric feature.
func (t *test) threshold(f int, order []uint16, at int, missing uint16, missingLeft bool) {
	t.feature, t.left, t.right = int32(f), nil, nil
	if t.cut = order[at+1]; t.cut != missing {
		t.cut = uint16((int(order[at]) + int(t.cut) + 1) / 2)
	}
	if t.span = -t.cut; missingLeft { // to the end of all codes
		t.span += missing
	}
}

// count sums up the items of a node by code, and lists the codes in order.
func (s *scan) count(column []uint16, ids []int32) {
	low, high := ^uint16(0), uint16(0)
	sums := s.sums
	if s.packed != nil {
		for _, id := range ids {
			code := column[id]
			sums[code] += s.packed[id]
			low, high = min(low, code), max(high, code)
		}
	} else {
		for _, id := range ids {
			code := column[id]
			sums[code]++
			low, high = min(low, code), max(high, code)
		}
	}
	s.order = s.order[:0]
	for code := int(low); code <= int(high); code++ {
		if sums[code] != 0 {
			s.order = append(s.order, uint16(code))
		}
	}
}

// arrange sorts the codes of a categorical feature by their share of one class: the second class of
// two, or the class with the most weight in the node if there are more.
func (s *scan) arrange(ids []int32, column []uint16) {
	sums := s.sums
	if s.packed == nil {
		most := s.present[0]
		for _, k := range s.present {
			if s.classes[k] > s.classes[most] {
				most = k
			}
		}
		sums = s.shares
		for _, code := range s.order {
			sums[code] = 0
		}
		for _, id := range ids {
			w := uint64(s.weight[id])
			if s.class[id] == most {
				w |= w << 32
			}
			sums[column[id]] += w
		}
	}
	slices.SortFunc(s.order, func(a, b uint16) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare((x>>32)*(y&(1<<32-1)), (y>>32)*(x&(1<<32-1))), cmp.Compare(a, b))
	})
}

// group sorts the items of a node by code, if there are more than two classes.
func (s *scan) group(column []uint16, ids []int32) {
	if s.packed != nil {
		return
	}
	end := int32(0)
	for _, code := range s.order {
		s.ends[code] = end // the start, until the items are in place
		end += int32(s.sums[code])
	}
	for _, id := range ids {
		code := column[id]
		s.sorted[s.ends[code]] = id
		s.ends[code]++
	}
}

// sweep moves the codes of order to the left, one after the other, after it has moved the codes of
// before. It returns the position, in order, of the last code on the left of the best test, or -1
// if no test is better than the best test so far.
func (s *scan) sweep(order, before []uint16, least int64, best *test) int {
	if s.packed == nil {
		return s.sweepMany(order, before, least, best)
	}
	at, total, second := -1, s.total, int64(s.both>>32)
	var left uint64
	for _, code := range before {
		left += s.sums[code]
	}
	for i, code := range order[:len(order)-1] {
		left += s.sums[code]
		l := int64(uint32(left))
		r := total - l
		if l < least || r < least {
			continue
		}
		d := float64(int64(left>>32)*total - l*second)
		if gain := float64(d*d) / float64(float64(l)*float64(r)); gain > best.gain {
			best.gain, best.heavyRight, at = gain, r >= l, i
		}
	}
	return at
}

// sweepMany is sweep for more than two classes.
func (s *scan) sweepMany(order, before []uint16, least int64, best *test) int {
	at, l := -1, int64(0)
	leftSquares, rightSquares := int64(0), s.squares
	move := func(code uint16) {
		for _, id := range s.sorted[s.ends[code]-int32(s.sums[code]) : s.ends[code]] {
			k, w := s.class[id], int64(s.weight[id])
			rightSquares += w * (w - 2*(s.classes[k]-s.left[k]))
			leftSquares += w * (2*s.left[k] + w)
			s.left[k] += w
			l += w
		}
	}
	for _, code := range before {
		move(code)
	}
	for i, code := range order[:len(order)-1] {
		move(code)
		r := s.total - l
		if l < least || r < least {
			continue
		}
		gain := float64(leftSquares)/float64(l) + float64(rightSquares)/float64(r)
		if gain > best.gain {
			best.gain, best.heavyRight, at = gain, r >= l, i
		}
	}
	for _, k := range s.present {
		s.left[k] = 0
	}
	return at
}
