package distill

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

const (
	// mostStarts limits the number of objects around which objects are made up.
	mostStarts = 1 << 17
	// projections is the number of random projections. Each orders the objects.
	projections = 8
	// reach is the number of places to each side, in each order, that may be neighbours.
	reach = 4
	// mostAttempts limits the mean number of attempts for a new object.
	mostAttempts = 4
	// mostCodes limits the codes that are made up at a time, for the sake of memory.
	mostCodes = 1 << 21
	// jitterBins is the number of bins of a numeric feature for which its codes move by one at most;
	// with more bins they move further, in proportion.
	jitterBins = 128
)

// MakeUp returns up to c.MadeUp new objects that resemble the given objects. A new object has the codes of
// one of the objects, drawn by weight, but takes about half of the features from a neighbour: the
// object among a few whose values of the compared features are the most similar. Codes of numeric
// features with more than 8 bins then move by up to 1/128 of the bins, rounded up, within the range of
// the given objects' codes. Missing values stay missing, and categories are taken over unchanged.
//
// The new objects differ from the given objects and from each other. There may be fewer of them,
// if few other codes exist. Each has the weight 1. Its class is the class of the drawn object
// and has no meaning. The order of the given objects has no effect. The result is nil if Stop ends the
// work.
func (c *Config) MakeUp(objects *dataset.Objects, compared []int) *dataset.Objects {
	n := c.MadeUp
	features := c.Features
	out := dataset.NewObjects(dataset.NewLayout(features), objects.Classes, false, max(n, 0))
	m := c.newMaker(objects, compared)
	if m == nil {
		return nil
	}
	if len(features) == 0 || len(m.starts) == 0 || m.sums[len(m.sums)-1] <= 0 {
		return out
	}
	known := m.known()
	batch := min(1<<12, max(1<<6, mostCodes/len(features)))
	made := make([][]int, batch)
	codes := make([]int, batch*len(features))
	classes := make([]uint16, batch)
	hashes := make([]uint64, batch)
	for first := 0; out.Len() < n && first < n*mostAttempts+batch; first += batch {
		done := c.each(batch, func(i int) {
			made[i] = codes[i*len(features) : (i+1)*len(features)]
			classes[i] = m.make(first+i, made[i])
			hashes[i] = hashOfCodes(made[i])
		})
		if !done {
			return nil
		}
		for i := 0; i < batch && out.Len() < n; i++ {
			if _, ok := known[hashes[i]]; !ok {
				known[hashes[i]] = struct{}{}
				out.Append(made[i], []dataset.ClassWeight{{Class: classes[i], Weight: 1}}, 1)
			}
		}
	}
	return out
}

// maker makes up objects around the objects in starts.
type maker struct {
	objects  *dataset.Objects
	features []dataset.Feature
	seed     uint64
	stopped  func() bool
	starts   []int32 // objects, see dataset.Objects.ByHash
	sums     []int64 // cumulative weights of the objects in starts
	codes    [][]uint16
	scales   []scale    // scales of the compared features
	compared [][]uint16 // codes of the compared features, by position in starts
	low      []int      // least and greatest code of each numeric feature, without missing
	high     []int      //
	orders   [][]int32  // by projection: positions in starts, in order
	places   [][]int32  // by projection and position in starts: the place in the order
}

// newMaker returns nil if Stop ends the work.
func (c *Config) newMaker(o *dataset.Objects, compared []int) *maker {
	features := c.Features
	m := &maker{objects: o, features: features, seed: portable.SplitMix(c.Seed, 1<<32+1), stopped: c.stopped}
	m.starts = o.ByHash()
	m.starts = m.starts[:min(len(m.starts), mostStarts)]
	sum := int64(0)
	for _, id := range m.starts {
		sum += o.Weight[id]
		m.sums = append(m.sums, sum)
	}
	chosen := o.Select(m.starts)
	m.codes = codesOf(chosen, 0, chosen.Len())
	for _, f := range compared {
		m.scales = append(m.scales, scaleOf(&features[f]))
	}
	chosen.Codes = dataset.Pick(chosen.Codes, compared)
	m.compared = codesOf(chosen, 0, chosen.Len())
	for f := range features {
		low := features[f].MissingCode()
		high := 0
		missing := features[f].MissingCode()
		for _, row := range m.codes {
			if code := int(row[f]); code != missing {
				low = min(low, code)
				high = max(high, code)
			}
		}
		m.low, m.high = append(m.low, low), append(m.high, high)
	}
	m.orders = make([][]int32, projections)
	m.places = make([][]int32, projections)
	if !c.each(projections, m.project) || c.stopped() {
		return nil
	}
	return m
}

// known returns the hashes of the codes of all objects.
func (m *maker) known() map[uint64]struct{} {
	hashes := make(map[uint64]struct{}, m.objects.Len())
	for _, hash := range m.objects.Hashes(0) {
		hashes[hash] = struct{}{}
	}
	return hashes
}

