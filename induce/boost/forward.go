package boost

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Forward is a step of a forward selection: boosted trees that use the features that are selected so far. Each half of
// the objects is rated by the trees of the other half, so a feature without an effect hardly lowers the loss. The
// halves of grouped objects have the rows of different groups, or of different blocks of time.
type Forward struct {
	features []dataset.Feature
	options  Options
	use      []int
	halves   [2]half
}

// half is a half of the objects. Scores are by object and score, as in Fit.
type half struct {
	objects *dataset.Objects
	fitted  []float64 // scores by the trees of this half
	rated   []float64 // scores by the trees of the other half
}

// NewForward returns the step without features. Each further step adds options.Trees trees.
func NewForward(o *dataset.Objects, features []dataset.Feature, options Options) *Forward {
	f := &Forward{features: features, options: options}
	start := logits(o)
	order := o.ByHash()
	for i := range f.halves {
		h := &f.halves[i]
		if o.Grouped() {
			h.objects = o.OfBuckets(func(bucket uint8) bool { return int(bucket/2)%len(f.halves) == i }) // see dataset.BlockBucket
		} else {
			var own []int32
			for at := i; at < len(order); at += len(f.halves) {
				own = append(own, order[at])
			}
			h.objects = o.Select(own)
		}
		h.fitted = slices.Repeat(start, h.objects.Len())
		h.rated = h.fitted
	}
	return f
}

// With returns the next step, which selects further features. Its trees may use these and the features before them.
func (f *Forward) With(further ...int) *Forward {
	next := *f
	if next.use = slices.Concat(f.use, further); len(next.use) == 0 {
		return f
	}
	width := portable.Scores(f.halves[0].objects.Classes)
	for i := range f.halves {
		h := &next.halves[i]
		other := &next.halves[1-i]
		ids := make([]int32, h.objects.Len())
		for k := range ids {
			ids[k] = int32(k)
		}
		h.fitted = slices.Clone(h.fitted)
		trees := Fit(h.objects, f.features, next.use, ids, h.fitted, f.options).Evaluator(f.features, width)
		other.rated = slices.Clone(other.rated)
		for k := range other.objects.Len() {
			trees.AddTo(other.rated[k*width:(k+1)*width], other.objects.Codes, k)
		}
	}
	return &next
}

// Loss returns the log loss of all objects, in nats times weight.
func (f *Forward) Loss() float64 {
	sum := 0.0
	f.Each(func(p []float64, weights []dataset.ClassWeight) {
		for _, w := range weights {
			sum -= float64(float64(w.Weight) * portable.Log(p[w.Class]))
		}
	})
	return sum
}

// Each visits each object with its rating, a probability for each class, and with its weights. The probabilities are valid
// until visit returns.
func (f *Forward) Each(visit func(probabilities []float64, weights []dataset.ClassWeight)) {
	p := make([]float64, f.halves[0].objects.Classes)
	width := portable.Scores(len(p))
	for i := range f.halves {
		h := &f.halves[i]
		for k := range h.objects.Len() {
			copy(p, h.rated[k*width:(k+1)*width])
			portable.FillProbabilities(p, p[:width])
			visit(p, h.objects.Raw(k))
		}
	}
}
