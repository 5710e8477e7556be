package tree

// link is a test of a tree of numeric features alone, in 16 bytes. Links lie in
// depth-first order: whoever is below the cut goes on to the next one. A processor
// that guesses right runs ahead through the list as through compiled conditions.
type link struct {
	cut   float64
	input int32 // below 0, the complement of a leaf
	yes   int32 // the link for numbers from the cut on
}

// link appends what a step, or the complement of a leaf, becomes, with all below it,
// and returns its place. A bin is two tests, of which both may lead to its no.
func (s *Scorer) link(at int32) int32 {
	place := int32(len(s.links))
	if at < 0 {
		s.links = append(s.links, link{input: at})
		return place
	}
	n := &s.steps[at]
	s.links = append(s.links, link{cut: n.cut, input: n.input})
	no := s.link(n.no)
	if n.op == opBetween {
		s.links[place].yes = int32(len(s.links))
		s.links = append(s.links, link{cut: s.upper[at], input: n.input, yes: no})
		s.link(n.yes)
		return place
	}
	s.links[place].yes = s.link(n.yes)
	return place
}

// walkNumbers returns the leaf that a row of numbers reaches.
func walkNumbers(links []link, numbers []float64) int32 {
	at := 0
	for {
		n := &links[at]
		if n.input < 0 {
			return ^n.input
		}
		if numbers[n.input] >= n.cut {
			at = int(n.yes)
		} else {
			at++
		}
	}
}

// walkValues is walkNumbers of values.
func walkValues(links []link, values []Value) int32 {
	at := 0
	for {
		n := &links[at]
		if n.input < 0 {
			return ^n.input
		}
		if values[n.input].number() >= n.cut {
			at = int(n.yes)
		} else {
			at++
		}
	}
}
