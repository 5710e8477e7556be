package certify

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Options describe the trees to bound, and limit the work.
type Options struct {
	Algorithm split.Algorithm // criterion of the tree, for the paper's factor
	Family    split.Family    // family of the trees' tests
	Theta     float64         // a leaf with at most this share of the weight may have several classes
	Lambda    float64         // weight of the discrimination in the criterion
	// Classes selects the class weights of the criterion's impurity, for the paper's factor.
	Classes split.Classes
	// RepeatFree makes repeated tests on a feature without value costs free on a path.
	RepeatFree bool

	Seed    uint64
	Sample  int // objects drawn if the data have more; 0: 400
	Work    int // codes looked at for one object before its search ends; 0: 2 million
	Workers int // goroutines; at most 1: the caller's alone

	// Budget limits the steps of the bound, at a few nanoseconds each; 0: no limit. A
	// smaller budget draws fewer objects and searches less for each object: the bound
	// is then lower, and equally sure. Two kinds of work are done beyond the budget:
	// preparing the data, at ten steps a code, and the least effort.
	Budget   int64
	Stop     func() bool       // called every few milliseconds; true ends the work, and the bound is 0
	Planned  func(steps int64) // called once with the estimated greatest number of steps
	Progress func(done int64)  // called with the number of steps done, from several goroutines
}

const (
	defaultSample = 400
	defaultWork   = 1 << 21
)

// Methods of bounding. The package comment explains Cover and Kraft. The optimum is known where the
// root is a leaf: it costs nothing.
const (
	Optimum = "optimum"
	Cover   = "cover"
	Kraft   = "kraft"
)

// Bound is a lower bound on the expected cost of any tree that separates the
// objects to theta: the objects of each leaf have one majority class, or the leaf has at most the
// share theta of the weight. Trees that grow from the classes of rows do so too; they may have
// further tests, which only raise their cost.
type Bound struct {
	Theta      float64
	Cost       float64 // the bound, per object by weight
	Method     string  // the method that gave the bound
	Sampled    bool    // the bound holds with the probability Confidence
	Sample     int     // number of objects searched
	Confidence float64 // 1 if all objects were searched
	Steps      int64   // steps taken, estimated
	Budget     int64   // Options.Budget
	CutShort   int     // searched objects whose search reached the limit of work

	LogFactor   float64 // factor of the paper's theorem for these data; 0 if the criterion has none
	Assumptions []tree.Assumption
}

// Data are coalesced rows with their features.
type Data struct {
	Objects  *dataset.Objects
	Features []dataset.Feature
}

// Certify bounds the expected cost of every tree over the features that
// separates the objects to theta. The bound does not depend on the order of the
// objects or on the number of workers.
func Certify(d Data, opts Options) Bound {
	if opts.Work <= 0 {
		opts.Work = defaultWork
	}
	p := newProblem(d.Objects, d.Features, &opts)
	b := Bound{
		Theta: opts.Theta, Budget: max(0, opts.Budget), Confidence: 1, Sample: p.len(),
		LogFactor: p.logFactor(&opts), Assumptions: p.assumptions(d, &opts),
	}
	if p.trivial() {
		b.Method = Optimum
		return b
	}
	if opts.Sample <= 0 {
		opts.Sample = defaultSample
	}
	p.effort = p.plan(&opts, len(p.values()))
	p.work, p.universe = p.effort.work, min(p.len(), p.effort.universe)
	sample := p.effort.sample
	p.sampled = p.len() > max(sample, p.effort.peers)
	if opts.Planned != nil {
		opts.Planned(p.steps(p.effort, len(p.values())))
	}
	p.meter.add(p.prepared())
	if p.len() <= sample {
		b.Cost, b.Method = p.mean(&opts)
	} else {
		b.Sampled = true
		b.Sample = sample
		b.Confidence = confidence
		b.Cost, b.Method = p.estimate(sample, &opts)
	}
	b.Cost, b.Steps, b.CutShort = roundDown(b.Cost), p.meter.done.Load(), int(p.meter.cut.Load())
	if p.meter.stops() {
		b.Cost = 0
	}
	return b
}

