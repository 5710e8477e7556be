package certify

// shape describes which codes of its feature a cut removes from the region covered by the leaf of
// an object.
type shape uint8

const (
	lower shape = iota // codes < bound, and missing
	upper              // codes >= bound, without missing
	only               // only the code bound
	rest               // all codes except bound
)

// cut is the set of codes that a test removes from the region around an object: the outcomes
// without the object. Cuts with the same item are paid once. All thresholds below the object's code
// are a single item, because the nearest of them removes everything that the farther ones do, and
// the cheapest leaf asks only one of them. If repeats are free, all cuts of a feature are a single
// item.
type cut struct {
	cost    float64
	feature int32
	item    int32
	group   int32
	bound   uint16
	missing uint16
	shape   shape
}

// removes reports whether the cut removes a code of its feature.
func (c *cut) removes(code uint16) bool {
	switch c.shape {
	case lower:
		return code < c.bound || code == c.missing
	case upper:
		return code >= c.bound && code != c.missing
	case only:
		return code == c.bound
	default:
		return code != c.bound
	}
}

// The slots of a feature's items: one for each shape, and one for each code if there are tests of
// single codes.
const (
	slotLower = iota
	slotUpper
	slotRest
	slotOnly
)

// slots returns how many items a feature with this many codes has.
func (a *feature) slots(codes int) int {
	if a.single {
		return slotOnly + codes
	}
	return slotOnly + 1
}

// cut returns a cut of feature f.
func (a *feature) cut(f int32, s shape, bound uint16, slot int, cost float64) cut {
	if a.free {
		slot = 0
	}
	return cut{
		cost: cost, feature: f, item: a.base + int32(slot), group: a.group, bound: bound, missing: a.missing,
		shape: s,
	}
}

// appendCuts appends the least cuts of feature f that separate the code own from the code other.
// Any test that separates the two codes removes at least one of these cuts, and costs no less.
func (a *feature) appendCuts(cuts []cut, f int32, own, other uint16) []cut {
	switch {
	case a.whole || a.present == 2:
		return append(cuts, a.cut(f, rest, own, slotRest, min(a.price(own), a.price(other))))
	case a.single && a.free: // testing code by code costs no more than a wider cut
		return append(cuts, a.cut(f, only, other, slotOnly, a.cost))
	}
	if a.ordered {
		cuts = a.appendThreshold(cuts, f, own, other)
	}
	switch {
	case a.single:
		cuts = append(cuts, a.cut(f, only, other, slotOnly+int(other), a.price(other)),
			a.cut(f, rest, own, slotRest, a.price(own)))
	case other == a.missing:
		cuts = append(cuts, a.cut(f, only, other, slotOnly, a.cost))
	}
	return cuts
}

// appendThreshold appends the least threshold that separates two codes. A missing value takes the
// no branch, like the codes below the threshold. For an object without a value, the test for
// missing counts as the threshold 0.
func (a *feature) appendThreshold(cuts []cut, f int32, own, other uint16) []cut {
	switch {
	case own == a.missing:
		return append(cuts, a.cut(f, upper, other, slotUpper, a.cost))
	case other == a.missing && own == 0:
		return cuts
	case other == a.missing:
		return append(cuts, a.cut(f, lower, 1, slotLower, a.cost))
	case other < own:
		return append(cuts, a.cut(f, lower, other+1, slotLower, a.cost))
	default:
		return append(cuts, a.cut(f, upper, other, slotUpper, a.cost))
	}
}
