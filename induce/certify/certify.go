package certify

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Options say which trees are bounded, and how much work goes into it.
type Options struct {
	Algorithm split.Algorithm // of the tree, for the paper's factor
	Family    split.Family    // tests that there are
	Theta     float64         // leaves that weigh at most theta of all may have several classes
	Lambda    float64         // weight of the discrimination
	Subset    int             // of the cuts that trees are confined to, from 1 on as in dataset.Feature; 0: all
	// after the first test on a feature without value costs its others cost nothing on a path
	RepeatFree bool

	Seed    uint64
	Sample  int // objects drawn where there are more; 0: 400
	Work    int // codes looked at for one object before its bound is left as it is; 0: 2 million
	Workers int // goroutines; at most 1: none

	// Budget bounds the steps that the bound may take, a few nanoseconds each; 0: no
	// bound. With fewer steps fewer objects are drawn, and less is looked at for each:
	// the bound is lower then, and as sure. Preparing the data, ten steps a code, and the least
	// effort are beyond it.
	Budget   int64
	Stop     func() bool       // asked every few milliseconds; true: the work ends, and the bound is 0
	Planned  func(steps int64) // told of the steps that the bound takes at most, about, once they are known
	Progress func(done int64)  // told of the steps that are done, from several goroutines
}

const (
	defaultSample = 400
	defaultWork   = 1 << 21
)

// The methods of bounding. The first is exact.
const (
	Optimum     = "optimum"
	Cover       = "cover"
	Information = "information"
	Kraft       = "kraft"
)

// Bound is a lower bound on the expected cost of any tree that separates the
// objects to theta.
type Bound struct {
	Theta      float64 // that trees separate to
	Cost       float64
	Method     string  // that gave it
	Sampled    bool    // it holds with a probability of Confidence
	Sample     int     // objects looked at
	Confidence float64 // 1 where all objects were looked at
	Steps      int64   // that it took, about
	Budget     int64   // as in Options
	CutShort   int     // objects whose search was left before its end, for want of work

	LogFactor   float64 // of the paper's theorem for these data; 0: the criterion has none
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
	b := Bound{Theta: opts.Theta, Budget: max(0, opts.Budget), Confidence: 1, Sample: p.len(),
		LogFactor: p.logFactor(&opts), Assumptions: p.assumptions(d, &opts)}
	if p.trivial() {
		b.Method = Optimum
		return b
	}
	if cost, ok := p.optimum(); ok {
		b.Cost, b.Method = portable.Down(cost, boundDigits), Optimum
		return b
	}
	sample := opts.Sample
	if sample <= 0 {
		sample = defaultSample
	}
	opts.Sample = sample
	p.effort = p.plan(&opts, len(p.values()))
	p.work, p.universe = p.effort.work, min(p.len(), p.effort.universe)
	if p.len() > sample {
		sample = p.effort.sample
	}
	p.sampled = p.len() > max(sample, p.effort.peers)
	if opts.Planned != nil {
		opts.Planned(p.steps(p.effort, len(p.values())))
	}
	p.meter.add(p.prepared())
	if p.len() <= sample {
		b.Cost, b.Method = p.mean(&opts)
	} else {
		b.Sampled, b.Sample, b.Confidence = true, sample, confidence
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
	if float64(p.total) <= p.limit {
		return true
	}
	for _, k := range p.class {
		if k != p.class[0] {
			return false
		}
	}
	return true
}

// Digits of a bound. The sums behind one that is no optimum may be off by more than
// rounding, as prices are scaled until they are feasible.
const (
	boundDigits = 7
	boundSlack  = 1e-9
)

// roundDown leaves out what rounding may have added, and digits that mean nothing.
func roundDown(x float64) float64 {
	return portable.Down(max(0, float64(x*(1-boundSlack))), boundDigits)
}

// choose returns the value that is best on a pilot of objects, and the values of
// the pilot.
func (p *problem) choose(pilot []int32, weights []float64, workers int) (value, []float64) {
	values := p.values()
	of := p.bounds(pilot, 0, values, workers)
	best, most := 0, math.Inf(-1)
	for i := range values {
		if m := weightedMean(column(of, i), weights) - values[i].offset; m > most {
			best, most = i, m
		}
	}
	return values[best], column(of, best)
}

func column(of [][]float64, i int) []float64 {
	c := make([]float64, len(of))
	for j := range of {
		c[j] = of[j][i]
	}
	return c
}

// weightedMean returns the mean of x; nil weights: equal ones.
func weightedMean(x, weights []float64) float64 {
	sum, total := 0.0, 0.0
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

// mean returns the bound over all objects.
func (p *problem) mean(opts *Options) (bound float64, method string) {
	weights := make([]float64, p.len())
	for i, w := range p.weight {
		weights[i] = float64(w)
	}
	if p.len() <= p.effort.pilot {
		v, of := p.choose(p.all(), weights, opts.Workers)
		return weightedMean(of, weights) - v.offset, v.name
	}
	v, _ := p.choose(p.draw(p.effort.pilot, opts.Seed, 1), nil, opts.Workers)
	of := p.bounds(p.all(), 0, []value{v}, opts.Workers)
	return weightedMean(column(of, 0), weights) - v.offset, v.name
}

// estimate returns a lower confidence limit on the bound, from a sample.
func (p *problem) estimate(sample int, opts *Options) (bound float64, method string) {
	v, pilot := p.choose(p.draw(p.effort.pilot, opts.Seed, 1), nil, opts.Workers)
	most := 0.0
	for _, x := range pilot {
		most = max(most, x)
	}
	if most == 0 {
		return 0, v.name
	}
	of := p.bounds(p.draw(sample, opts.Seed, 2), p.effort.pilot, []value{v}, opts.Workers)
	draws := column(of, 0)
	for _, list := range [][]float64{draws, pilot} {
		for i := range list {
			list[i] = min(list[i]/most, 1) // less than the object's bound is a bound too
		}
	}
	return float64(most*lowerLimit(draws, pilot)) - v.offset, v.name
}
