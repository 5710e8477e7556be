package certify

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// leafSlack is the relative rounding error that a leaf's weight may have above
// theta W, as in growing (package split).
const leafSlack = 1e-9

// maxUniverse is the greatest number of objects that are searched for rivals. Having fewer rivals
// only lowers the bound.
const maxUniverse = 1 << 16

// feature is a feature with at least two codes among the objects, with the tests of the family on
// it.
type feature struct {
	ordered bool      // threshold tests
	single  bool      // tests of one code
	whole   bool      // the multiway test
	sets    bool      // tests of sets of codes: for one price, a test removes any codes
	free    bool      // repeated tests of the feature cost nothing
	missing uint16    // code of missing
	cost    float64   // price of a test
	costs   []float64 // price of the test of a single code, by code; nil: all cost cost
	group   int32     // index of its group; -1 if none
	base    int32     // index of its first item, see cut
	present int       // how many codes occur among the objects
	weight  []int64   // by code
	below   []int64   // by code: total weight of the smaller codes
}

// price returns the price of the test of a single code.
func (a *feature) price(code uint16) float64 {
	if a.costs == nil {
		return a.cost
	}
	return a.costs[code]
}

// cheapest returns the price of the feature's cheapest test.
func (a *feature) cheapest() float64 {
	if a.costs == nil {
		return a.cost
	}
	least := math.Inf(1)
	for code, w := range a.weight {
		if w > 0 {
			least = min(least, a.costs[code])
		}
	}
	return least
}

// bits returns the most bits that the price of one test can buy: log2 of its number of outcomes, or
// of the number of codes if repeats are free.
func (a *feature) bits() float64 {
	if a.free || a.whole {
		return portable.Log2(float64(a.present))
	}
	return 1
}

// problem holds the data in the form that the bounds use. The objects are sorted, so that their
// order does not depend on the order of the input. Objects with equal codes are merged. A merged
// object of several classes gets a class of its own, because no test separates it and no
// homogeneous leaf holds it together with another object.
type problem struct {
	features   []feature
	groups     []float64 // price of each group
	items      int       // see cut
	codes      []uint16  // a row of codes, by feature, for each object
	marks      []uint64  // low bytes of the rows of the universe, eight per word
	words      int       // words of marks per row
	class      []int32
	weight     []int64
	cumulative []int64 // total weight of the objects up to and including each object
	guide      []int32 // see guideDraws
	shift      int
	members    [][]int32
	masses     []sync.Once // by class: guards massesOf
	massesOf   []*mass
	total      int64
	universe   int  // number of objects searched for rivals
	sampled    bool // whether the peers of an object are a sample, see searcher
	seed       uint64
	lightest   int64
	work       int // see Options
	effort     effort
	meter      meter
	searchers  []*searcher // idle searchers, see bounds
	mixed      int         // how many merged objects have several classes
	limit      float64     // a leaf of at most this weight may have several classes
	unit       float64     // all prices are multiples of it; 0 if there is no such unit
	shares     []classShare
}

// classShare is what objects contribute to a class, if the impurity counts raw class weights.
type classShare struct {
	weight, lightest int64 // total weight, and the least weight of an object that has some
}

// sharesOf returns the share of each class; nil if the impurity counts majority classes.
func sharesOf(o *dataset.Objects, classes split.Classes) []classShare {
	if !o.Soft() && classes == split.OfObjects {
		return nil
	}
	shares := make([]classShare, o.Classes)
	for i := range o.Len() {
		for _, cw := range o.Raw(i) {
			s := &shares[cw.Class]
			if s.weight += cw.Weight; s.lightest == 0 || cw.Weight < s.lightest {
				s.lightest = cw.Weight
			}
		}
	}
	return shares
}

func (p *problem) len() int { return len(p.class) }

// row returns the codes of an object, by feature.
func (p *problem) row(i int32) []uint16 {
	at := int(i) * len(p.features)
	width := len(p.features)
	return p.codes[at : at+width : at+width]
}

func newProblem(o *dataset.Objects, features []dataset.Feature, opts *Options) *problem {
	p := &problem{effort: effort{pilot: pilotSize, peers: peerSample}}
	p.meter.stop = opts.Stop
	p.meter.progress = opts.Progress
	p.addObjects(o, p.addFeatures(o, features, opts), opts)
	p.shares = sharesOf(o, opts.Classes)
	p.cumulative = make([]int64, len(p.weight))
	for i, w := range p.weight {
		p.total += w
		p.cumulative[i] = p.total
	}
	p.guideDraws()
	p.lightest = slices.Min(p.weight)
	p.seed = opts.Seed
	p.work = opts.Work
	p.universe = min(p.len(), maxUniverse)
	p.limit = float64(opts.Theta * float64(p.total) * (1 + leafSlack))
	for f := range p.features {
		a := &p.features[f]
		a.below = append([]int64{0}, a.weight...)
		cumulate(a.below)
	}
	p.unit = p.commonUnit()
	p.mark()
	return p
}

