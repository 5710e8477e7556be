package distill

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Config describes what is taught.
type Config struct {
	Features []dataset.Feature
	Share    float64 // weight of the teacher's probabilities in the class weights of a training object, 0 to 1
	MadeUp   int     // number of synthetic objects; 0 for none
	Seed     uint64
	Scale    float64 // fixed-point weight of a row of the training objects; 0: 1
	Most     int     // greatest number of objects that the teacher learns from; 0: see boost.NewEnsemble
	Parts    int     // number of parts of the objects, each rated by a teacher of the other parts; 0: see boost.NewEnsemble

	Workers int         // goroutines; 0: one per processor
	Stop    func() bool // if it returns true, the result must not be used; nil: never
}

// stopped reports whether Stop ends the work.
func (c *Config) stopped() bool { return c.Stop != nil && c.Stop() }

// each calls f(0), f(1), .. f(n-1) until Stop returns true, and reports whether all calls were made.
func (c *Config) each(n int, f func(i int)) bool {
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var stopped atomic.Bool
	parallel.Each(n, workers, func(i int) {
		if stopped.Load() || c.stopped() {
			stopped.Store(true)
			return
		}
		f(i)
	})
	return !stopped.Load()
}

// finest is the least fixed-point weight of a row, so that classes can share the weight of a row
// this finely.
const finest = 256

// Factor returns how many units of a transfer set's weights equal a unit of the training objects'
// weights. scale is the fixed-point weight of a row of the training objects.
func Factor(scale float64) int64 {
	if scale >= finest {
		return 1
	}
	return finest
}

// TransferSet is what trees grow from: the training objects with the teacher's share in their class
// weights, and the synthetic objects.
type TransferSet struct {
	Objects *dataset.Objects // soft, in the order of leafmodel.Sorted; synthetic objects have no rows

	config   *Config
	training *dataset.Objects
	features []int // features that trees grow from, ascending
}

// NewTransferSet trains a teacher on the training objects, and lets it teach them. The transfer set
// does not depend on their order. It is nil if Stop ends the work.
func (c *Config) NewTransferSet(training *dataset.Objects) *TransferSet {
	teacher, unseen := c.learn(training)
	if teacher == nil {
		return nil
	}
	settled := *c
	s := &TransferSet{config: &settled, training: training, features: telling(teacher.Gains())}
	s.Objects = dataset.NewObjects(dataset.NewLayout(c.Features), training.Classes, true, training.Len()+c.MadeUp)
	s.mix(unseen)
	if c.MadeUp > 0 && !s.makeUp(teacher) {
		return nil
	}
	s.Objects = leafmodel.Sorted(s.Objects, 0)
	return s
}

// Options of the teacher of a part of the training objects. What it teaches is only compared, so it may
// learn from fewer objects, and its trees from fewer synthetic objects.
const (
	mostOfPart  = 1 << 13 // see Config.Most
	partsOfPart = 3       // see Config.Parts; used if there are more than fewWhole training objects

	// fewWhole is a number of training objects with which all of it takes little time. With three parts, ilpd
	// and iris lost .007 and .003 of AUC, and with fewer synthetic objects ilpd lost .008.
	fewWhole = 2000
)

// Part lets a teacher that is trained on these training objects teach them. There are as many synthetic
// objects per training object or, with many training objects, two fifths of them. The result is nil if
// stop ends the work.
func (s *TransferSet) Part(training *dataset.Objects, stop func() bool) *TransferSet {
	c := *s.config
	c.MadeUp = c.MadeUp * training.Len() / s.training.Len()
	c.Stop = stop
	if training.Len() < s.training.Len() {
		c.Most = mostOfPart
		if s.training.Len() > fewWhole {
			c.Parts = partsOfPart
			c.MadeUp = c.MadeUp * 2 / 5
		}
	}
	return c.NewTransferSet(training)
}