// hashOfCodes returns the hash of an object's codes, as dataset.Objects.Hashes does.
func hashOfCodes(codes []int) uint64 {
	key := make([]byte, 0, 256)
	for _, code := range codes {
		key = append(key, byte(code), byte(code>>8))
	}
	return dataset.HashText(0, string(key))
}

// whole is the distance between the first and the last bin of a feature, and between two
// categories.
const whole = 1 << 20

// scale says how far apart the codes of a feature are.
type scale struct {
	missing uint16
	step    int64 // distance between neighbouring bins; 0: the codes are categories
}

func scaleOf(f *dataset.Feature) scale {
	s := scale{missing: uint16(f.MissingCode())}
	if f.Kind == dataset.Numeric {
		s.step = whole / int64(max(f.Bins()-1, 1))
	}
	return s
}

// project puts the objects into the order of a random projection of their codes.
func (m *maker) project(number int) {
	values := make([]int64, len(m.starts))
	for f, s := range m.scales {
		if m.stopped() {
			return
		}
		key := portable.SplitMix(portable.SplitMix(m.seed, uint64(number)+1), uint64(f)+1)
		slope := int64(key>>40)%511 - 255
		for i, row := range m.compared {
			if code := row[f]; s.step == 0 || code == s.missing {
				values[i] += int64(portable.SplitMix(key, uint64(code)+1)>>40) % 511 * whole / 2
			} else {
				values[i] += slope * int64(code) * s.step
			}
		}
	}
	order := make([]int32, len(values))
	places := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b))
	})
	for place, i := range order {
		places[i] = int32(place)
	}
	m.orders[number] = order
	m.places[number] = places
}

// make makes up the codes of a new object, and returns the class of the object that it started
// from. number seeds the random choices.
func (m *maker) make(number int, codes []int) uint16 {
	r := portable.Random{Key: portable.SplitMix(m.seed, uint64(number)+1), Position: 1}
	high, _ := bits.Mul64(r.Next(), uint64(m.sums[len(m.sums)-1]))
	start := sort.Search(len(m.sums), func(i int) bool { return m.sums[i] > int64(high) })
	own := m.codes[start]
	other := m.codes[m.neighbour(start, &r)]
	swaps := uint64(0)
	for f := range codes {
		if f%64 == 0 {
			swaps = r.Next()
		}
		code := int(own[f])
		if swaps>>(f%64)&1 == 1 {
			code = int(other[f])
		}
		feature := &m.features[f]
		if feature.Kind == dataset.Numeric && code != feature.MissingCode() {
			if most := (feature.Bins() + jitterBins - 1) / jitterBins; feature.Bins() > 8 {
				code = min(max(code+r.Below(2*most+1)-most, m.low[f]), m.high[f])
			}
		}
		codes[f] = code
	}
	return m.objects.Class[m.starts[start]]
}

// neighbour returns the position of an object close to the object at position start: the nearest of
// some objects that are at most reach places away in the order of a projection.
func (m *maker) neighbour(start int, r *portable.Random) int {
	best := start
	least := int64(1 << 62)
	for p, order := range m.orders {
		place := int(m.places[p][start])
		for range 2 {
			at := place + 1 + r.Below(reach)
			if r.Below(2) == 0 {
				at = 2*place - at
			}
			if at < 0 || at >= len(order) {
				continue
			}
			if d := m.distance(m.compared[start], m.compared[order[at]], least); d < least {
				best = int(order[at])
				least = d
			}
		}
	}
	return best
}

// distance returns the distance between two objects, given their compared codes. If it is not below
// most, the result may be any number from most to the distance.
func (m *maker) distance(a, b []uint16, most int64) int64 {
	sum := int64(0)
	b = b[:len(a)]
	for f, s := range m.scales[:len(a)] {
		x := a[f]
		y := b[f]
		switch {
		case x == y:
			continue
		case s.step == 0 || x == s.missing || y == s.missing:
			sum += whole
		default:
			sum += int64(max(x, y)-min(x, y)) * s.step
		}
		if sum >= most {
			return sum
		}
	}
	return sum
}

// codesOf returns the codes of the objects in [from, to), object by object.
func codesOf(o *dataset.Objects, from, to int) [][]uint16 {
	features := len(o.Codes)
	all := make([]uint16, (to-from)*features)
	list := make([][]uint16, to-from)
	for i := range list {
		list[i] = all[i*features : (i+1)*features]
	}
	for f := range o.Codes {
		if codes := o.Codes[f].U8; codes != nil {
			for i, code := range codes[from:to] {
				list[i][f] = uint16(code)
			}
		} else {
			for i, code := range o.Codes[f].U16[from:to] {
				list[i][f] = code
			}
		}
	}
	return list
}
