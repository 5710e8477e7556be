package boost

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

const (
	// Trees is the default number of regression trees in a booster.
	Trees = 20

	// rate is the default share of a Newton step that a regression tree takes.
	rate = 0.3

	// MaxLeaves is the greatest number of leaves of a regression tree, because a scorer has this
	// many bits for one.
	MaxLeaves = 32

	// least is the least number of objects of a leaf.
	least = 20

	// ridge is the factor of half the square of a leaf's values, in rows.
	ridge = 1

	// decimals is the inverse of the unit of a leaf's values.
	decimals = 1000
)

// Options configure fitting.
type Options struct {
	Trees   int         // greatest number of regression trees; 0: Trees
	Rate    float64     // share of a Newton step that a regression tree takes; 0: 0.3
	Scale   float64     // units in the average weight of a row; 0: 1
	Stop    func() bool // if it returns true, no further tree is fitted, and the result must not be used; nil: never
	Workers int         // goroutines of an ensemble; 0: one per processor
	Most    int         // greatest number of objects that a part of an ensemble learns from; 0: 32,768
	Parts   int         // number of parts of an ensemble's objects; 0: 5
	// Features is the number of features that a regression tree may use. They are drawn at random for
	// each tree. 0: all features.
	Features int
	// Gains is raised by what each feature gains in the splits, by feature; nil: not needed.
	Gains []float64
}

// Fit fits a booster to the objects with the given ids. The booster uses the features in use.
// scores holds the scores of the objects so far, by object and score: one score for two classes,
// otherwise one for each class. Fit raises them by the values of the booster. The same objects in
// another order give a booster with other last bits.
func Fit(
	o *dataset.Objects, features []dataset.Feature, use []int, ids []int32, scores []float64, opts Options,
) *Booster {
	if opts.Trees == 0 {
		opts.Trees = Trees
	}
	if opts.Rate == 0 {
		opts.Rate = rate
	}
	f := newFitter(o, features, use, ids, scores, opts)
	b := new(Booster)
	for range opts.Trees {
		if opts.Stop != nil && opts.Stop() {
			break
		}
		f.differentiate()
		t := f.grow()
		if t == nil {
			break
		}
		b.Trees = append(b.Trees, t)
	}
	return b
}

// fitter fits a booster. Its rows are the objects of the fit.
type fitter struct {
	features []dataset.Feature
	use      []int
	codes    [][]uint16 // by used feature and row: the rank of the row's code among the codes of all rows
	listed   [][]uint16 // by used feature and rank: the code; missing comes last
	first    []int      // by used feature: its first entry in a histogram
	draws    int        // number of features that a tree may use
	drawn    []int      // by draw: index in the used features, ascending, for the growing tree
	random   portable.Random
	entries  int       // number of entries of a histogram: one for each rank of each used feature
	width    int       // number of scores
	weights  []float64 // by row, in rows
	targets  []float64 // by row and score: the weight of the score's class, in rows
	scores   []float64 // by row and score

	// slopes holds, by row and score, the gradient of the log loss and its second derivative.
	slopes []float64
	order  []int32   // rows, by leaf of the growing tree
	spare  []int32   // as long as order
	free   []sums    // unused histograms
	ranges []extent  // by leaf of the growing tree and used feature
	gains  []float64 // see Options.Gains
	p      []float64 // probabilities by class, or e^-|score| by row if there is a single score
	rate   float64   // share of a Newton step
}

// sums are sums over rows, by entry: the number of rows, then the slopes of the scores.
type sums []float64

// stride is the number of sums of an entry.
func (f *fitter) stride() int { return 1 + 2*f.width }

