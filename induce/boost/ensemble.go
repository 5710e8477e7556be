package boost

import (
	"cmp"
	"math"
	"runtime"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
)

const (
	// parts is the default number of parts of an ensemble's objects.
	parts = 5

	// fewFeatures is the number of features up to which the trees of an ensemble may use all features.
	// If there are more, a tree may use twice the square root of their number, and tells coarseBins ranges of
	// values apart. The ratings are as good or better, as measured on public data sets; with fewer features,
	// all of them and fine bins matter.
	fewFeatures = 32
	coarseBins  = 32
)

// Ensemble is an ensemble of boosted trees over all features, which rates objects as a teacher. It
// keeps the objects that it has learned from.
type Ensemble struct {
	objects  *dataset.Objects
	features []dataset.Feature
	options  Options
	start    []float64    // initial scores of each object
	part     []int        // by object; nil if the objects are grouped: see partOf
	members  []*Evaluator // by part: trained on the other parts; the last one on all parts
	gains    []float64    // see Gains
}

// NewEnsemble trains an ensemble on the class weights (Raw) of objects with the given features. If
// the objects are grouped, the rows of a group are in the same part; otherwise the rows of an
// object are. By default it has 50 trees that take a share of 0.2. The order of the objects has no
// effect. It returns nil if Stop ends the work.
func NewEnsemble(o *dataset.Objects, features []dataset.Feature, opts Options) *Ensemble {
	if opts.Trees == 0 {
		opts.Trees = 50
	}
	if opts.Rate == 0 {
		opts.Rate = 0.2
	}
	if opts.Workers < 1 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.Parts == 0 {
		opts.Parts = parts
	}
	opts.Most = min(cmp.Or(opts.Most, MaxObjects), MaxObjects)
	if len(features) > fewFeatures {
		opts.Features = cmp.Or(opts.Features, int(2*math.Sqrt(float64(len(features)))))
		opts.Bins = cmp.Or(opts.Bins, coarseBins)
	}
	e := &Ensemble{
		objects: o, features: features, options: opts, start: logits(o), members: make([]*Evaluator, opts.Parts+1),
		gains: make([]float64, len(features)),
	}
	order := o.ByHash()
	if !o.Grouped() {
		e.part = make([]int, o.Len())
		for at, id := range order {
			e.part[id] = at % opts.Parts
		}
	}
	parallel.Each(len(e.members), opts.Workers, func(number int) { e.members[number] = e.learn(number, order) })
	if opts.Stop != nil && opts.Stop() {
		return nil
	}
	return e
}

// partOf returns the part of the rows of a bucket. A fold consists of neighbouring buckets, see
// crossvalidate.Deal, so it takes about the same share of each part away.
func (e *Ensemble) partOf(bucket uint8) int { return int(bucket) % e.options.Parts }

// learn fits the member of a part, given the objects in the order of their hashes.
func (e *Ensemble) learn(part int, order []int32) *Evaluator {
	objects := e.objects
	ids := []int32(nil)
	if e.part == nil && part < e.options.Parts {
		objects = objects.OfBuckets(func(bucket uint8) bool { return e.partOf(bucket) != part })
		order = objects.FirstByHash(e.options.Most)
	}
	for _, id := range order {
		if (e.part == nil || e.part[id] != part) && len(ids) < e.options.Most {
			ids = append(ids, id)
		}
	}
	scores := make([]float64, 0, len(ids)*len(e.start))
	use := make([]int, len(e.features))
	for range ids {
		scores = append(scores, e.start...)
	}
	for i := range use {
		use[i] = i
	}
	options := e.options
	if part == options.Parts {
		options.Gains = e.gains
	}
	return Fit(objects, e.features, use, ids, scores, options).Evaluator(e.features, len(e.start))
}

// Gains returns what each feature gains in the splits of the trees that have learned from all parts.
func (e *Ensemble) Gains() []float64 { return e.gains }

// logits returns the scores of the classes' shares in the weight of all objects.
func logits(o *dataset.Objects) []float64 {
	scores := make([]float64, o.Classes)
	for k, w := range o.ClassWeights() {
		scores[k] = portable.Log(float64(max(1, w)))
	}
	if len(scores) == 2 {
		return []float64{scores[1] - scores[0]}
	}
	return scores
}

// OutOfFold returns class probabilities of the training objects, Classes numbers for each object,
// by trees that were not trained on the object. For grouped objects they are averages over the
// rows, each by trees that were not trained on the row's group. The result is nil if Stop ends the
// work.
func (e *Ensemble) OutOfFold() []float32 {
	if e.part == nil {
		return e.rate(e.objects, e.unseenBy)
	}
	return e.rate(e.objects, func(object int, add func(member *Evaluator, weight int64)) {
		add(e.members[e.part[object]], 1)
	})
}

// unseenBy calls add with each member that has not learned from all groups of an object, and with the
// weight of the groups that it has not learned from.
func (e *Ensemble) unseenBy(object int, add func(member *Evaluator, weight int64)) {
	weights := make([]int64, e.options.Parts)
	for _, s := range e.objects.Groups(object) {
		if e.objects.Soft() {
			weights[e.partOf(s.Bucket)] += s.Soft
		} else {
			weights[e.partOf(s.Bucket)] += s.Weight
		}
	}
	for part, weight := range weights {
		if weight > 0 {
			add(e.members[part], weight)
		}
	}
}

// Probabilities returns class probabilities of other objects with the same features, Classes
// numbers for each object; nil if Stop ends the work.
func (e *Ensemble) Probabilities(o *dataset.Objects) []float32 {
	return e.rate(o, func(_ int, add func(member *Evaluator, weight int64)) { add(e.members[e.options.Parts], 1) })
}

// block is the number of objects that a goroutine rates at a time.
const block = 256

// rate returns the mean class probabilities by the members that by adds for each object.
func (e *Ensemble) rate(o *dataset.Objects, by func(object int, add func(member *Evaluator, weight int64))) []float32 {
	out := make([]float32, o.Len()*o.Classes)
	stop := e.options.Stop
	parallel.Each((o.Len()+block-1)/block, e.options.Workers, func(b int) {
		if stop != nil && stop() {
			return
		}
		scores := make([]float64, len(e.start))
		p := make([]float64, o.Classes)
		sums := make([]float64, o.Classes)
		for i := b * block; i < min(o.Len(), (b+1)*block); i++ {
			clear(sums)
			whole := 0.0
			by(i, func(member *Evaluator, weight int64) {
				copy(scores, e.start)
				member.AddTo(scores, o.Codes, i)
				portable.FillProbabilities(p, scores)
				whole += float64(weight)
				for k := range p {
					sums[k] += float64(float64(weight) * p[k])
				}
			})
			for k := range sums {
				out[i*o.Classes+k] = float32(sums[k] / whole)
			}
		}
	})
	if stop != nil && stop() {
		return nil
	}
	return out
}
