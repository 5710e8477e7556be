package split

// ordered reports whether the shares of the second of two classes on the two sides of a threshold
// are in the order that the feature demands. Other thresholds on the feature do not compete: the
// leaves below them would have to agree, see tree.Tree.Estimate. The scanner's sums hold the no
// side. ordered is not inlined into the hot loops, as most features demand nothing.
//
//go:noinline
func (s *Scanner) ordered(no, yes *side) bool {
	second := s.acc[3] // weight of the second class on the no side
	low, high := share(second, no.weight), share(s.n.M[1]-second, yes.weight)
	if s.column.Monotone > 0 {
		return low <= high
	}
	return low >= high
}

func share(part, all int64) float64 { return float64(part) / float64(all) }
