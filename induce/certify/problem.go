package certify

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// leafSlack lets a node be a leaf whose weight is theta W but for rounding, as
// growing does (package split).
const leafSlack = 1e-9

// maxUniverse is the number of objects among which rivals are looked for. With
// fewer rivals the bound is a lower one.
const maxUniverse = 1 << 16

// attribute is a feature with at least two codes among the objects, and the
// tests that the family has on it.
type attribute struct {
	ordered bool      // threshold tests
	single  bool      // tests of one code
	whole   bool      // the multiway test
	free    bool      // after the first test the feature's others cost nothing
	missing uint16    // code of missing
	cost    float64   // of a test
	costs   []float64 // of the test of one code, by code; nil: all cost
	group   int32     // -1: none
	base    int32     // number of its first item, see cut
	present int       // codes among the objects
	weight  []int64   // by code
	below   []int64   // weight of the codes below one, without missing
}

// price returns what the test of one code costs.
func (a *attribute) price(code uint16) float64 {
	if a.costs == nil {
		return a.cost
	}
	return a.costs[code]
}

// cheapest returns the price of the attribute's cheapest test.
func (a *attribute) cheapest() float64 {
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

// bits returns the most bits that the price of one test buys: those of its
// outcomes, or of all codes where further tests are free.
func (a *attribute) bits() float64 {
	if a.free || a.whole {
		return portable.Log2(float64(a.present))
	}
	return 1
}

// problem is the data as the bounds see it. Objects are in an order of their
// own, which does not depend on the order they came in; those with equal codes
// are one, and if they are of several classes that one has a class of its own:
// no test parts them, and a leaf with any other object is not homogeneous.
type problem struct {
	attributes []attribute
	groups     []float64 // price of each group
	items      int       // see cut
	codes      []uint16  // a row of attributes for each object
	marks      []uint64  // the rows' low bytes, eight to a word
	words      int       // of marks in a row
	class      []int32
	weight     []int64
	cumulative []int64 // weight of the objects up to each one
	members    [][]int32
	masses     []sync.Once // of each class
	massesOf   []*classMass
	total      int64
	universe   int  // objects that rivals are looked for in
	sampled    bool // peers are drawn, see searcher
	seed       uint64
	lightest   int64
	work       int // see Options
	effort     effort
	meter      meter
	mixed      int     // objects of several classes
	limit      float64 // a leaf of at most this weight may have several classes
	unit       float64 // all costs are multiples of it; 0: of none
}

func (p *problem) len() int { return len(p.class) }

// row returns the codes of an object, by attribute.
func (p *problem) row(i int32) []uint16 {
	at, width := int(i)*len(p.attributes), len(p.attributes)
	return p.codes[at : at+width : at+width]
}

func newProblem(o *dataset.Objects, features []dataset.Feature, opts *Options) *problem {
	p := &problem{effort: effort{pilot: pilotSize, peers: peerSample}}
	p.meter.stop, p.meter.progress = opts.Stop, opts.Progress
	p.addObjects(o, p.addAttributes(o, features, opts), opts.Seed)
	for _, w := range p.weight {
		p.total += w
		p.cumulative = append(p.cumulative, p.total)
	}
	p.lightest = slices.Min(p.weight)
	p.seed, p.work = opts.Seed, opts.Work
	p.universe = min(p.len(), maxUniverse)
	p.limit = float64(opts.Theta * float64(p.total) * (1 + leafSlack))
	for i, w := range p.weight {
		for f, code := range p.row(int32(i)) {
			p.attributes[f].weight[code] += w
		}
	}
	for f := range p.attributes {
		p.attributes[f].cumulate()
	}
	p.unit = p.commonUnit()
	p.mark()
	return p
}

// codeView is a feature's codes as trees with a subset of its cuts see them.
type codeView struct {
	codes *dataset.Codes
	bins  []uint16 // by code, the bin of the subset; nil: each code stays
}

func (c *codeView) at(i int) int {
	code := c.codes.At(i)
	if c.bins != nil {
		code = int(c.bins[code])
	}
	return code
}

// confine returns a feature with a subset of its cuts alone, and the bin of each code.
func confine(f dataset.Feature, subset int) (confined dataset.Feature, bins []uint16) {
	if subset == 0 || f.Subsets == nil {
		return f, nil
	}
	cuts := f.Subsets[subset-1]
	bin := 0
	for code := range f.Codes() {
		for bin < len(cuts) && int(cuts[bin]) < code {
			bin++
		}
		bins = append(bins, uint16(bin))
	}
	own := make([]float64, len(cuts))
	for i, at := range cuts {
		own[i] = f.Cuts[at]
	}
	missing := f.MissingCode()
	f.Cuts, f.Subsets = own, nil
	bins[missing] = uint16(f.MissingCode())
	return f, bins
}

// addAttributes takes the features that have two codes, and returns their
// columns.
func (p *problem) addAttributes(o *dataset.Objects, all []dataset.Feature, opts *Options) []codeView {
	numbers := make(map[string]int32)
	features := make([]dataset.Feature, len(all))
	var columns []codeView
	for f := range features {
		var bins []uint16
		features[f], bins = confine(all[f], opts.Subset)
		c := codeView{&o.Codes[f], bins}
		present := c.present(o.Len(), features[f].Codes())
		if present < 2 {
			continue
		}
		columns = append(columns, c)
		a := newAttribute(&features[f], opts)
		a.present, a.base = present, int32(p.items)
		if features[f].Group != "" {
			number, ok := numbers[features[f].Group]
			if !ok {
				number = int32(len(p.groups))
				numbers[features[f].Group] = number
				p.groups = append(p.groups, features[f].GroupCost)
			}
			a.group = number
			p.groups[number] = min(p.groups[number], features[f].GroupCost)
		}
		p.items += a.slots(features[f].Codes())
		p.attributes = append(p.attributes, a)
	}
	return columns
}

// present returns the number of codes, of n, that objects have.
func (c *codeView) present(objects, n int) int {
	seen := make([]bool, n)
	present := 0
	for i := range objects {
		if code := c.at(i); !seen[code] {
			seen[code] = true
			present++
		}
	}
	return present
}

// newAttribute says which tests a family has on a feature, see package split.
func newAttribute(f *dataset.Feature, opts *Options) attribute {
	column := split.NewColumn(f)
	a := attribute{cost: f.Cost, missing: uint16(f.MissingCode()), group: -1}
	a.weight = make([]int64, f.Codes())
	switch {
	case f.Kind == dataset.Numeric:
		a.ordered = opts.Family != split.OneHot
		a.single = opts.Family == split.OneHot || opts.Family == split.Both
	case opts.Family == split.Multiways:
		a.whole = true
	default:
		a.single, a.costs = true, column.Costs
	}
	a.free = opts.RepeatFree && len(f.ValueCosts) == 0
	return a
}

// cumulate sums up the weight below each code.
func (a *attribute) cumulate() {
	a.below = make([]int64, len(a.weight)+1)
	for code, w := range a.weight {
		a.below[code+1] = a.below[code]
		if code != int(a.missing) {
			a.below[code+1] += w
		}
	}
}

// addObjects sorts the objects by a seeded hash of their codes, so that any
// stretch of them is a sample, and merges those with equal codes.
func (p *problem) addObjects(o *dataset.Objects, columns []codeView, seed uint64) {
	n, width := o.Len(), len(columns)
	rows, hash := make([]uint16, n*width), make([]uint64, n)
	for from := 0; from < n; from += stretch {
		for f := range columns {
			c := &columns[f]
			for i := from; i < min(n, from+stretch); i++ {
				code := c.at(i)
				rows[i*width+f] = uint16(code)
				hash[i] = mix(hash[i]^seed, uint64(code)+1)
			}
		}
	}
	row := func(i int32) []uint16 { return rows[int(i)*width : int(i+1)*width] }
	order := sorted(hash, row)
	p.codes = make([]uint16, 0, n*width)
	classes := int32(o.Classes)
	for at := 0; at < n; {
		first := order[at]
		class, weight := int32(o.Class[first]), o.Weight[first]
		for at++; at < n && hash[order[at]] == hash[first] && slices.Equal(row(order[at]), row(first)); at++ {
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
		p.codes = append(p.codes, row(first)...)
		p.class, p.weight = append(p.class, class), append(p.weight, weight)
	}
	p.members = make([][]int32, classes)
	p.masses, p.massesOf = make([]sync.Once, classes), make([]*classMass, classes)
	for i, k := range p.class {
		p.members[k] = append(p.members[k], int32(i))
	}
}

// stretch is the number of objects whose rows are filled in together, so that they stay
// in the cache.
const stretch = 1 << 10

// sorted returns the objects in the order of their hashes, and of their rows.
func sorted(hash []uint64, row func(i int32) []uint16) []int32 {
	type key struct {
		hash   uint64
		object int32
	}
	keys := make([]key, len(hash))
	for i, h := range hash {
		keys[i] = key{h, int32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return slices.Compare(row(a.object), row(b.object))
	})
	order := make([]int32, len(keys))
	for i, k := range keys {
		order[i] = k.object
	}
	return order
}

// mix hashes two words into one (the folded product of wyhash).
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// mark packs the low bytes of the codes, by which the nearest objects are found
// eight attributes at a time.
func (p *problem) mark() {
	width := len(p.attributes)
	p.words = (width + 7) / 8
	p.marks = make([]uint64, p.len()*p.words)
	for i := range p.len() {
		for f, code := range p.codes[i*width : (i+1)*width] {
			p.marks[i*p.words+f/8] |= uint64(code&0xff) << (8 * (f % 8))
		}
	}
}

// commonUnit returns the greatest number of which all costs are multiples, or 0
// where they are not whole numbers.
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

// prices lists every price that a path may have to pay.
func (p *problem) prices() []float64 {
	prices := slices.Clone(p.groups)
	for f := range p.attributes {
		a := &p.attributes[f]
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

// roundUp returns the least cost of at least x that a path can have.
func (p *problem) roundUp(x float64) float64 {
	if p.unit == 0 {
		return x
	}
	return float64(math.Ceil(x/p.unit-1e-9) * p.unit)
}
