package tree

// link is a test of a tree of numeric features alone, in 16 bytes. Links lie in
// depth-first order: whoever is below the cut goes on to the next one. A processor
// that guesses right runs ahead through the list as through compiled conditions.
type link struct {
	cut   float64
	input uint32 // of a leaf, more than there are inputs: see isLeaf
	yes   uint32 // the link for numbers from the cut on
}

// isLeaf is added to the number of a leaf. One comparison with the number of inputs
// then tells both a leaf from a test and that the input is there.
const isLeaf = 1 << 31

// link appends what a step, or the complement of a leaf, becomes, with all below it,
// and returns its place. A bin is two tests, of which both may lead to its no.
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

// walkNumbers returns the leaf that a row of numbers reaches, one for each input.
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

// walkValues is walkNumbers of values. Where one that is asked for is a text, which is
// at no threshold, it returns its input and false.
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