// mix adds the training objects, with the teacher's probabilities in their class weights.
func (s *TransferSet) mix(probabilities []float32) {
	o := s.training
	factor := Factor(s.config.Scale)
	shares := make([]float64, o.Classes)
	for i := range o.Len() {
		for k, p := range probabilities[i*o.Classes : (i+1)*o.Classes] {
			shares[k] = float64(s.config.Share * float64(p))
		}
		for _, w := range o.Raw(i) {
			shares[w.Class] += float64((1 - s.config.Share) * (float64(w.Weight) / float64(o.Weight[i])))
		}
		s.append(o, i, o.Labels(i), weights(shares, factor*o.Weight[i]), o.RowsOf(i))
	}
}

// makeUp adds synthetic objects, with the probabilities that the teacher predicts for them.
// Together they weigh about as much as the training objects. It returns false if Stop ends the
// work.
func (s *TransferSet) makeUp(t *boost.Ensemble) bool {
	o := s.config.MakeUp(s.training, s.features)
	if o == nil {
		return false
	}
	probabilities := t.Probabilities(o)
	if probabilities == nil {
		return false
	}
	each := max(1, Factor(s.config.Scale)*s.training.TotalWeight()/int64(max(1, o.Len())))
	shares := make([]float64, o.Classes)
	for i := range o.Len() {
		for k, p := range probabilities[i*o.Classes : (i+1)*o.Classes] {
			shares[k] = float64(p)
		}
		w := weights(shares, each)
		s.append(o, i, w, w, 0)
	}
	return true
}

// append adds object i of o with other class weights.
func (s *TransferSet) append(o *dataset.Objects, i int, labels, raw []dataset.ClassWeight, rows int64) {
	codes := make([]int, len(o.Codes))
	for f := range codes {
		codes[f] = o.Codes[f].At(i)
	}
	s.Objects.AppendSoft(codes, labels, raw, rows)
}

// shareBits is the binary logarithm of the integer that represents a probability of 1.
const shareBits = 30

// weights divides a weight among the classes by their shares.
func weights(shares []float64, total int64) []dataset.ClassWeight {
	whole := make([]int64, len(shares))
	for k, s := range shares {
		whole[k] = int64(math.Round(math.Ldexp(s, shareBits)))
	}
	var list []dataset.ClassWeight
	for k, w := range apportion(whole, total) {
		if w > 0 {
			list = append(list, dataset.ClassWeight{Class: uint16(k), Weight: w})
		}
	}
	return list
}

// fewFeatures is the number of features up to which taught trees grow from all features.
const fewFeatures = 64

// telling returns the features from which taught trees grow, ascending: those that gain the most in the
// teacher, fewFeatures of them or an eighth of all.
func telling(gains []float64) []int {
	order := make([]int, len(gains))
	for f := range order {
		order[f] = f
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gains[b], gains[a]) })
	order = order[:min(len(order), max(fewFeatures, len(order)/8))]
	slices.Sort(order)
	return order
}

// Grow grows trees from the transfer set, one for each of the parameters, and counts them again on
// the training objects: see Recount. This includes trees that o.Stop has cut short. The result is
// nil if the Stop of the transfer set ends the work.
func (s *TransferSet) Grow(columns []split.Column, params []induce.Params, o inmemory.Options) [][]tree.Node {
	use := slices.Clone(s.features)
	for f := range columns {
		if at, found := slices.BinarySearch(use, f); !found && columns[f].First > 0 {
			use = slices.Insert(use, at, f)
		}
	}
	objects := *s.Objects
	objects.Codes = dataset.Pick(objects.Codes, use)
	params = slices.Clone(params)
	for i := range params {
		params[i].RowWeight = cmp.Or(params[i].RowWeight, 1) * float64(Factor(s.config.Scale))
	}
	trees := inmemory.GrowEach(&objects, dataset.Pick(columns, use), params, objects.TotalWeight(), o)
	done := s.config.each(len(trees), func(i int) {
		for k := range trees[i] {
			n := &trees[i][k]
			if n.Leaf() {
				continue
			}
			n.Test.Feature = use[n.Test.Feature]
			if second := n.Test.RunnerUp; second != nil {
				second.Test.Feature = use[second.Test.Feature]
			}
		}
		trees[i] = Recount(trees[i], s.training, columns, Factor(s.config.Scale))
	})
	if !done {
		return nil
	}
	return trees
}
