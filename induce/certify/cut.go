package certify

// cut is the set of codes that a test removes from the region around an object: the outcomes
// without the object. Cuts with the same item are paid once. All thresholds below the object's code
// are a single item, because the nearest of them removes everything that the farther ones do, and
// the cheapest leaf asks only one of them. If repeats are free, all cuts of a feature are a single
// item.
type cut struct {
	cost      float64
	feature   int32
	item      int32
	group     int32
	low, span uint16 // the codes from low to low+span
	inside    bool   // whether the cut removes these codes, or all codes but these
}

// removes reports whether the cut removes a code of its feature.
func (c *cut) removes(code uint16) bool { return code-c.low <= c.span == c.inside }

// The slots of a feature's items: one for each kind of cut, and one for each code if there are tests of
// single codes.
const (
	slotLower = iota // codes below a bound, and missing
	slotUpper        // codes from a bound on, without missing
	slotRest         // all codes but one
	slotOnly         // one code
)

// slots returns how many items a feature with this many codes has.
func (a *feature) slots(codes int) int {
	if a.single {
		return slotOnly + codes
	}
	return slotOnly + 1
}

// cut returns a cut of feature f.
func (a *feature) cut(f int32, slot int, low, span uint16, inside bool, cost float64) cut {
	if a.free || a.sets {
		slot = 0
	}
	return cut{
		cost: cost, feature: f, item: a.base + int32(slot), group: a.group, low: low, span: span, inside: inside,
	}
}

// appendCuts appends the least cuts of feature f that separate the code own from the code other.
// Any test that separates the two codes removes at least one of these cuts, and costs no less.
func (a *feature) appendCuts(cuts []cut, f int32, own, other uint16) []cut {
	switch {
	case a.whole || a.present == 2:
		return append(cuts, a.cut(f, slotRest, own, 0, false, min(a.price(own), a.price(other))))
	case a.single && (a.free || a.sets): // one price is paid, however many codes are removed
		return append(cuts, a.cut(f, slotOnly, other, 0, true, a.cost))
	}
	if a.ordered {
		cuts = a.appendThreshold(cuts, f, own, other)
	}
	switch {
	case a.single:
		cuts = append(cuts, a.cut(f, slotOnly+int(other), other, 0, true, a.price(other)),
			a.cut(f, slotRest, own, 0, false, a.price(own)))
	case other == a.missing:
		cuts = append(cuts, a.cut(f, slotOnly, other, 0, true, a.cost))
	}
	return cuts
}

// appendThreshold appends the least threshold that separates two codes. A missing value takes the
// no branch, like the codes below the threshold. For an object without a value, the test for
// missing counts as the threshold 0.
func (a *feature) appendThreshold(cuts []cut, f int32, own, other uint16) []cut {
	switch {
	case own == a.missing:
		return append(cuts, a.cut(f, slotUpper, other, a.missing-1-other, true, a.cost))
	case other == a.missing && own == 0:
		return cuts
	case other == a.missing:
		return append(cuts, a.cut(f, slotLower, 1, a.missing-2, false, a.cost))
	case other < own:
		return append(cuts, a.cut(f, slotLower, other+1, a.missing-2-other, false, a.cost))
	default:
		return append(cuts, a.cut(f, slotUpper, other, a.missing-1-other, true, a.cost))
	}
}