// codeView is the codes of a feature.
type codeView struct{ codes *dataset.Codes }

// weigh returns the weight of the objects by code, for n codes, and how many codes occur. Every
// object has weight.
func (c *codeView) weigh(objects []int64, n int) (weight []int64, present int) {
	weight = make([]int64, n)
	if c.codes.U8 != nil {
		for i, code := range c.codes.U8 {
			weight[code] += objects[i]
		}
	} else {
		for i, w := range objects {
			weight[c.codes.At(i)] += w
		}
	}
	for _, w := range weight {
		if w > 0 {
			present++
		}
	}
	return weight, present
}

// hash mixes the codes of the objects from position from on into their hashes.
func (c *codeView) hash(hashes []uint64, from int, seed uint64) {
	if codes := c.codes.U8; codes != nil {
		for i, code := range codes[from : from+len(hashes)] {
			hashes[i] = mix(hashes[i]^seed, uint64(code)+1)
		}
		return
	}
	for i := range hashes {
		hashes[i] = mix(hashes[i]^seed, uint64(c.codes.At(from+i))+1)
	}
}

// addFeatures adds the features with at least two codes among the objects, and returns their
// columns.
func (p *problem) addFeatures(o *dataset.Objects, all []dataset.Feature, opts *Options) []codeView {
	type column struct {
		codeView

		feature dataset.Feature
		weight  []int64
		present int
	}
	list := make([]column, len(all))
	parallel.Each(len(all), opts.Workers, func(f int) {
		c := &list[f]
		c.feature = all[f]
		c.codes = &o.Codes[f]
		c.weight, c.present = c.weigh(o.Weight, c.feature.Codes())
	})
	numbers := make(map[string]int32)
	var columns []codeView
	for i := range list {
		c := &list[i]
		if c.present < 2 {
			continue
		}
		columns = append(columns, c.codeView)
		a := newFeature(&c.feature, opts)
		a.weight = c.weight
		a.present = c.present
		a.base = int32(p.items)
		if c.feature.Group != "" {
			number, ok := numbers[c.feature.Group]
			if !ok {
				number = int32(len(p.groups))
				numbers[c.feature.Group] = number
				p.groups = append(p.groups, c.feature.GroupCost)
			}
			a.group = number
			p.groups[number] = min(p.groups[number], c.feature.GroupCost)
		}
		p.items += a.slots(c.feature.Codes())
		p.features = append(p.features, a)
	}
	return columns
}

// newFeature returns a feature with the tests of the family, as package split defines them.
func newFeature(f *dataset.Feature, opts *Options) feature {
	column := split.NewColumn(f)
	a := feature{cost: f.Cost, missing: uint16(f.MissingCode()), group: -1}
	switch {
	case column.Numeric:
		a.ordered = opts.Family.Thresholds()
		a.single = opts.Family.Bins()
	case opts.Family == split.Multiways:
		a.whole = true
	default:
		a.single = true
		a.costs = column.Costs
		a.sets = opts.Family.Sets(column.Codes) && a.costs == nil
	}
	a.free = opts.RepeatFree && len(f.ValueCosts) == 0
	return a
}

// addObjects sorts the objects by a seeded hash of their codes, and merges objects
// with equal codes. Any run of consecutive objects is then a random sample.
func (p *problem) addObjects(o *dataset.Objects, columns []codeView, opts *Options) {
	hash := hashes(o.Len(), columns, opts)
	order := sorted(hash, columns, opts.Workers)
	firsts := order[:0] // one object for each distinct row of codes; it overwrites the part of order that was read
	p.class = make([]int32, 0, len(order))
	p.weight = make([]int64, 0, len(order))
	classes := int32(o.Classes)
	for at := 0; at < len(order); {
		first := order[at]
		class := int32(o.Class[first])
		weight := o.Weight[first]
		for at++; at < len(order) && hash[order[at]] == hash[first] && compare(columns, order[at], first) == 0; at++ {
			weight += o.Weight[order[at]]
			if class < classes && class != int32(o.Class[order[at]]) {
				class = int32(-1)
			}
		}
		if class < 0 {
			class = classes
			p.mixed++
			classes++
		}
		firsts = append(firsts, first)
		p.class = append(p.class, class)
		p.weight = append(p.weight, weight)
	}
	p.fill(columns, firsts, len(order), opts.Workers)
	p.members = make([][]int32, classes)
	p.masses = make([]sync.Once, classes)
	p.massesOf = make([]*mass, classes)
	for i, k := range p.class {
		p.members[k] = append(p.members[k], int32(i))
	}
}

// fill sets the codes to the rows of the listed objects, of n.
func (p *problem) fill(columns []codeView, objects []int32, n, workers int) {
	p.codes = make([]uint16, len(objects)*len(columns))
	for f := range p.features {
		if len(p.features[f].weight) > 1<<8 {
			fillThrough[uint16](p.codes, columns, objects, n, workers)
			return
		}
	}
	fillThrough[uint8](p.codes, columns, objects, n, workers)
}

