package tree

// Link is a test of a tree with only numeric features, in 16 bytes. Links are stored in depth-first
// order, so a number below the cut leads to the next link. If the processor predicts the branches
// well, it runs through the list as fast as through compiled conditions.
type Link struct {
	Cut   float64
	Input uint32 // index of the input; for a leaf see IsLeaf
	Yes   uint32 // position of the link for numbers >= Cut
}

// IsLeaf is added to the id of a leaf, which takes the place of the input. A single comparison with the number of inputs then
// detects leaves and also checks the bounds of the input.
const IsLeaf = 1 << 31

// link appends the links of a step and of all steps below it, and returns the position of its first
// link. at is a target of steps. A bin becomes two tests that may both lead to
// the no branch.
func (s *Scorer) link(at int32) uint32 {
	place := uint32(len(s.links))
	if at < 0 {
		s.links = append(s.links, Link{Input: IsLeaf + uint32(^at)})
		return place
	}
	n := &s.steps[at]
	s.links = append(s.links, Link{Cut: n.low, Input: uint32(n.feature)})
	no := s.link(n.no)
	if n.high == n.high {
		s.links[place].Yes = uint32(len(s.links))
		s.links = append(s.links, Link{Cut: n.high, Input: uint32(n.feature), Yes: no})
		s.link(n.yes)
		return place
	}
	s.links[place].Yes = s.link(n.yes)
	return place
}

// Links returns the tests of a tree with only numeric inputs, for programs that store rows in a
// form of their own; nil if some input is categorical. A row starts at the first link. The list
// must not be changed.
func (s *Scorer) Links() []Link { return s.links }

// walkNumbers returns the leaf of a row, given one number per input.
func walkNumbers(links []Link, numbers []float64) uint32 {
	at := uint32(0)
	for {
		n := &links[at]
		if uint(n.Input) >= uint(len(numbers)) {
			return n.Input - IsLeaf
		}
		if numbers[n.Input] >= n.Cut {
			at = n.Yes
		} else {
			at++
		}
	}
}

// walkValues is walkNumbers for values. If a tested value is a text, it returns the index of the
// input and false.
func walkValues(links []Link, values []Value) (uint32, bool) {
	at := uint32(0)
	for {
		n := &links[at]
		if uint(n.Input) >= uint(len(values)) {
			return n.Input - IsLeaf, true
		}
		v := &values[n.Input]
		switch {
		case v.number() >= n.Cut:
			at = n.Yes
		case v.bits == textBits:
			return n.Input, false
		default:
			at++
		}
	}
}