// trivial reports whether the root is a leaf.
func (p *problem) trivial() bool {
	return float64(p.total) <= p.limit || !slices.ContainsFunc(p.class, func(k int32) bool { return k != p.class[0] })
}

// Digits of a bound. The sums from which a bound follows may be off by more than rounding errors,
// because prices are scaled until they are feasible.
const (
	boundDigits = 7
	boundSlack  = 1e-9
)

// roundDown lowers a bound by the possible rounding error, and drops digits without
// meaning.
func roundDown(x float64) float64 {
	return portable.Down(max(0, float64(x*(1-boundSlack))), boundDigits)
}

// choose returns the value whose bound is the highest on a pilot of objects, less its offset, and the
// pilot's bounds under it. mean returns the bound before the offset.
func (p *problem) choose(pilot []int32, workers int, mean func(bounds []float64) float64) (value, []float64) {
	values := p.values()
	bounds := p.bounds(pilot, 0, values, workers)
	best := 0
	most := math.Inf(-1)
	for i := range values {
		if m := mean(column(bounds, i)) - values[i].offset; m > most {
			best = i
			most = m
		}
	}
	return values[best], column(bounds, best)
}

// column returns the bounds of all objects under one value.
func column(bounds [][]float64, i int) []float64 {
	c := make([]float64, len(bounds))
	for j := range bounds {
		c[j] = bounds[j][i]
	}
	return c
}

// weightedMean returns the mean of x; nil weights: equal ones.
func weightedMean(x, weights []float64) float64 {
	var sum, total float64
	for i := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum += float64(w * x[i])
		total += w
	}
	return sum / total
}

// mean returns the bound from the values of all objects.
func (p *problem) mean(opts *Options) (bound float64, method string) {
	weights := make([]float64, p.len())
	for i, w := range p.weight {
		weights[i] = float64(w)
	}
	if p.len() <= p.effort.pilot {
		whole := func(bounds []float64) float64 { return weightedMean(bounds, weights) }
		v, bounds := p.choose(p.all(), opts.Workers, whole)
		return whole(bounds) - v.offset, v.name
	}
	equally := func(bounds []float64) float64 { return weightedMean(bounds, nil) }
	v, _ := p.choose(p.draw(p.effort.pilot, opts.Seed, 1), opts.Workers, equally)
	bounds := p.bounds(p.all(), 0, []value{v}, opts.Workers)
	return weightedMean(column(bounds, 0), weights) - v.offset, v.name
}

// estimate returns a lower confidence limit on the bound, from a sample. The value is chosen by the
// limit that a sample with the pilot's bounds would have.
func (p *problem) estimate(sample int, opts *Options) (bound float64, method string) {
	expected := func(pilot []float64) float64 {
		draws := make([]float64, sample)
		for i := range draws {
			draws[i] = pilot[i%len(pilot)]
		}
		return scaledLimit(draws, pilot)
	}
	v, pilot := p.choose(p.draw(p.effort.pilot, opts.Seed, 1), opts.Workers, expected)
	bounds := p.bounds(p.draw(sample, opts.Seed, 2), p.effort.pilot, []value{v}, opts.Workers)
	return scaledLimit(column(bounds, 0), pilot) - v.offset, v.name
}

// scaledLimit returns a lower confidence limit on the mean of draws >= 0: see lowerLimit. Draws
// above the pilot's greatest value are reduced to it, because a number below an object's bound is
// also a bound.
func scaledLimit(draws, pilot []float64) float64 {
	most := slices.Max(pilot)
	if most <= 0 {
		return 0
	}
	scaled := func(list []float64) []float64 {
		list = slices.Clone(list)
		for i := range list {
			list[i] = min(list[i]/most, 1)
		}
		return list
	}
	return float64(most * lowerLimit(scaled(draws), scaled(pilot)))
}