// fillThrough fills rows with the codes of the listed objects, of n. It first makes rows of all
// objects, in the order of the columns: the listed objects are in random order, so that a code of
// an object is far away from its other codes and from the codes read before.
func fillThrough[T uint8 | uint16](codes []uint16, columns []codeView, objects []int32, n, workers int) {
	width := len(columns)
	rows := make([]T, n*width)
	stretches(n, workers, func(from, to int) {
		for f := range columns {
			at := from*width + f
			c := &columns[f]
			if c.codes.U8 == nil {
				for i := from; i < to; i++ {
					rows[at] = T(c.codes.At(i))
					at += width
				}
				continue
			}
			for _, code := range c.codes.U8[from:to] {
				rows[at] = T(code)
				at += width
			}
		}
	})
	stretches(len(objects), workers, func(from, to int) {
		for k, i := range objects[from:to] {
			to := codes[(from+k)*width : (from+k+1)*width]
			for f, code := range rows[int(i)*width : (int(i)+1)*width] {
				to[f] = uint16(code)
			}
		}
	})
}

// stretch is how many objects have their codes read together, so that what is written for them
// stays in the cache.
const stretch = 1 << 10

// stretches calls f for each stretch [from, to) of n objects.
func stretches(n, workers int, f func(from, to int)) {
	parallel.Each((n+stretch-1)/stretch, workers, func(i int) {
		f(i*stretch, min(n, (i+1)*stretch))
	})
}

// hashes returns the seeded hash of each object's codes.
func hashes(n int, columns []codeView, opts *Options) []uint64 {
	hash := make([]uint64, n)
	stretches(n, opts.Workers, func(from, to int) {
		for f := range columns {
			columns[f].hash(hash[from:to], from, opts.Seed)
		}
	})
	return hash
}

// compare compares the codes of two objects, feature by feature.
func compare(columns []codeView, i, j int32) int {
	for f := range columns {
		if a, b := columns[f].codes.At(int(i)), columns[f].codes.At(int(j)); a != b {
			return cmp.Compare(a, b)
		}
	}
	return 0
}

// sorted returns the objects ordered by hash, then by codes. Objects whose hashes begin with the
// same byte are sorted together.
func sorted(hash []uint64, columns []codeView, workers int) []int32 {
	const shift = 56
	var ends [1 << (64 - shift)]int
	for _, h := range hash {
		ends[h>>shift]++
	}
	var starts [len(ends)]int
	for k := 1; k < len(ends); k++ {
		starts[k] = ends[k-1]
		ends[k] += ends[k-1]
	}
	type key struct {
		hash   uint64
		object int32
	}
	keys := make([]key, len(hash))
	next := starts
	for i, h := range hash {
		keys[next[h>>shift]] = key{h, int32(i)}
		next[h>>shift]++
	}
	order := make([]int32, len(hash))
	parallel.Each(len(ends), workers, func(k int) {
		part := keys[starts[k]:ends[k]]
		slices.SortFunc(part, func(a, b key) int {
			if a.hash != b.hash {
				return cmp.Compare(a.hash, b.hash)
			}
			return compare(columns, a.object, b.object)
		})
		for i := range part {
			order[starts[k]+i] = part[i].object
		}
	})
	return order
}

// mix hashes two words into one (the folded product of wyhash).
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// mark packs the low bytes of the codes of the universe into words, so that the search for the
// nearest objects compares eight features at a time.
func (p *problem) mark() {
	p.words = (len(p.features) + 7) / 8
	p.marks = make([]uint64, p.universe*p.words)
	for i := range p.universe {
		pack(p.marks[i*p.words:], p.row(int32(i)))
	}
}

// pack packs the low bytes of a row into words, which must be zero.
func pack(words []uint64, row []uint16) {
	for f, code := range row {
		words[f/8] |= uint64(code&0xff) << (8 * (f % 8))
	}
}

// commonUnit returns the greatest common divisor of all prices; 0 if some price is not an integer.
func (p *problem) commonUnit() float64 {
	unit := uint64(0)
	for _, c := range p.prices() {
		if c != math.Trunc(c) || c < 0 || c > 1<<50 {
			return 0
		}
		unit = gcd(unit, uint64(c))
	}
	return float64(unit)
}

// prices lists the prices of all groups and tests.
func (p *problem) prices() []float64 {
	prices := slices.Clone(p.groups)
	for f := range p.features {
		a := &p.features[f]
		if a.costs == nil {
			prices = append(prices, a.cost)
			continue
		}
		for code, w := range a.weight {
			if w > 0 {
				prices = append(prices, a.costs[code])
			}
		}
	}
	return prices
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// roundUp rounds the cost of a path up to a multiple of the unit.
func (p *problem) roundUp(x float64) float64 {
	if p.unit == 0 {
		return x
	}
	return float64(math.Ceil(x/p.unit-1e-9) * p.unit)
}
