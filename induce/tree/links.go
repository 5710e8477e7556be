package tree

// Link is a test of a tree with numeric features only, in 16 bytes. Links lie in
// depth-first order, so a number below the cut leads to the next link. If the
// processor predicts the branches right, it runs through the list as through
// compiled conditions.
type Link struct {
	Cut   float64
	Input uint32 // number of the input; for a leaf see IsLeaf
	Yes   uint32 // position of the link for numbers of at least the cut; of a leaf: the id of its node
}

// IsLeaf is added to the number of a leaf. A single comparison with the number of
// inputs then detects a leaf, and checks the bounds of the input.
const IsLeaf = 1 << 31

// link appends the links of a step and of all steps below it, and returns the first
// link's position. A leaf is given by its complement. A bin becomes two tests, and
// both may lead to the no branch.
func (s *Scorer) link(at int32) uint32 {
	place := uint32(len(s.links))
	if at < 0 {
		s.links = append(s.links, Link{Input: IsLeaf + uint32(^at), Yes: uint32(s.leaves[^at].Leaf)})
		return place
	}
	n := &s.steps[at]
	s.links = append(s.links, Link{Cut: n.cut, Input: uint32(n.input)})
	no := s.link(n.no)
	if n.op == opBetween {
		s.links[place].Yes = uint32(len(s.links))
		s.links = append(s.links, Link{Cut: s.upper[at], Input: uint32(n.input), Yes: no})
		s.link(n.yes)
		return place
	}
	s.links[place].Yes = s.link(n.yes)
	return place
}

// Links returns the tests of a tree whose inputs are all numeric, for programs that have
// rows in a form of their own: a row begins at the first link. nil: some input is
// categorical. The list must not be changed.
func (s *Scorer) Links() []Link { return s.links }

// walkNumbers returns the leaf of a row, given a number for each input.
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

// walkValues is walkNumbers for values. If a tested value is a text, it returns the
// number of the input and false.
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
