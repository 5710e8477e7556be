package certify

import (
	"container/heap"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// talliedPeers is roughly the greatest number of peers that a tally counts.
const talliedPeers = 256

// count tallies the peers of a region, or an even sample if there are many.
func (s *searcher) count(g *region) {
	t := s.tally
	t.total = 0
	step := 1 + len(g.peers)/talliedPeers
	for at := 0; at < len(g.peers); at += step {
		t.total += s.peerWeight[g.peers[at]]
	}
	for f, below := range t.below {
		clear(below)
		weight := below[1:]
		column := s.column(int32(f))
		for at := 0; at < len(g.peers); at += step {
			k := g.peers[at]
			weight[column[k]] += s.peerWeight[k]
		}
		cumulate(below)
	}
	s.work += len(g.peers) / step * len(t.below)
}

// bound returns a lower bound on the value of a homogeneous leaf with the object, or enough if that
// is less. It is a best-first search over regions that may contain the leaf: the region of least
// value is opened next, and replaced by the regions behind each cut of one of its rivals. The leaf
// is in one of these.
func (s *searcher) bound(v *value, enough float64) float64 {
	s.open = s.open[:0]
	s.made = 0
	s.work = 0
	clear(s.seen)
	heap.Push(&s.open, s.root(v))
	for s.open.Len() > 0 {
		g := heap.Pop(&s.open).(*region) //nolint:errcheck // the heap holds regions only
		if g.value >= enough {
			return enough
		}
		if s.work > s.p.work || s.p.meter.stops() {
			s.cut = true
			return g.value
		}
		if !s.enter(g) {
			return min(enough, max(g.value, v.leaf(s.p.roundUp(g.cost), s.odds(g))))
		}
		s.raise(g, s.packing(g), v)
		if s.open.Len() > 0 && s.open.less(s.open[0], g) {
			heap.Push(&s.open, g)
			continue
		}
		s.admit(g)
		s.branch(g, s.choose(g), v)
	}
	return enough
}

// root returns the region of all codes.
func (s *searcher) root(v *value) *region {
	g := &region{weight: s.weight, peers: make([]int32, len(s.peerWeight))}
	for k := range g.peers {
		g.peers[k] = int32(k)
	}
	s.raise(g, 0, v)
	return g
}

// raise raises the bounds of a region, given that every leaf in it pays at least rest in addition
// to the region's own cuts.
func (s *searcher) raise(g *region, rest float64, v *value) {
	g.least = max(g.least, s.p.roundUp(g.cost+rest))
	g.value = max(g.value, v.leaf(g.least, s.odds(g)))
}

// enter lists the rivals in the region, and reports whether there are any.
func (s *searcher) enter(g *region) bool {
	s.list(g)
	if len(s.inside) == 0 && s.findCentral(g, maxAdded) > 0 {
		s.list(g)
	}
	return len(s.inside) > 0
}

// admit lists the peers in the region, and tallies them.
func (s *searcher) admit(g *region) {
	if g.peers == nil {
		into := make([]int32, len(g.parent.peers))
		codes := dataset.Codes{U16: s.column(g.cut.feature)}
		outside := codes.Partition(g.parent.peers, into, uint32(g.cut.low), uint32(g.cut.span))
		if g.peers = into[outside:]; g.cut.inside {
			g.peers = into[:outside]
		}
		s.work += len(g.parent.peers)
	}
	s.count(g)
}

// list lists the rivals in the region.
func (s *searcher) list(g *region) {
	s.inside = s.inside[:0]
	for i := range s.rivals {
		if r := &s.rivals[i]; s.holds(g, s.p.row(r.object)) {
			s.inside = append(s.inside, r)
		}
	}
	s.work += len(s.rivals)
}

// holds reports whether a row is in the region.
func (s *searcher) holds(g *region, row []uint16) bool {
	for ; g.parent != nil; g = g.parent {
		if g.cut.removes(row[g.cut.feature]) {
			return false
		}
	}
	return true
}

// choose returns the rival to branch on: the rival whose widest remaining region, over its cuts,
// has the least weight of peers. A cut that is not yet paid for counts half the weight that it
// leaves, which is worth one bit.
func (s *searcher) choose(g *region) *rival {
	s.prices.open(g)
	var best *rival
	least := int64(math.MaxInt64)
	for _, r := range s.inside {
		most := int64(0)
		for i := range r.cuts {
			c := &r.cuts[i]
			left := 2 * (s.tally.total - s.tally.taken(c))
			if s.prices.due(c) > 0 {
				left /= 2
			}
			if most = max(most, left); most >= least {
				break
			}
		}
		s.work += len(r.cuts)
		if most < least {
			best = r
			least = most
		}
	}
	return best
}

// branch makes a region for each cut of a rival. A leaf in g without the rival is in one of them.
func (s *searcher) branch(g *region, r *rival, v *value) {
	left := s.weigh(g, r)
	for i := range r.cuts {
		c := &r.cuts[i]
		child := &region{parent: g, cut: *c, weight: left[i], least: g.least, value: g.value}
		if s.repeated(child) {
			continue
		}
		due := s.prices.due(c)
		child.cost = g.cost + due
		// The payments to g's rivals remain valid, less the part received by the cut's item.
		rest := s.paid
		if due > 0 {
			rest = max(0, rest-s.packed.borne(c))
		}
		s.raise(child, rest, v)
		s.made++
		child.number = s.made
		heap.Push(&s.open, child)
	}
}

// weigh returns, for each cut of the rival, the weight of the peers in the region that the cut
// leaves.
func (s *searcher) weigh(g *region, r *rival) []int64 {
	left := make([]int64, len(r.cuts))
	if s.tally.total == g.weight { // the tally counts all peers of the region
		for i := range r.cuts {
			left[i] = s.tally.total - s.tally.taken(&r.cuts[i])
		}
		return left
	}
	for i := range r.cuts {
		c := &r.cuts[i]
		column := s.column(c.feature)
		for _, k := range g.peers {
			if !c.removes(column[k]) {
				left[i] += s.peerWeight[k]
			}
		}
	}
	s.work += len(g.peers) * len(r.cuts)
	return left
}

// odds returns the inverse of the greatest share of the weight that a leaf in the region can have.
func (s *searcher) odds(g *region) float64 { return float64(s.scale) / float64(g.weight) }

// packing returns a lower bound on the cost of removing all rivals from the region. It builds a
// solution of the dual covering programme greedily: each rival in turn is paid as much as each of
// its cuts can still bear.
func (s *searcher) packing(g *region) float64 {
	s.packed.open(g)
	s.paid = 0
	for _, r := range s.inside[:min(len(s.inside), maxPacked)] {
		s.paid += s.packed.pay(r, math.Inf(1))
		s.work += len(r.cuts)
	}
	s.paid *= 1 - 1e-9
	return s.paid
}

// repeated reports whether the region was already made by the same cuts in another order.
func (s *searcher) repeated(g *region) bool {
	s.key = s.key[:0]
	for ; g.parent != nil; g = g.parent {
		cut := uint64(g.cut.item)<<32 | uint64(g.cut.low)<<16 | uint64(g.cut.span)
		if g.cut.inside {
			cut |= 1 << 63
		}
		s.key = append(s.key, cut)
	}
	slices.Sort(s.key)
	name := make([]byte, 0, 8*len(s.key))
	for _, c := range s.key {
		for shift := 0; shift < 64; shift += 8 {
			name = append(name, byte(c>>shift))
		}
	}
	if s.seen[string(name)] {
		return true
	}
	s.seen[string(name)] = true
	return false
}
