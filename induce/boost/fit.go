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

	// ChanceGain is the gain that a split must exceed to lower the log loss of new rows. A split adds a parameter. By
	// chance alone the parameter lowers twice the log loss of the rows that it is fitted to by 1, and raises twice the log loss
	// of new rows by 1
	// (Akaike: A new look at the statistical model identification, 1974).
	ChanceGain = 2
)

// Options configure fitting.
type Options struct {
	Trees   int         // greatest number of regression trees; 0: Trees
	Rate    float64     // share of a Newton step that a regression tree takes; 0: 0.3
	Gain    float64     // gain that a split must exceed, in twice the log loss of a row, in nats
	Scale   float64     // units in the average weight of a row; 0: 1
	Stop    func() bool // if it returns true, no further tree is fitted, and the result must not be used; nil: never
	Workers int         // goroutines of an ensemble; 0: one per processor
	Most    int         // greatest number of objects that a part of an ensemble learns from; 0: MaxObjects
	Parts   int         // number of parts of an ensemble's objects; 0: 5
	// Features is the number of features that a regression tree after the first may use. They are drawn at
	// random for each tree. 0: all features.
	Features int
	// Bins is the greatest number of ranges of values that the splits of a numeric feature tell apart. The
	// ranges have about the same number of objects. 0: the bins of the feature.
	Bins int
	// Gains is raised by what each feature gains in the splits, by feature; nil: not needed.
	Gains []float64
}

