package certify

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Limits of the work for one object. A limit lowers the bound, and never makes it
// wrong.
const (
	maxNear    = 64      // nearest rivals at the start of the search
	maxCentral = 192     // most central rivals at the start, see findCentral
	maxAdded   = 32      // rivals added at a time for a region without any
	triedPeers = 512     // peers on which killers tries the rivals
	maxPacked  = 64      // rivals paid in one packing
	peerSample = 1 << 13 // objects drawn afresh for each object of a sample
	stopEvery  = 1 << 12 // objects scanned between two calls of Options.Stop
)

// rival is an object of another class, with the cuts that part it from the
// object under search.
type rival struct {
	object int32
	cuts   []cut
}

// region is a set of codes around the object that may contain its leaf: the codes
// left by the cuts from here to the root of the search. Every leaf in the region
// has paid for these cuts.
type region struct {
	parent *region
	cut    cut
	cost   float64 // cost of the cuts from here to the root
	least  float64 // lower bound on the cost of a leaf in the region
	weight int64   // weight of the peers in the region
	value  float64 // lower bound on the value of a leaf in the region
	peers  []int32 // peers in the region; nil until the region is opened
	number int     // regions are numbered as they are made
}

// frontier is a heap of regions: the least value first, among equal values the
// oldest region.
type frontier []*region

// Len is the number of regions, for container/heap.
func (h frontier) Len() int { return len(h) }

// Less orders two regions, for container/heap.
func (h frontier) Less(i, j int) bool { return h.less(h[i], h[j]) }

func (h frontier) less(a, b *region) bool {
	if a.value != b.value {
		return a.value < b.value
	}
	return a.number < b.number
}

// Swap swaps two regions, for container/heap.
func (h frontier) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push appends a region, for container/heap.
func (h *frontier) Push(x any) { *h = append(*h, x.(*region)) } //nolint:errcheck // the heap holds regions only

// Pop removes the last region, for container/heap.
func (h *frontier) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// searcher bounds the objects of a problem one after another. Only one goroutine may use it.
type searcher struct {
	p *problem

	object int32
	known  map[int32]bool // objects that are rivals already
	rivals []rival
	table  []int64 // by feature and code, see tabulate
	tables []int   // by feature: where its part of the table begins
	most   int64   // greatest entry of the table

	peerRows   []uint16 // codes of the peers that may share a leaf with the object, by peer
	peerCodes  []uint16 // the same codes by feature
	peerWeight []int64
	weight     int64 // weight of all peers
	scale      int64 // weight of the data from which the peers were taken
	random     *rand.Rand

	own    []uint64 // low bytes of the object's row, eight to a word
	near   []nearObject
	counts []int // number of near objects by distance

	prices ledger  // prices left in the open region
	packed ledger  // prices left after packing
	paid   float64 // sum of the payments of packing
	open   frontier
	seen   map[string]bool // regions made, by their cuts
	key    []uint64
	inside []*rival // rivals in the open region
	tally  *mass    // peers in the open region
	made   int      // number of regions made
	work   int      // codes looked at
	cut    bool     // the search under some value reached the limit of work
}

func newSearcher(p *problem) *searcher {
	s := &searcher{
		p: p, prices: newLedger(p), packed: newLedger(p), seen: make(map[string]bool), known: make(map[int32]bool),
		counts: make([]int, 8*p.words+1), tally: p.newMass(),
		own: make([]uint64, p.words),
	}
	entries := 0
	for f := range p.features {
		s.tables = append(s.tables, entries)
		entries += len(p.features[f].weight)
	}
	s.table = make([]int64, entries)
	return s
}

// start takes up an object, and finds its rivals and peers. draw is the object's
// number in the sample.
func (s *searcher) start(object int32, draw int) {
	s.object = object
	s.random = rand.New(rand.NewPCG(s.p.seed, uint64(draw)<<32))
	s.tabulate()
	clear(s.known)
	s.rivals = s.rivals[:0]
	s.findNear()
	s.findCentral(nil, maxCentral)
	s.takePeers()
	s.findPeers()
}

// add makes an object a rival.
func (s *searcher) add(object int32) {
	if s.known[object] {
		return
	}
	s.known[object] = true
	if n := len(s.rivals); n < cap(s.rivals) {
		s.rivals = s.rivals[:n+1] // with the memory of an earlier object's cuts
	} else {
		s.rivals = append(s.rivals, rival{})
	}
	r := &s.rivals[len(s.rivals)-1]
	r.object = object
	own := s.p.row(s.object)
	cuts := r.cuts[:0]
	for f, code := range s.p.row(object) {
		if code != own[f] {
			cuts = s.p.features[f].appendCuts(cuts, int32(f), own[f], code)
		}
	}
	r.cuts = cuts
}

type nearObject struct {
	distance int32
	object   int32
}

// findNear makes rivals of the objects of other classes that differ in the
// fewest features.
func (s *searcher) findNear() {
	p := s.p
	clear(s.own)
	pack(s.own, p.row(s.object))
	s.near = s.near[:0]
	clear(s.counts)
	worst := int32(math.MaxInt32)
	class := p.class[s.object]
	for i, k := range p.class[:p.universe] {
		if i%stopEvery == 0 && p.meter.stops() {
			break
		}
		if k == class {
			continue
		}
		d := differing(s.own, p.marks[i*p.words:(i+1)*p.words])
		if d >= worst {
			continue
		}
		s.near = append(s.near, nearObject{d, int32(i)})
		s.counts[d]++
		if len(s.near) >= 4*maxNear {
			worst = s.shrink()
		}
	}
	slices.SortStableFunc(s.near, func(a, b nearObject) int { return int(a.distance - b.distance) })
	for _, n := range s.near[:min(len(s.near), maxNear)] {
		s.add(n.object)
	}
}

