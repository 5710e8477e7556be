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

// leafSlack is the relative rounding error that a leaf's weight may have above
// theta W, as in growing (package split).
const leafSlack = 1e-9

// maxUniverse is the greatest number of objects searched for rivals. Fewer rivals
// give a lower bound.
const maxUniverse = 1 << 16

// feature is a feature with at least two codes among the objects, and the family's
// tests on it.
type feature struct {
	ordered bool      // threshold tests
	single  bool      // tests of one code
	whole   bool      // the multiway test
	free    bool      // repeated tests on the feature cost nothing
	missing uint16    // code of missing
	cost    float64   // price of a test
	costs   []float64 // price of the test of one code, by code; nil: cost for all
	group   int32     // number of its group; -1: none
	base    int32     // number of its first item, see cut
	present int       // codes among the objects
	weight  []int64   // by code
	below   []int64   // by code: weight of the smaller codes, without missing
}

// price returns what the test of one code costs.
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

// bits returns the most bits that the price of one test buys: log2 of its number of
// outcomes, or of the number of codes if repeats are free.
func (a *feature) bits() float64 {
	if a.free || a.whole {
		return portable.Log2(float64(a.present))
	}
	return 1
}

// problem holds the data in the form that the bounds use. The objects are sorted,
// so their order does not depend on the input's. Objects with equal codes are
// merged. A merged object of several classes gets a class of its own, as no test
// parts it and no homogeneous leaf holds it together with another object.
type problem struct {
	features   []feature
	groups     []float64 // price of each group
	items      int       // see cut
	codes      []uint16  // a row of features for each object
	marks      []uint64  // the rows' low bytes, eight to a word
	words      int       // number of words of marks in a row
	class      []int32
	weight     []int64
	cumulative []int64 // weight of the objects up to each one
	members    [][]int32
	masses     []sync.Once // by class: guards massesOf
	massesOf   []*classMass
	total      int64
	universe   int  // number of objects searched for rivals
	sampled    bool // the peers of an object are a sample, see searcher
	seed       uint64
	lightest   int64
	work       int // see Options
	effort     effort
	meter      meter
	mixed      int     // number of merged objects of several classes
	limit      float64 // a leaf of at most this weight may have several classes
	unit       float64 // all prices are multiples of it; 0: there is no such unit
}

func (p *problem) len() int { return len(p.class) }

// row returns the codes of an object, by feature.
func (p *problem) row(i int32) []uint16 {
	at, width := int(i)*len(p.features), len(p.features)
	return p.codes[at : at+width : at+width]
}

func newProblem(o *dataset.Objects, features []dataset.Feature, opts *Options) *problem {
	p := &problem{effort: effort{pilot: pilotSize, peers: peerSample}}
	p.meter.stop, p.meter.progress = opts.Stop, opts.Progress
	p.addObjects(o, p.addFeatures(o, features, opts), opts.Seed)
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
			p.features[f].weight[code] += w
		}
	}
	for f := range p.features {
		p.features[f].cumulate()
	}
	p.unit = p.commonUnit()
	p.mark()
	return p
}

// codeView maps the codes of a feature to the bins of a subset of its cuts.
type codeView struct {
	codes *dataset.Codes
	bins  []uint16 // by code: the bin of the subset; nil: the code itself
}

func (c *codeView) at(i int) int {
	code := c.codes.At(i)
	if c.bins != nil {
		code = int(c.bins[code])
	}
	return code
}

// confine returns a feature with only the cuts of a subset, and the bin of each
// code. Subset 0 is the whole feature.
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

// addFeatures adds the features with at least two codes among the objects, and
// returns their columns.
func (p *problem) addFeatures(o *dataset.Objects, all []dataset.Feature, opts *Options) []codeView {
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
		a := newFeature(&features[f], opts)
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
		p.features = append(p.features, a)
	}
	return columns
}

// present returns how many of the feature's n codes occur among the objects.
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

// newFeature lists the family's tests on a feature, as package split defines them.
func newFeature(f *dataset.Feature, opts *Options) feature {
	column := split.NewColumn(f)
	a := feature{cost: f.Cost, missing: uint16(f.MissingCode()), group: -1}
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

// cumulate sets the weight below each code.
func (a *feature) cumulate() {
	a.below = make([]int64, len(a.weight)+1)
	for code, w := range a.weight {
		a.below[code+1] = a.below[code]
		if code != int(a.missing) {
			a.below[code+1] += w
		}
	}
}

// addObjects sorts the objects by a seeded hash of their codes, and merges objects
// with equal codes. Any run of consecutive objects is then a random sample.
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

// stretch is the number of objects whose rows are filled in together. The rows of a
// stretch stay in the cache.
const stretch = 1 << 10

// sorted returns the objects ordered by hash, then by row.
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

// mark packs the low bytes of the codes into words. The search for the nearest
// objects compares eight features at a time.
func (p *problem) mark() {
	width := len(p.features)
	p.words = (width + 7) / 8
	p.marks = make([]uint64, p.len()*p.words)
	for i := range p.len() {
		for f, code := range p.codes[i*width : (i+1)*width] {
			p.marks[i*p.words+f/8] |= uint64(code&0xff) << (8 * (f % 8))
		}
	}
}

// commonUnit returns the greatest common divisor of all prices, or 0 if a price is
// not a whole number.
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

// roundUp rounds a path's cost up to a multiple of the unit.
func (p *problem) roundUp(x float64) float64 {
	if p.unit == 0 {
		return x
	}
	return float64(math.Ceil(x/p.unit-1e-9) * p.unit)
}
