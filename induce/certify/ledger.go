package certify

// ledger keeps the unpaid part of each price along a path of cuts.
type ledger struct {
	groups []float64 // prices of the groups
	spare  []float64 // unpaid part of each item's price; valid if its stamp is the round
	stamp  []int32   // by item
	round  int32
	group  []float64 // unpaid part of each group's price
}

func newLedger(p *problem) ledger {
	return ledger{
		groups: p.groups, spare: make([]float64, p.items), stamp: make([]int32, p.items),
		group: make([]float64, len(p.groups)),
	}
}

// open starts a round in which the region's cuts and their groups are paid.
func (l *ledger) open(g *region) {
	l.round++
	copy(l.group, l.groups)
	for ; g.parent != nil; g = g.parent {
		l.settle(&g.cut)
	}
}

// settle marks a cut's item and group as paid.
func (l *ledger) settle(c *cut) {
	l.stamp[c.item] = l.round
	l.spare[c.item] = 0
	if c.group >= 0 {
		l.group[c.group] = 0
	}
}

// due returns the unpaid part of a cut's price and of its group's.
func (l *ledger) due(c *cut) float64 {
	due := c.cost
	if l.stamp[c.item] == l.round {
		due = l.spare[c.item]
	}
	if c.group >= 0 {
		due += l.group[c.group]
	}
	return due
}

// borne returns the sum of the payments received by a cut's item and by its group.
func (l *ledger) borne(c *cut) float64 {
	borne := 0.0
	if l.stamp[c.item] == l.round {
		borne = c.cost - l.spare[c.item]
	}
	if c.group >= 0 {
		borne += l.groups[c.group] - l.group[c.group]
	}
	return borne
}

// pay pays a rival as much as each of its cuts can still bear, but not more than
// most, and returns the payment. The cuts of one group share the group's price
// evenly.
func (l *ledger) pay(r *rival, most float64) float64 {
	share := 1 / float64(len(r.cuts))
	paid := most
	for i := range r.cuts {
		c := &r.cuts[i]
		if l.stamp[c.item] != l.round {
			l.stamp[c.item] = l.round
			l.spare[c.item] = c.cost
		}
		spare := l.spare[c.item]
		if c.group >= 0 {
			spare += float64(l.group[c.group] * share)
		}
		if paid = min(paid, spare); paid <= 0 {
			return 0
		}
	}
	for i := range r.cuts {
		c := &r.cuts[i]
		over := paid - l.spare[c.item]
		l.spare[c.item] = max(0, -over)
		if over > 0 && c.group >= 0 {
			l.group[c.group] = max(0, l.group[c.group]-over)
		}
	}
	return paid
}
