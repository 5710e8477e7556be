package induce

// Tally adds up a number for each object of a selection, by the codes of a feature. It takes less time than
// counting objects and weights, and suffices where one number says both: see split.Team.Strides. Its memory is
// reused for one feature after another.
type Tally struct {
	Numbers []int32 // by object, as in Selection.Class
	Total   int32   // sum of the numbers

	Present []int32 // codes of the objects, ascending
	Sums    []int32 // by position in Present

	sums []int32  // by code; all zero between uses
	seen []uint64 // a bit for each code; all zero between uses
}

// Add adds up the numbers of the selected objects, which have an order, by the codes of a feature.
func (t *Tally) Add(c *ColumnCounter, s *Selection, codes int) {
	if len(t.sums) < codes {
		t.sums = make([]int32, codes)
		t.seen = make([]uint64, (codes+63)/64)
	}
	var rest int32
	if c.Codes.U8 != nil {
		rest = addNumbers(t, c.Codes.U8, s.Order, c.Common)
	} else {
		rest = addNumbers(t, c.Codes.U16, s.Order, c.Common)
	}
	if rest > 0 {
		t.sums[c.Common] = rest
		t.seen[c.Common>>6] |= 1 << (c.Common & 63)
	}
	t.Present = drain(t.seen[:(codes+63)/64], t.Present[:0])
	t.Sums = t.Sums[:0]
	for _, code := range t.Present {
		t.Sums = append(t.Sums, t.sums[code])
		t.sums[code] = 0
	}
}

// addNumbers adds up the numbers of the objects that do not have the common code, and returns the sum of the
// numbers of the objects that do. Its loop is one of the innermost of training.
func addNumbers[T uint8 | uint16](t *Tally, codes []T, order []int32, common int) (rest int32) {
	numbers := t.Numbers[:len(order)]
	sums := t.sums
	seen := t.seen
	rest = t.Total
	for i, id := range order {
		code := int(codes[id])
		if code == common {
			continue
		}
		seen[code>>6] |= 1 << (code & 63)
		sums[code] += numbers[i]
		rest -= numbers[i]
	}
	return rest
}
