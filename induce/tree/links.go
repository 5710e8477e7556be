package tree

// link is a test of a tree with numeric features only, in 16 bytes. Links lie in
// depth-first order, so a number below the cut leads to the next link. If the
// processor predicts the branches right, it runs through the list as through
// compiled conditions.
type link struct {
	cut   float64
	input uint32 // number of the input; for a leaf see isLeaf
	yes   uint32 // position of the link for numbers of at least the cut
}

// isLeaf is added to the number of a leaf. A single comparison with the number of
// inputs then detects a leaf, and checks the bounds of the input.
const isLeaf = 1 << 31

// link appends the links of a step and of all steps below it, and returns the first
// link's position. A leaf is given by its complement. A bin becomes two tests, and
// both may lead to the no branch.
func (s *Scorer) link(at int32) uint32 {
	place := uint32(len(s.links))
	if at < 0 {
		s.links = append(s.links, link{input: isLeaf + uint32(^at)})
		return place
	}
	n := &s.steps[at]
	s.links = append(s.links, link{cut: n.cut, input: uint32(n.input)})
	no := s.link(n.no)
	if n.op == opBetween {
		s.links[place].yes = uint32(len(s.links))
		s.links = append(s.links, link{cut: s.upper[at], input: uint32(n.input), yes: no})
		s.link(n.yes)
		return place
	}
	s.links[place].yes = s.link(n.yes)
	return place
}

// walkNumbers returns the leaf of a row, given a number for each input.
func walkNumbers(links []link, numbers []float64) uint32 {
	at := uint32(0)
	for {
		n := &links[at]
		if uint(n.input) >= uint(len(numbers)) {
			return n.input - isLeaf
		}
		if numbers[n.input] >= n.cut {
			at = n.yes
		} else {
			at++
		}
	}
}

// walkValues is walkNumbers for values. If a tested value is a text, it returns the
// number of the input and false.
func walkValues(links []link, values []Value) (uint32, bool) {
	at := uint32(0)
	for {
		n := &links[at]
		if uint(n.input) >= uint(len(values)) {
			return n.input - isLeaf, true
		}
		v := &values[n.input]
		switch {
		case v.number() >= n.cut:
			at = n.yes
		case v.bits == textBits:
			return n.input, false
		default:
			at++
		}
	}
}
