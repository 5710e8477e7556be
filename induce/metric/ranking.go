package metric

import "slices"

// ranking sorts the leaves by ascending probability of a class. Tied leaves are counted together,
// so that areas and gains do not depend on their order. Leaves between two tiers are also counted
// together, because they have no rows of the class.
type ranking struct {
	class     int
	slots     []int32 // by leaf: see Tiers
	tiers     []tier  // by slot
	own, rest uint64  // weight of the rows of the class, and of all other rows
}

// tier is the weight of the rows in a slot: rows of the class, and all other rows.
type tier struct{ own, rest uint64 }

// each calls visit with the ranking by each class >= from. The ranking is only valid during the
// call.
func (t *table) each(from int, visit func(r *ranking)) {
	r := ranking{slots: make([]int32, len(t.leaves))}
	var tiers Tiers
	for c := from; c < len(t.ends); c++ {
		r.class = c
		r.own = 0
		r.rest = 0
		tiers.Clear()
		for _, m := range t.of(c) {
			tiers.Add(t.leaves[m.leaf].Probabilities[c])
		}
		tiers.Settle()
		r.tiers = slices.Grow(r.tiers[:0], tiers.Slots())[:tiers.Slots()]
		clear(r.tiers)
		for i := range t.leaves {
			slot := tiers.Slot(t.leaves[i].Probabilities[c])
			r.slots[i] = slot
			r.tiers[slot].rest += t.totals[i]
			r.rest += t.totals[i]
		}
		for _, m := range t.of(c) {
			slot := &r.tiers[r.slots[m.leaf]]
			slot.own += m.weight
			slot.rest -= m.weight
			r.own += m.weight
			r.rest -= m.weight
		}
		visit(&r)
	}
}

// area returns the area under the ROC curve: Mann and Whitney's U divided by the number of pairs of
// a row of the class and another row. U counts the pairs in which the row of the class has the
// higher probability; a tie counts half. The sum is exact. The area is nil without rows of the
// class or without other rows.
func (r *ranking) area() *float64 {
	var below uint64
	var twice Pairs // twice U
	for _, t := range r.tiers {
		twice.Add(t.own, 2*below+t.rest)
		below += t.rest
	}
	return twice.Share(r.own, r.rest)
}

// beaten returns by slot twice the weight of the rows of the class that rank higher than a row in
// the slot. A tie counts half.
func (r *ranking) beaten() []uint64 {
	list := make([]uint64, len(r.tiers))
	above := uint64(0)
	for slot, t := range slices.Backward(r.tiers) {
		list[slot] = 2*above + t.own
		above += t.own
	}
	return list
}

// averagePrecision returns the sum of (recall - previous recall) * precision over the tiers. It is
// nil without rows of the class.
func (r *ranking) averagePrecision() *float64 {
	if r.own == 0 {
		return nil
	}
	var own, all uint64 // weights so far
	sum := 0.0
	for _, t := range slices.Backward(r.tiers) {
		own += t.own
		all += t.own + t.rest
		if t.own > 0 {
			sum += float64(float64(t.own) / float64(r.own) * (float64(own) / float64(all)))
		}
	}
	return new(sum)
}

// Shares is how many gains and lifts there are: at 1/Shares, 2/Shares, .. 1 of the rows.
const Shares = 10

// gains returns, for each of the Shares, the share of the class's rows among the likeliest rows;
// nil without rows of the class. If a share ends within a tier, the rows of the tier are included
// proportionally.
func (r *ranking) gains() []float64 {
	if r.own == 0 {
		return nil
	}
	gains := make([]float64, 0, Shares)
	var own, all uint64 // weights before the tier
	for _, t := range slices.Backward(r.tiers) {
		for weight := t.own + t.rest; len(gains) < Shares; {
			target := uint64(len(gains)+1) * (r.own + r.rest) // in units of 1/Shares
			if target > Shares*(all+weight) {
				break
			}
			part := float64(target-Shares*all) / float64(Shares*weight)
			gains = append(gains, min(1, (float64(own)+float64(part*float64(t.own)))/float64(r.own)))
		}
		own += t.own
		all += t.own + t.rest
	}
	return gains
}
