package certify

// shape says which codes of its attribute a cut removes from the region that an
// object's leaf covers.
type shape uint8

const (
	lower shape = iota // codes below bound, and missing
	upper              // codes from bound on, without missing
	only               // the code bound
	rest               // all codes but bound
)

// cut is what a test takes away from the region of codes around an object: the
// side that the object is not on. Cuts of one item are paid for once: of the
// thresholds below the object's code the nearest one takes away what all
// others do, so the cheapest leaf has asked one of them; and where repeats are
// free all cuts of an attribute are one item.
type cut struct {
	cost      float64
	attribute int32
	item      int32
	group     int32
	bound     uint16
	missing   uint16
	shape     shape
}

// removes reports whether the cut takes away a code of its attribute.
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

// The slots of an attribute's items: one for each shape, and where single codes
// are tested one for each code.
const (
	slotLower = iota
	slotUpper
	slotRest
	slotOnly
)

// slots returns how many items an attribute of so many codes has.
func (a *attribute) slots(codes int) int {
	if a.single {
		return slotOnly + codes
	}
	return slotOnly + 1
}

// cut returns the cut that takes away what a shape and its bound say.
func (a *attribute) cut(f int32, s shape, bound uint16, slot int, cost float64) cut {
	if a.free {
		slot = 0
	}
	return cut{cost: cost, attribute: f, item: a.base + int32(slot), group: a.group, bound: bound, missing: a.missing,
		shape: s}
}

// appendCuts appends the cuts of attribute f that part an object with the code
// own from those with the code other. Whatever test parts the two takes away all
// that one of these cuts does, and costs no less.
func (a *attribute) appendCuts(cuts []cut, f int32, own, other uint16) []cut {
	switch {
	case a.whole || a.present == 2:
		return append(cuts, a.cut(f, rest, own, slotRest, min(a.price(own), a.price(other))))
	case a.single && a.free: // code by code, which costs no more than a wider cut
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

// appendThreshold appends the threshold that parts two codes and takes away
// least. Missing answers no, as the codes below a threshold do; for an object
// without a value the test for missing counts as the threshold 0.
func (a *attribute) appendThreshold(cuts []cut, f int32, own, other uint16) []cut {
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
