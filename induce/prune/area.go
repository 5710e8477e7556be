package prune

import "github.com/espalier-ml/espalier/induce/metric"

// columnClasses is the number of classes whose probabilities are read together: they
// lie in one cache line of each node.
const columnClasses = 8

// scoreAreas sets the macro-averaged areas under the ROC curves of all sequences of a
// tree.
func scoreAreas(sequences []*Sequence, paths []moves, scores [][]Score, r *Rows) {
	classes := len(r.tree.Label.Classes)
	first := 0
	if classes == 2 {
		first = 1 // two classes have one area, of the second class
	}
	a := newArea(r)
	sums := make([][]float64, len(sequences))
	for i, s := range sequences {
		sums[i] = make([]float64, len(s.Steps))
	}
	byClass := r.byClass()
	defined := 0
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

// area maintains twice Mann and Whitney's U of a class while rows move between leaves. U is the
// weight of the pairs of a positive and a negative row in which the positive row's leaf has the
// higher probability; a tie counts half. The positive rows are the rows of the class. Only the
// slots of leaves matter: see metric.Tiers.
type area struct {
	rows     *Rows
	tiers    metric.Tiers
	slots    []int32  // by node
	positive []uint64 // by node: weight of the rows of the class
	all      uint64   // weight of the rows of the class
	rest     uint64   // weight of all other rows

	leaves fenwick // weights in leaves, by slot
	twice  metric.Pairs
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
	area := a.twice.Over(a.all, a.rest)
	at := int32(0)
	for k, end := range m.outEnds {
		moved := false
		for ; at < end; at++ {
			v := m.out[at]
			if from, to := a.slots[v], a.slots[m.to[at]]; from != to {
				p := a.positive[v]
				a.move(from, to, weights{p, uint64(a.rows.weight[v]) - p})
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
	a.leaves.reset(a.tiers.Slots())
	for _, v := range leaves {
		slot := &a.leaves.own[a.slots[v]]
		p := a.positive[v]
		slot.positive += p
		slot.negative += uint64(a.rows.weight[v]) - p
	}
	a.twice = metric.Pairs{}
	below := uint64(0)
	for _, slot := range a.leaves.own {
		a.twice.Add(slot.positive, 2*below+slot.negative)
		below += slot.negative
	}
	a.leaves.build()
}

// move moves positive and negative rows from one slot to another.
func (a *area) move(from, to int32, w weights) {
	a.leaves.add(from, weights{-w.positive, -w.negative}) // modulo 2^64: the sums themselves are never negative
	beats, beaten := a.pairs(from, &w)
	a.twice.Sub(w.positive, beats)
	a.twice.Sub(w.negative, beaten)
	beats, beaten = a.pairs(to, &w)
	a.twice.Add(w.positive, beats)
	a.twice.Add(w.negative, beaten)
	a.leaves.add(to, w)
}

// pairs returns the pairs of one of the rows with rows of the leaves, if the rows were in
// a slot: twice the weight of the negative rows below a positive one (beats), and twice
// the weight of the positive rows above a negative one (beaten). A tie counts half. The
// rows are not in the leaves. Pairs among themselves are in the first weight only.
func (a *area) pairs(slot int32, w *weights) (beats, beaten uint64) {
	below := a.leaves.before(slot)
	tied := &a.leaves.own[slot]
	return 2*below.negative + tied.negative + w.negative, 2*(a.all-w.positive-below.positive) - tied.positive
}

// weights are the weight of the rows of a class, and of all other rows.
type weights struct{ positive, negative uint64 }

// fenwick is a list of weights with the sums of its beginnings (Fenwick 1994).
type fenwick struct {
	own  []weights
	sums []weights // entry i is the sum of the i & -i elements before position i
}

// reset makes all n elements 0. The caller may set own, and must then call build.
func (f *fenwick) reset(n int) {
	if cap(f.own) < n {
		f.own = make([]weights, 2*n)
		f.sums = make([]weights, 2*n+1)
	}
	f.own = f.own[:n]
	f.sums = f.sums[:n+1]
	clear(f.own)
}

// build sets the sums from the elements.
func (f *fenwick) build() {
	clear(f.sums)
	for i := 1; i < len(f.sums); i++ {
		f.sums[i].add(&f.own[i-1])
		if up := i + i&-i; up < len(f.sums) {
			f.sums[up].add(&f.sums[i])
		}
	}
}

func (f *fenwick) add(at int32, w weights) {
	f.own[at].add(&w)
	for i := int(at) + 1; i < len(f.sums); i += i & -i {
		f.sums[i].add(&w)
	}
}

// before returns the sum of the elements before a position.
func (f *fenwick) before(at int32) weights {
	var sum weights
	for i := int(at); i > 0; i &= i - 1 {
		sum.add(&f.sums[i])
	}
	return sum
}

func (w *weights) add(x *weights) {
	w.positive += x.positive
	w.negative += x.negative
}
