package boost

import (
	"runtime"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
)

const (
	// parts is the number of parts of an ensemble's objects.
	parts = 5

	// mostDrawn is the number of objects at most that the regression trees of an ensemble
	// learn from.
	mostDrawn = 1 << 15
)

// Ensemble is boosted trees over all features. They rate objects, as a teacher does. It keeps the
// objects that it has learned from.
type Ensemble struct {
	objects  *dataset.Objects
	features []dataset.Feature
	options  Options
	start    []float64  // scores of each object to begin with
	part     []int      // by object
	members  []*Booster // by part: has learned from the other parts; the last one from all
}

// NewEnsemble learns from the class weights (Raw) of objects of the given features. By default it
// has 50 trees that take a share of 0.2. The order of the objects does not matter. It returns nil
// if Stop says so.
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
	e := &Ensemble{
		objects: o, features: features, options: opts, start: logits(o), part: make([]int, o.Len()),
		members: make([]*Booster, parts+1),
	}
	order := o.ByHash()
	for at, id := range order {
		e.part[id] = at % parts
	}
	parallel.Each(len(e.members), opts.Workers, func(number int) { e.members[number] = e.learn(number, order) })
	if opts.Stop != nil && opts.Stop() {
		return nil
	}
	return e
}

// learn fits the member of a part, given the objects in the order of their hashes.
func (e *Ensemble) learn(part int, order []int32) *Booster {
	var ids []int32
	for _, id := range order {
		if e.part[id] != part && len(ids) < mostDrawn {
			ids = append(ids, id)
		}
	}
	scores, use := make([]float64, 0, len(ids)*len(e.start)), make([]int, len(e.features))
	for range ids {
		scores = append(scores, e.start...)
	}
	for i := range use {
		use[i] = i
	}
	return Fit(e.objects, e.features, use, ids, scores, e.options)
}

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

// OutOfFold returns class probabilities of the objects that the ensemble has learned from, Classes
// numbers an object, by trees that have not learned from the object. nil: Stop says so.
func (e *Ensemble) OutOfFold() []float32 {
	return e.rate(e.objects, func(object int) *Booster { return e.members[e.part[object]] })
}

// Probabilities returns class probabilities of other objects of the same features, Classes numbers
// an object. nil: Stop says so.
func (e *Ensemble) Probabilities(o *dataset.Objects) []float32 {
	return e.rate(o, func(int) *Booster { return e.members[parts] })
}

// block is the number of objects that a goroutine rates at a time.
const block = 256

func (e *Ensemble) rate(o *dataset.Objects, by func(object int) *Booster) []float32 {
	out, stop := make([]float32, o.Len()*o.Classes), e.options.Stop
	parallel.Each((o.Len()+block-1)/block, e.options.Workers, func(b int) {
		if stop != nil && stop() {
			return
		}
		scores, p := make([]float64, len(e.start)), make([]float64, o.Classes)
		for i := b * block; i < min(o.Len(), (b+1)*block); i++ {
			copy(scores, e.start)
			by(i).AddTo(scores, e.features, func(feature int) int { return o.Codes[feature].At(i) })
			portable.FillProbabilities(p, scores)
			for k := range p {
				out[i*o.Classes+k] = float32(p[k])
			}
		}
	})
	if stop != nil && stop() {
		return nil
	}
	return out
}
