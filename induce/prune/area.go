package prune

import "github.com/espalier-ml/espalier/induce/metric"

// columnClasses is the number of classes whose probabilities are read together: they
// lie in one cache line of each node.
const columnClasses = 8

// scoreAreas sets the macro-averaged areas under the ROC curves of all sequences of a
// tree.
func scoreAreas(sequences []*Sequence, paths []moves, scores [][]Score, r *Rows) {
	classes, first := len(r.tree.Label.Classes), 0
	if classes == 2 {
		first = 1 // two classes have one area, of the second class
	}
	a := newArea(r)
	sums := make([][]float64, len(sequences))
	for i, s := range sequences {
		sums[i] = make([]float64, len(s.Steps))
	}
	byClass, defined := r.byClass(), 0
	columns := make([][]float64, columnClasses)
	for j := range columns {
		columns[j] = make([]float64, len(r.weight))
	}
	for c := first; c < classes; c++ {
		if at := (c - first) % columnClasses; at == 0 {
			r.readProbabilities(columns, c)
		}
		if !a.begin(byClass[c], columns[(c-first)%columnClasses]) {
			continue
		}
		defined++
		for i := range sequences {
			a.sweep(&paths[i], sums[i])
		}
		a.end(byClass[c])
	}
	if defined == 0 {
		return
	}
	for i := range sequences {
		for k := range scores[i] {
			sums[i][k] /= float64(defined)
			scores[i][k].AUC = &sums[i][k]
		}
	}
}

// readProbabilities fills columns with the nodes' probabilities of the classes from the
// given one on.
func (r *Rows) readProbabilities(columns [][]float64, from int) {
	for v := range r.weight {
		for j, p := range r.tree.Nodes[v].Probabilities[from:min(from+len(columns), len(r.tree.Label.Classes))] {
			columns[j][v] = p
		}
	}
}

// area keeps twice Mann and Whitney's U of a class while rows move between leaves. U is
// the weight of the pairs of a positive and a negative row in which the positive row's
// leaf has the higher probability; a tie counts half. The positive rows are those of
// the class. Only the slots of leaves matter, see metric.Tiers.
type area struct {
	rows     *Rows
	tiers    metric.Tiers
	slots    []int32  // by node
	positive []uint64 // by node: weight of the rows of the class
	all      uint64   // weight of the rows of the class
	rest     uint64   // weight of all other rows

	positives, negatives fenwick // by tier; by slot
	twice                metric.Pairs
}

func newArea(r *Rows) *area {
	return &area{rows: r, slots: make([]int32, len(r.weight)), positive: make([]uint64, len(r.weight))}
}

// begin takes up a class, given the nodes that its rows reach and all nodes'
// probabilities of the class. It returns false if the class has no area; else end must
// follow.
func (a *area) begin(nodes []nodeShare, probabilities []float64) bool {
	if len(nodes) == 0 || nodes[0].weight == a.rows.weight[0] { // nodes[0] is the root
		return false
	}
	a.all = uint64(nodes[0].weight)
	a.rest = uint64(a.rows.weight[0]) - a.all
	a.tiers.Clear()
	for _, n := range nodes {
		a.positive[n.node] = uint64(n.weight)
		a.tiers.Add(probabilities[n.node])
	}
	a.tiers.Settle()
	for v, p := range probabilities {
		a.slots[v] = a.tiers.Slot(p)
	}
	return true
}

// end forgets the class's weights.
func (a *area) end(nodes []nodeShare) {
	for _, n := range nodes {
		a.positive[n.node] = 0
	}
}

// sweep adds the area of each step to the sums.
func (a *area) sweep(m *moves, sums []float64) {
	a.start(m.in[:m.inEnds[0]])
	area, at := a.twice.Over(a.all, a.rest), int32(0)
	for k, end := range m.outEnds {
		moved := false
		for ; at < end; at++ {
			v := m.out[at]
			if from, to := a.slots[v], a.slots[m.to[at]]; from != to {
				p := a.positive[v]
				a.move(from, to, p, uint64(a.rows.weight[v])-p)
				moved = true
			}
		}
		if moved {
			area = a.twice.Over(a.all, a.rest)
		}
		sums[k] += area
	}
}

// start puts the rows into the leaves of the un-pruned tree.
func (a *area) start(leaves []int32) {
	a.positives.reset(a.tiers.Len())
	a.negatives.reset(a.tiers.Slots())
	for _, v := range leaves {
		p := a.positive[v]
		a.negatives.own[a.slots[v]] += uint64(a.rows.weight[v]) - p
		if p > 0 {
			a.positives.own[a.slots[v]/2] += p
		}
	}
	a.twice = metric.Pairs{}
	below := uint64(0)
	for tier, p := range a.positives.own {
		below += a.negatives.own[2*tier]
		tied := a.negatives.own[2*tier+1]
		a.twice.Add(p, 2*below+tied)
		below += tied
	}
	a.positives.build()
	a.negatives.build()
}

// move moves positive and negative rows from a slot to another one.
func (a *area) move(from, to int32, positive, negative uint64) {
	if positive > 0 { // both slots are tiers
		a.positives.add(from/2, -positive) // modulo 2^64: the sums themselves are never negative
		a.twice.Sub(positive, a.beats(from))
	}
	if negative > 0 {
		all := a.all - positive
		a.twice.Sub(negative, a.beatenBy(from, all))
		a.twice.Add(negative, a.beatenBy(to, all))
		a.negatives.add(from, -negative)
		a.negatives.add(to, negative)
	}
	if positive > 0 {
		a.twice.Add(positive, a.beats(to))
		a.positives.add(to/2, positive)
	}
}

// beats returns twice the weight of the negative rows that a positive row of a slot
// ranks above; a tie counts half.
func (a *area) beats(slot int32) uint64 { return 2*a.negatives.before(slot) + a.negatives.own[slot] }

// beatenBy returns twice the weight of the positive rows, all in number, that rank above
// a negative row of a slot; a tie counts half.
func (a *area) beatenBy(slot int32, all uint64) uint64 {
	beaten := 2 * (all - a.positives.before(slot/2))
	if slot%2 == 1 {
		beaten -= a.positives.own[slot/2]
	}
	return beaten
}

// fenwick is a list of weights with the sums of its beginnings (Fenwick 1994).
type fenwick struct {
	own  []uint64
	sums []uint64 // entry i is the sum of the i & -i elements before position i
}

// reset makes all n elements 0. The caller may set own, and must then call build.
func (f *fenwick) reset(n int) {
	if cap(f.own) < n {
		f.own, f.sums = make([]uint64, 2*n), make([]uint64, 2*n+1)
	}
	f.own, f.sums = f.own[:n], f.sums[:n+1]
	clear(f.own)
}

// build sets the sums from the elements.
func (f *fenwick) build() {
	clear(f.sums)
	for i := 1; i < len(f.sums); i++ {
		f.sums[i] += f.own[i-1]
		if up := i + i&-i; up < len(f.sums) {
			f.sums[up] += f.sums[i]
		}
	}
}

func (f *fenwick) add(at int32, weight uint64) {
	f.own[at] += weight
	for i := int(at) + 1; i < len(f.sums); i += i & -i {
		f.sums[i] += weight
	}
}

// before returns the sum of the elements before a position.
func (f *fenwick) before(at int32) uint64 {
	sum := uint64(0)
	for i := int(at); i > 0; i &= i - 1 {
		sum += f.sums[i]
	}
	return sum
}