// Fit fits a booster to the objects with the given ids. The booster uses the features in use.
// scores holds the scores of the objects so far, by object and score: one score for two classes,
// otherwise one for each class. Fit raises them by the values of the booster. The same objects in
// another order give a booster with other last bits. There may be at most MaxObjects objects.
func Fit(
	o *dataset.Objects, features []dataset.Feature, use []int, ids []int32, scores []float64, opts Options,
) *Booster {
	if opts.Trees == 0 {
		opts.Trees = Trees
	}
	if opts.Rate == 0 {
		opts.Rate = rate
	}
	b := new(Booster)
	if len(ids) < 2*least {
		return b
	}
	f := newFitter(o, features, use, ids, scores, opts)
	for range opts.Trees {
		if opts.Stop != nil && opts.Stop() {
			break
		}
		f.differentiate()
		t := f.grow()
		if t != nil {
			b.Trees = append(b.Trees, t)
		} else if len(f.drawn) == len(use) {
			break
		}
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

	// sums holds, by row and score, the gradient of the log loss and its second derivative, the curvature.
	sums   []sum
	units  units
	order  []int32   // rows, by leaf of the growing tree
	spare  []int32   // as long as order
	free   [][]sum   // unused histograms
	tree   Tree      // memory of the growing tree
	ranges []extent  // by leaf of the growing tree and used feature
	gains  []float64 // see Options.Gains
	p      []float64 // probabilities by class, or e^-|score| by row if there is a single score
	rate   float64   // share of a Newton step

	leastGain float64 // gain that a split must exceed, in units
}

func newFitter(
	o *dataset.Objects, features []dataset.Feature, use []int, ids []int32, scores []float64, opts Options,
) *fitter {
	n := len(ids)
	width := portable.Scores(o.Classes)
	f := &fitter{
		features: features, use: use, width: width, weights: make([]float64, n), targets: make([]float64, n*width),
		scores: scores, sums: make([]sum, n*width), order: make([]int32, n), spare: make([]int32, n),
		ranges: make([]extent, MaxLeaves*len(use)), p: make([]float64, o.Classes), rate: opts.Rate,
		gains: opts.Gains, draws: min(cmp.Or(opts.Features, len(use)), len(use)),
	}
	if width == 1 {
		f.p = make([]float64, n)
	}
	unit := 1 / cmp.Or(opts.Scale, 1)
	for _, feature := range use {
		codes, listed := ranked(&o.Codes[feature], ids, &features[feature], opts.Bins)
		f.first = append(f.first, f.entries)
		f.entries += len(listed)
		f.codes = append(f.codes, codes)
		f.listed = append(f.listed, listed)
	}
	for i, id := range ids {
		f.weights[i] = unit * float64(o.Weight[id])
		for _, w := range o.Raw(int(id)) {
			if k := int(w.Class) - (o.Classes - width); k >= 0 {
				f.targets[i*width+k] = unit * float64(w.Weight)
			}
		}
	}
	f.units = newUnits(f.weights)
	if opts.Gain > 0 {
		f.leastGain = opts.Gain / f.units.gain
	}
	return f
}

// ranked returns the ranks of the objects' codes of a feature, and the code of each rank: the codes of
// the objects, ascending, followed by the code of missing. Small nodes have few of the codes. If there are
// more than most bins (0: no limit), neighbours share a rank, whose code is the highest of theirs.
func ranked(codes *dataset.Codes, ids []int32, feature *dataset.Feature, most int) (ranks, listed []uint16) {
	missing := feature.MissingCode()
	ranks = make([]uint16, len(ids))
	rankOf := make([]uint16, feature.Codes())
	counts := make([]int, feature.Codes()) // objects, by code
	for i, id := range ids {
		ranks[i] = uint16(codes.At(int(id)))
		counts[ranks[i]]++
	}
	seen := 0 // codes that some object has
	for _, n := range counts[:missing] {
		seen += min(n, 1)
	}
	merge := feature.Kind == dataset.Numeric && 0 < most && most < seen
	valued := len(ids) - counts[missing]
	below := 0 // objects with lower codes
	group := -1
	for code, n := range counts[:missing] {
		if n == 0 {
			continue
		}
		if at := below * most / valued; merge && at == group {
			listed[len(listed)-1] = uint16(code)
		} else {
			listed = append(listed, uint16(code))
			group = at
		}
		rankOf[code] = uint16(len(listed) - 1)
		below += n
	}
	rankOf[missing] = uint16(len(listed))
	listed = append(listed, uint16(missing))
	for i, code := range ranks {
		ranks[i] = rankOf[code]
	}
	return ranks, listed
}

// differentiate sets the sums of the rows at the scores.
func (f *fitter) differentiate() {
	if f.width == 1 {
		f.differentiateOne()
		return
	}
	rounders := slices.Repeat([]rounder{f.units.rounder()}, f.width)
	for i, weight := range f.weights {
		from, to := f.scores[i*f.width:][:f.width], f.sums[i*f.width:][:f.width]
		portable.FillProbabilities(f.p, from)
		for k, p := range f.p[len(f.p)-f.width:] {
			to[k] = rounders[k].round(float64(weight*p)-f.targets[i*f.width+k], weight*float64(p*(1-p)))
		}
	}
}

// differentiateOne is differentiate for a single score.
func (f *fitter) differentiateOne() {
	for i, z := range f.scores {
		f.p[i] = -math.Abs(z)
	}
	portable.ExpEach(f.p)
	r := f.units.rounder()
	for i, e := range f.p {
		p := 1 / (1 + e)
		if math.Signbit(f.scores[i]) {
			p = e / (1 + e)
		}
		weight := f.weights[i]
		f.sums[i] = r.round(float64(weight*p)-f.targets[i], weight*float64(p*(1-p)))
	}
}

// draw sets the features of the next tree. The first tree may use all features, so a single one of many
// that tells something is found.
func (f *fitter) draw() {
	first := f.drawn == nil
	all := make([]int, len(f.use))
	for i := range all {
		all[i] = i
	}
	f.drawn = all
	if first || f.draws == len(all) {
		return
	}
	for i := range f.draws {
		other := i + f.random.Below(len(all)-i)
		all[i], all[other] = all[other], all[i]
	}
	f.drawn = all[:f.draws]
	slices.Sort(f.drawn)
}

// fill sets the values that a leaf adds to the scores, given the sums over its rows: a share of a
// Newton step.
func (f *fitter) fill(values []float64, total []sum) {
	for k, s := range total {
		step := -f.rate * (s.gradient() / f.units.gradient) / ((s.curvature() + f.units.ridge) / f.units.curvature)
		values[k] = math.Round(step*decimals)/decimals + 0 // no -0
	}
}
