package tree

import (
	"math"
	"slices"
)

const (
	// mostPairs is the greatest number of pairs of leaves that SettleLeaves puts in order. This
	// many take 16 MiB, and each sweep over them takes a few milliseconds.
	mostPairs = 1 << 20
	// mostSweeps is the greatest number of passes over the pairs. Most trees need a few dozen.
	mostSweeps = 200
	// settled ends the sweeps once none moves a probability further than this. The probabilities of
	// moved leaves are rounded to multiples of twice this value, so that leaves that should agree
	// do so exactly.
	settled = 0x1p-26
)

// SettleLeaves estimates the leaves of a tree with monotone features again, for a tree that is not
// pruned further. Two leaves must be in order if they are reached by two rows that differ only in a
// monotone feature. The new probabilities start from the probabilities of Estimate without the constraint, and
// move as little as possible, measured by the weighted sum of squares (isotonic regression by
// Hildreth's algorithm of 1957). Inner nodes keep the probabilities of Estimate, as do all nodes if
// there are too many such pairs. SettleLeaves does nothing for a tree without monotone features.
func (t *Tree) SettleLeaves(e Estimate, scale float64) {
	if !t.hasMonotone() {
		return
	}
	order, ok := t.leafOrder()
	if !ok {
		t.Estimate(e, scale)
		return
	}
	order.weight = t.estimateFreely(e, scale)
	probabilities := order.settle(t)
	t.separate(order.weight)
	for at, leaf := range order.list.leaves {
		t.Nodes[leaf].setSecond(probabilities[at])
	}
	t.decide()
}

// leafOrder lists the pairs of leaves (lower, upper) in which upper must not have the lower
// probability.
type leafOrder struct {
	list   *leafList
	weight []int64    // by node
	pairs  []leafPair // ordered by the position of their upper leaf in the list
}

// leafPair is two leaves, by their positions in the list.
type leafPair struct {
	lower, upper int32
	force        float64 // Lagrange multiplier: how hard the two press against each other
}

// leafOrder returns the pairs; ok is false if there may be too many.
func (t *Tree) leafOrder() (order *leafOrder, ok bool) {
	o := &leafOrder{list: t.listLeaves()}
	parent := t.parents()
	most := 0
	for i := range t.Nodes {
		if lower, upper, ok := t.sides(&t.Nodes[i]); ok {
			most += len(o.list.of(lower)) * len(o.list.of(upper))
		}
	}
	if most > mostPairs {
		return nil, false
	}
	regions := t.regions()
	for at, leaf := range o.list.leaves {
		for child, i := leaf, parent[leaf]; i >= 0; child, i = i, parent[i] {
			lower, upper, ok := t.sides(&t.Nodes[i])
			if !ok || upper != child {
				continue
			}
			feature := t.Nodes[i].Test.Feature
			missing := t.Features[feature].MissingCode()
			for k, other := range o.list.of(lower) {
				if regions[other].hasNumber(feature, missing) && regions[other].meets(&regions[leaf], feature) {
					o.pairs = append(o.pairs, leafPair{lower: int32(o.list.spans[lower][0] + k), upper: int32(at)})
				}
			}
		}
	}
	return o, true
}

// settle returns the probability of the second class for each leaf in the list.
func (o *leafOrder) settle(t *Tree) []float64 {
	free := make([]float64, len(o.list.leaves))
	inverse := make([]float64, len(o.list.leaves))
	for at, leaf := range o.list.leaves {
		free[at] = t.Nodes[leaf].Probabilities[1]
		inverse[at] = 1 / float64(max(o.weight[leaf], 1))
	}
	p := slices.Clone(free)
	for range mostSweeps {
		if o.sweep(p, inverse) <= settled {
			break
		}
	}
	for at := range p {
		if p[at] != free[at] {
			p[at] = min(max(math.RoundToEven(p[at]/(2*settled))*(2*settled), 0), 1)
		}
	}
	for i := range o.pairs { // mend what the sweeps left unordered; each lower leaf comes before its upper leaves
		x := &o.pairs[i]
		p[x.upper] = max(p[x.upper], p[x.lower])
	}
	return p
}

// sweep puts each pair in order once, and returns the greatest move.
func (o *leafOrder) sweep(p, inverse []float64) (most float64) {
	for i := range o.pairs {
		x := &o.pairs[i]
		over := p[x.lower] - p[x.upper]
		if over <= 0 && x.force == 0 {
			continue
		}
		down := inverse[x.lower]
		up := inverse[x.upper]
		step := max(over/(down+up), -x.force)
		x.force += step
		p[x.lower] -= float64(step * down)
		p[x.upper] += float64(step * up)
		most = max(most, math.Abs(float64(step*max(down, up))))
	}
	return most
}

// region lists the codes of the rows that can reach a node, for each feature tested on its path.
type region struct {
	features []int      // ascending
	codes    [][]uint64 // by position in features: a bit for each code
}

// regions returns the region of each node.
func (t *Tree) regions() []region {
	router := t.Router()
	regions := make([]region, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			continue
		}
		f := n.Test.Feature
		at, tested := slices.BinarySearch(regions[i].features, f)
		sets := make(map[int][]uint64, len(n.Branches)) // by child
		codes := t.Features[f].Codes()
		for _, b := range n.Branches {
			sets[b.Child] = make([]uint64, (codes+63)/64)
		}
		for code := range codes {
			if !tested || has(regions[i].codes[at], code) {
				sets[router.Child(i, code)][code/64] |= 1 << (code % 64)
			}
		}
		for _, b := range n.Branches {
			r := region{slices.Clone(regions[i].features), slices.Clone(regions[i].codes)}
			if tested {
				r.codes[at] = sets[b.Child]
			} else {
				r.features, r.codes = slices.Insert(r.features, at, f), slices.Insert(r.codes, at, sets[b.Child])
			}
			regions[b.Child] = r
		}
	}
	return regions
}

func has(set []uint64, code int) bool { return set[code/64]>>(code%64)&1 == 1 }

// hasNumber reports whether the region has a code other than missing for a tested feature.
func (r *region) hasNumber(feature, missing int) bool {
	at, _ := slices.BinarySearch(r.features, feature)
	for w, set := range r.codes[at] {
		if w == missing/64 {
			set &^= 1 << (missing % 64)
		}
		if set != 0 {
			return true
		}
	}
	return false
}

// meets reports whether the two regions share a code of every feature except but.
func (r *region) meets(o *region, but int) bool {
	i, j := 0, 0
	for i < len(r.features) && j < len(o.features) {
		switch f, g := r.features[i], o.features[j]; {
		case f < g:
			i++
		case f > g:
			j++
		default:
			if f != but && !overlap(r.codes[i], o.codes[j]) {
				return false
			}
			i++
			j++
		}
	}
	return true
}

func overlap(a, b []uint64) bool {
	for w := range a {
		if a[w]&b[w] != 0 {
			return true
		}
	}
	return false
}