func newFitter(
	o *dataset.Objects, features []dataset.Feature, use []int, ids []int32, scores []float64, opts Options,
) *fitter {
	n, width := len(ids), o.Classes
	if width == 2 {
		width = 1
	}
	f := &fitter{
		features: features, use: use, width: width, weights: make([]float64, n), targets: make([]float64, n*width),
		scores: scores, slopes: make([]float64, 2*n*width), order: make([]int32, n), spare: make([]int32, n),
		ranges: make([]extent, MaxLeaves*len(use)), p: make([]float64, o.Classes), rate: opts.Rate,
		gains: opts.Gains, draws: min(cmp.Or(opts.Features, len(use)), len(use)),
	}
	if width == 1 {
		f.p = make([]float64, n)
	}
	unit := 1 / cmp.Or(opts.Scale, 1)
	for _, feature := range use {
		codes, listed := ranked(&o.Codes[feature], ids, &features[feature])
		f.first = append(f.first, f.entries)
		f.entries += len(listed)
		f.codes, f.listed = append(f.codes, codes), append(f.listed, listed)
	}
	for i, id := range ids {
		f.weights[i] = unit * float64(o.Weight[id])
		for _, w := range o.Raw(int(id)) {
			if k := int(w.Class) - (o.Classes - width); k >= 0 {
				f.targets[i*width+k] = unit * float64(w.Weight)
			}
		}
	}
	return f
}

// ranked returns the ranks of the objects' codes of a feature, and the code of each rank: the codes of
// the objects, ascending, followed by the code of missing. Small nodes have few of the codes.
func ranked(codes *dataset.Codes, ids []int32, feature *dataset.Feature) (ranks, listed []uint16) {
	ranks, rankOf := make([]uint16, len(ids)), make([]uint16, feature.Codes())
	for i, id := range ids {
		ranks[i] = uint16(codes.At(int(id)))
		rankOf[ranks[i]] = 1
	}
	rankOf[feature.MissingCode()] = 0
	for code, has := range rankOf {
		if has > 0 {
			rankOf[code], listed = uint16(len(listed)), append(listed, uint16(code))
		}
	}
	rankOf[feature.MissingCode()], listed = uint16(len(listed)), append(listed, uint16(feature.MissingCode()))
	for i, code := range ranks {
		ranks[i] = rankOf[code]
	}
	return ranks, listed
}

// differentiate sets the slopes at the scores.
func (f *fitter) differentiate() {
	if f.width == 1 {
		f.differentiateOne()
		return
	}
	for i, weight := range f.weights {
		from, to := f.scores[i*f.width:][:f.width], f.slopes[2*i*f.width:][:2*f.width]
		portable.FillProbabilities(f.p, from)
		for k, p := range f.p[len(f.p)-f.width:] {
			to[2*k] = float64(weight*p) - f.targets[i*f.width+k]
			to[2*k+1] = weight * float64(p*(1-p))
		}
	}
}

// differentiateOne is differentiate for a single score.
func (f *fitter) differentiateOne() {
	for i, z := range f.scores {
		f.p[i] = -math.Abs(z)
	}
	portable.ExpEach(f.p)
	for i, e := range f.p {
		p := 1 / (1 + e)
		if math.Signbit(f.scores[i]) {
			p = e / (1 + e)
		}
		weight, to := f.weights[i], f.slopes[2*i:][:2]
		to[0] = float64(weight*p) - f.targets[i]
		to[1] = weight * float64(p*(1-p))
	}
}

// draw draws the features of the next tree.
func (f *fitter) draw() {
	all := make([]int, len(f.use))
	for i := range all {
		all[i] = i
	}
	for i := 0; i < f.draws && f.draws < len(all); i++ {
		other := i + f.random.Below(len(all)-i)
		all[i], all[other] = all[other], all[i]
	}
	f.drawn = all[:f.draws]
	slices.Sort(f.drawn)
}

// values returns what a leaf adds to the scores, given the sums over its rows: a share of a
// Newton step.
func (f *fitter) values(total sums) []float64 {
	values := make([]float64, f.width)
	for k := range values {
		step := -f.rate * total[1+2*k] / (total[2+2*k] + ridge)
		values[k] = math.Round(step*decimals)/decimals + 0 // no -0
	}
	return values
}
