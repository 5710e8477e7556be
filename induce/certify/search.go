package certify

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Limits of the work for one object. Where one is reached the bound is a lower
// one, never wrong.
const (
	maxNear    = 64      // nearest objects of other classes that the search starts with
	maxCentral = 192     // the most central ones, see centrality
	maxAdded   = 32      // that are added at a time, where those so far leave a region
	triedPeers = 512     // objects of the same class that rivals are tried on
	maxPacked  = 64      // rivals that are paid for at once
	peerSample = 1 << 13 // objects drawn afresh for each object of a sample
	stopEvery  = 1 << 12 // objects looked at between two questions whether to stop
)

// rival is an object of another class, with the cuts that part it from the
// object in question.
type rival struct {
	object int32
	cuts   []cut
}

// region is a set of codes around the object that its leaf might lie in: what
// the cuts up to the root of the search leave. Every leaf in it has paid for
// them.
type region struct {
	parent *region
	cut    cut
	cost   float64
	least  float64 // cost of the cuts of a leaf in it
	weight int64   // of the peers in it
	value  float64 // of a leaf in it
	peers  []int32 // once it was opened
	number int
}

// frontier is a heap of regions, the least value first, then the oldest.
type frontier []*region

func (h frontier) Len() int           { return len(h) }
func (h frontier) Less(i, j int) bool { return h.less(h[i], h[j]) }

func (h frontier) less(a, b *region) bool {
	if a.value != b.value {
		return a.value < b.value
	}
	return a.number < b.number
}
func (h frontier) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *frontier) Push(x any)   { *h = append(*h, x.(*region)) } //nolint:errcheck // the heap holds regions only
func (h *frontier) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// searcher bounds the objects of a problem one after the other. It belongs to
// one goroutine.
type searcher struct {
	p *problem

	object int32
	known  map[int32]bool // objects that are rivals already
	rivals []rival
	table  [][]int64 // see tabulate
	most   int64     // of the table

	peerRows   []uint16 // codes of the objects that may share a leaf with the object
	peerCodes  []uint16 // the same by attribute
	peerWeight []int64
	weight     int64 // of all peers
	scale      int64 // weight of the data that the peers were taken from
	random     *rand.Rand

	near   []nearObject
	counts []int // of the near objects by distance

	prices   ledger // of the open region
	packed   ledger // after packing
	paid     float64
	fraction float64 // see fractional
	open     frontier
	seen     map[string]bool
	key      []uint64
	inside   []*rival // of the open region
	tally    tally
	made     int
	work     int
	cut      bool // the search for some value was left before its end
}

func newSearcher(p *problem) *searcher {
	s := &searcher{
		p: p, prices: newLedger(p), packed: newLedger(p), seen: make(map[string]bool), known: make(map[int32]bool),
		counts: make([]int, 8*p.words+1), tally: newTally(p),
		table: make([][]int64, len(p.attributes)),
	}
	for f := range s.table {
		s.table[f] = make([]int64, len(p.attributes[f].weight))
	}
	return s
}

// start sets the object, which is the given draw of a sample, and finds its rivals and peers.
func (s *searcher) start(object int32, draw int) {
	s.object = object
	s.random = rand.New(rand.NewPCG(s.p.seed, uint64(draw)<<32))
	s.tabulate()
	clear(s.known)
	s.rivals = s.rivals[:0]
	s.findNear()
	s.findCentral(nil, maxCentral)
	s.fraction = s.fractional()
	s.takePeers()
	s.findPeers()
}

// add makes an object a rival.
func (s *searcher) add(object int32) {
	if s.known[object] {
		return
	}
	s.known[object] = true
	own, r := s.p.row(s.object), rival{object: object}
	for f, code := range s.p.row(object) {
		if code != own[f] {
			r.cuts = s.p.attributes[f].appendCuts(r.cuts, int32(f), own[f], code)
		}
	}
	s.rivals = append(s.rivals, r)
}

type nearObject struct {
	distance int32
	object   int32
}

// findNear makes rivals of the objects of other classes that differ in the
// fewest attributes.
func (s *searcher) findNear() {
	p := s.p
	own := p.marks[int(s.object)*p.words : int(s.object+1)*p.words]
	s.near = s.near[:0]
	clear(s.counts)
	worst, class := int32(math.MaxInt32), p.class[s.object]
	for i, k := range p.class[:p.universe] {
		if i%stopEvery == 0 && p.meter.stops() {
			break
		}
		if k == class {
			continue
		}
		d := differing(own, p.marks[i*p.words:(i+1)*p.words])
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

// shrink drops objects that are farther than the nearest ones, and returns the
// distance from which on no more need be taken.
func (s *searcher) shrink() int32 {
	within, last := 0, 0
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

// findPeers keeps the objects of the same class that may share a leaf with the
// object: no rival lies in the least region that covers both.
func (s *searcher) findPeers() {
	width := len(s.p.attributes)
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
	s.peerRows, s.peerWeight = s.peerRows[:kept*width], s.peerWeight[:kept]
	s.transpose()
}

// transpose lays the peers' codes out by attribute: regions look at few
// attributes of many peers.
func (s *searcher) transpose() {
	width, n := len(s.p.attributes), len(s.peerWeight)
	s.peerCodes = slices.Grow(s.peerCodes[:0], width*n)[:width*n]
	for k := range n {
		for f, code := range s.peer(int32(k)) {
			s.peerCodes[f*n+k] = code
		}
	}
}

// column returns the peers' codes of an attribute.
func (s *searcher) column(f int32) []uint16 {
	n := len(s.peerWeight)
	return s.peerCodes[int(f)*n : (int(f)+1)*n]
}

// peer returns the codes of a peer.
func (s *searcher) peer(k int32) []uint16 {
	width := len(s.p.attributes)
	return s.peerRows[int(k)*width : int(k+1)*width]
}

// takePeers lists the objects of the object's class: all of them, or where there
// are many as many as a fresh sample of all objects has, the object included.
func (s *searcher) takePeers() {
	p := s.p
	class := p.class[s.object]
	s.peerRows, s.peerWeight = s.peerRows[:0], s.peerWeight[:0]
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

// between reports whether the rival lies in every region around the object that
// holds a row too: each cut that takes the rival away takes the row with it.
func (r *rival) between(row []uint16) bool {
	for i := range r.cuts {
		if c := &r.cuts[i]; !c.removes(row[c.attribute]) {
			return false
		}
	}
	return true
}

func (s *searcher) parted(row []uint16, rivals []int) bool {
	for _, r := range rivals {
		if s.rivals[r].between(row) {
			return true
		}
	}
	return false
}

// killers orders the rivals by how many of a sample of peers each one parts
// that those before it do not, and leaves out those that part none.
func (s *searcher) killers() []int {
	step := max(1, len(s.peerWeight)/triedPeers)
	parts := make([][]int32, len(s.rivals)) // of the sample, by rival
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
		best, most := -1, 0
		for r, list := range parts {
			kept := list[:0]
			for _, k := range list {
				if !parted[k] {
					kept = append(kept, k)
				}
			}
			if parts[r] = kept; len(kept) > most {
				best, most = r, len(kept)
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
