package split

// Bounds are what monotone constraints leave to the share of the second of two
// classes in a node and all below it.
//
// A threshold on a constrained feature is considered only if the shares of its
// sides are in order. Their mean then bounds both sides, so that no leaf of the
// one comes past a leaf of the other, and any further test, on whatever feature,
// must keep its sides within the bounds (as monotonic_cst of scikit-learn).
type Bounds struct{ Low, High float64 }

// Unbounded are the bounds of the root.
func Unbounded() Bounds { return Bounds{0, 1} }

// Clip returns the share within the bounds that is nearest to the given one.
func (b Bounds) Clip(share float64) float64 { return min(max(share, b.Low), b.High) }

// Side returns the bounds of the side with the given outcome, 0 or 1, of a
// threshold on a feature with a constraint, +1 or -1. middle is that of its sides.
func (b Bounds) Side(monotone int8, outcome int, middle float64) Bounds {
	if (monotone > 0) == (outcome > 0) {
		b.Low = max(b.Low, middle)
	} else {
		b.High = min(b.High, middle)
	}
	return b
}

// Middle returns the mean of the shares of two sides, from their weights by
// class.
func Middle(no, yes []int64) float64 {
	return (share(no[1], no[0]+no[1]) + share(yes[1], yes[0]+yes[1])) / 2
}

func share(part, all int64) float64 { return float64(part) / float64(all) }

func (b Bounds) hold(share float64) bool { return b.Low <= share && share <= b.High }

// within reports whether both sides of a test on single codes keep to the node's
// bounds; second is the weight of the second class on the yes side. As ordered, it is kept out of
// the loops that call it: most trees have
// no bounds.
//
//go:noinline
func (s *Scanner) within(second int64, no, yes *side) bool {
	return s.n.Bounds.hold(share(s.n.M[1]-second, no.weight)) && s.n.Bounds.hold(share(second, yes.weight))
}

// ordered reports whether the sides of the threshold whose no side is summed up
// are in the order of the feature's constraint, if it has one, and within the
// bounds.
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

// allWithin reports whether each code of a multiway test keeps to the bounds.
func (s *Scanner) allWithin() bool {
	for i, code := range s.present {
		if !s.n.Bounds.hold(share(s.cells(int(code))[3], s.sides[i].weight)) {
			return false
		}
	}
	return true
}