// shrink keeps the nearest objects only, and returns the greatest distance among
// them: farther objects need not be added.
func (s *searcher) shrink() int32 {
	var within, last int
	for ; within < maxNear; last++ {
		within += s.counts[last]
	}
	last--
	kept := s.near[:0]
	for _, o := range s.near {
		if int(o.distance) < last || int(o.distance) == last && len(kept) < maxNear {
			kept = append(kept, o)
		}
	}
	s.near = kept
	clear(s.counts)
	for _, o := range s.near {
		s.counts[o.distance]++
	}
	return int32(last)
}

// differing returns the number of bytes in which two rows of marks differ.
func differing(a, b []uint64) int32 {
	const low = 0x7f7f7f7f7f7f7f7f
	n := 0
	for i, x := range a {
		x ^= b[i]
		n += bits.OnesCount64((x&low + low | x) &^ low)
	}
	return int32(n)
}

// findPeers keeps the peers that may share a leaf with the object: no rival lies in
// the smallest region around both.
func (s *searcher) findPeers() {
	width := len(s.p.features)
	order := s.killers()
	kept := 0
	s.weight = 0
	for k := range s.peerWeight {
		row := s.peer(int32(k))
		if s.parted(row, order) {
			continue
		}
		copy(s.peerRows[kept*width:], row)
		s.peerWeight[kept] = s.peerWeight[k]
		s.weight += s.peerWeight[kept]
		kept++
	}
	s.peerRows = s.peerRows[:kept*width]
	s.peerWeight = s.peerWeight[:kept]
	s.transpose()
}

// transpose lays out the peers' codes by feature, as a region looks at few features
// of many peers.
func (s *searcher) transpose() {
	width := len(s.p.features)
	n := len(s.peerWeight)
	s.peerCodes = slices.Grow(s.peerCodes[:0], width*n)[:width*n]
	for k := range n {
		for f, code := range s.peer(int32(k)) {
			s.peerCodes[f*n+k] = code
		}
	}
}

// column returns the peers' codes of a feature.
func (s *searcher) column(f int32) []uint16 {
	n := len(s.peerWeight)
	return s.peerCodes[int(f)*n : (int(f)+1)*n]
}

// peer returns the codes of a peer.
func (s *searcher) peer(k int32) []uint16 {
	width := len(s.p.features)
	return s.peerRows[int(k)*width : int(k+1)*width]
}

// takePeers lists the objects of the object's class. With many objects it draws a
// fresh sample of all objects, with the object as its first draw, and lists the
// sample's objects of the class.
func (s *searcher) takePeers() {
	p := s.p
	class := p.class[s.object]
	s.peerRows = s.peerRows[:0]
	s.peerWeight = s.peerWeight[:0]
	take := func(i int32, w int64) {
		s.peerRows = append(s.peerRows, p.row(i)...)
		s.peerWeight = append(s.peerWeight, w)
	}
	if !p.sampled {
		s.scale = p.total
		for _, i := range p.members[class] {
			take(i, p.weight[i])
		}
		return
	}
	s.scale = int64(p.effort.peers)
	take(s.object, 1)
	for range p.effort.peers - 1 {
		if i := p.pick(s.random); p.class[i] == class {
			take(i, 1)
		}
	}
}

// between reports whether the rival lies in every region that holds both the object
// and a row: each cut that takes the rival away takes the row away too.
func (r *rival) between(row []uint16) bool {
	for i := range r.cuts {
		if c := &r.cuts[i]; !c.removes(row[c.feature]) {
			return false
		}
	}
	return true
}

// parted reports whether one of the rivals lies between the object and a row.
func (s *searcher) parted(row []uint16, rivals []int) bool {
	for _, r := range rivals {
		if s.rivals[r].between(row) {
			return true
		}
	}
	return false
}

// killers orders the rivals greedily: the next rival is the one that separates the most peers from
// the object, among the peers not yet separated. Rivals that separate no further peer are left out.
// The peers are a sample of triedPeers.
func (s *searcher) killers() []int {
	step := max(1, len(s.peerWeight)/triedPeers)
	parts := make([][]int32, len(s.rivals)) // by rival: the peers of the sample that it parts
	for k := 0; k < len(s.peerWeight); k += step {
		row := s.peer(int32(k))
		for r := range s.rivals {
			if s.rivals[r].between(row) {
				parts[r] = append(parts[r], int32(k))
			}
		}
	}
	parted := make([]bool, len(s.peerWeight))
	var order []int
	for {
		best := -1
		most := 0
		for r, list := range parts {
			kept := list[:0]
			for _, k := range list {
				if !parted[k] {
					kept = append(kept, k)
				}
			}
			if parts[r] = kept; len(kept) > most {
				best = r
				most = len(kept)
			}
		}
		if best < 0 {
			return order
		}
		order = append(order, best)
		for _, k := range parts[best] {
			parted[k] = true
		}
	}
}
