package split

// Bounds limit the share of the second of two classes in a node and in all nodes
// below it, so that monotone constraints hold.
//
// A threshold on a constrained feature competes only if the shares of its two sides
// are in the order of the constraint. The mean of the two shares then bounds both
// sides, so the leaves of the two sides keep the order. Every further test on any
// feature must keep its sides within the bounds (as monotonic_cst of scikit-learn).
type Bounds struct{ Low, High float64 }

// Unbounded are the bounds of the root.
func Unbounded() Bounds { return Bounds{0, 1} }

// Clip returns the share nearest to the given one within the bounds.
func (b Bounds) Clip(share float64) float64 { return min(max(share, b.Low), b.High) }

// Side returns the bounds of one side of a threshold on a constrained feature, given
// the outcome of the side, 0 or 1. monotone is the constraint, +1 or -1; middle is
// the Middle of the two sides.
func (b Bounds) Side(monotone int8, outcome int, middle float64) Bounds {
	if (monotone > 0) == (outcome > 0) {
		b.Low = max(b.Low, middle)
	} else {
		b.High = min(b.High, middle)
	}
	return b
}

// Middle returns the mean of two sides' shares of the second class, given the sides'
// weights by class.
func Middle(no, yes []int64) float64 {
	return (share(no[1], no[0]+no[1]) + share(yes[1], yes[0]+yes[1])) / 2
}

func share(part, all int64) float64 { return float64(part) / float64(all) }

func (b Bounds) hold(share float64) bool { return b.Low <= share && share <= b.High }

// within reports whether both sides of a test are within the node's bounds. second is
// the weight of the second class on the yes side. Like ordered, it is not inlined into
// the hot loops, as most trees have no bounds.
//
//go:noinline
func (s *Scanner) within(second int64, no, yes *side) bool {
	return s.n.Bounds.hold(share(s.n.M[1]-second, no.weight)) && s.n.Bounds.hold(share(second, yes.weight))
}

// ordered reports whether the two sides of a threshold are within the bounds, and in
// the order of the feature's constraint. The scanner's sums hold the no side.
//
//go:noinline
func (s *Scanner) ordered(no, yes *side) bool {
	second := s.acc[3] // weight of the second class on the no side
	low, high := share(second, no.weight), share(s.n.M[1]-second, yes.weight)
	if s.column.Monotone > 0 && low > high || s.column.Monotone < 0 && low < high {
		return false
	}
	return s.n.Bounds.hold(low) && s.n.Bounds.hold(high)
}

// allWithin reports whether all outcomes of a multiway test are within the bounds.
func (s *Scanner) allWithin() bool {
	for i, code := range s.present {
		if !s.n.Bounds.hold(share(s.cells(int(code))[3], s.sides[i].weight)) {
			return false
		}
	}
	return true
}
