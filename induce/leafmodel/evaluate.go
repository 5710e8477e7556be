package leafmodel

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Evaluate judges trees on objects by their codes, without total costs. Areas are accurate to about 1e-5:
// probabilities are counted in small intervals, which are larger if there are hundreds of classes. models are the
// results of Fit; nil: the leaves use their plain probabilities. Priors count as in the trees. workers bounds the
// goroutines; 0: one per processor.
func Evaluate(
	objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, models [][]*Model, workers int,
) []metric.Judgement {
	scores := make([]metric.Judgement, len(trees))
	each := max(1, listBytes/(24*objects.Classes*max(1, objects.Len())))
	for from := 0; from < len(trees); from += each {
		some := models
		to := min(len(trees), from+each)
		if models != nil {
			some = models[from:to]
		}
		e := newEvaluation(objects, features, trees[from:to], some)
		roots, ids := e.roots()
		e.run(workers, roots, ids)
		for i := range e.trees {
			e.pool.hand(handed, func() { scores[from+i] = e.score(i, nil) })
		}
		e.pool.group.Wait()
	}
	return scores
}

// EvaluateFitted is Evaluate for the trees that have models. The judgements of trees whose models are nil
// are empty.
func EvaluateFitted(
	objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, models [][]*Model, workers int,
) []metric.Judgement {
	var in []int
	var some []*tree.Tree
	var of [][]*Model
	for i, m := range models {
		if m != nil {
			in = append(in, i)
			some = append(some, trees[i])
			of = append(of, m)
		}
	}
	scores := make([]metric.Judgement, len(trees))
	for k, s := range Evaluate(objects, features, some, of, workers) {
		scores[in[k]] = s
	}
	return scores
}

func newEvaluation(
	objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, models [][]*Model,
) *evaluation {
	e := &evaluation{walk: walk{objects, features, trees}, models: models, classes: objects.Classes}
	if e.classes == 2 {
		e.first = 1
	}
	e.intervals = newIntervals(e.classes - e.first)
	e.tallies = make([]tally, len(trees))
	for i, t := range trees {
		e.tallies[i].entries = make([][]entry, len(t.Nodes))
		e.tallies[i].losses = make([]float64, len(t.Nodes))
		e.tallies[i].hits = make([]int64, len(t.Nodes))
		e.tallies[i].mistakes = make([]float64, len(t.Nodes))
		e.tallies[i].adapt = t.Adapter()
	}
	return e
}

// run counts the objects ids in the trees of roots.
func (e *evaluation) run(workers int, roots members, ids []int32) {
	weights := judging.ClassWeightsOf(e.objects)
	if len(e.trees) > 0 {
		e.factors = judging.FactorsOf(judging.Frequencies(e.trees[0]), weights)
	}
	for k, w := range weights {
		e.weight += e.factors.Weight(k, w)
	}
	e.pool = newWorkerPool(workers)
	e.visit(roots, ids)
	e.pool.group.Wait()
}

// evaluation counts the objects of each tree by their probabilities.
type evaluation struct {
	walk

	models    [][]*Model
	classes   int
	intervals intervals
	first     int              // first class whose area counts; for two classes, only the second counts
	factors   *judging.Factors // how much classes count, except for areas
	weight    int64            // weight of all objects, by the factors
	tallies   []tally
	pool      *workerPool
	scratch   sync.Pool // holds *[]entry
	sums      sync.Pool // holds *counts, which are 0
	kept      [][]int32 // by node: set to the objects of the leaves of the only tree; nil if not needed
}

// tally holds the counts of a tree.
type tally struct {
	adapt   func(probabilities []float64)
	entries [][]entry // by leaf: what its objects add to the counts
	losses  []float64 // by leaf: a sum over all leaves in one order is the same in each run

	hits     []int64   // by leaf: weight of the objects whose class is predicted
	mistakes []float64 // by leaf: cost of the predictions; 0 without error costs
}

// verdicts sums up the quality of the predictions for a set of objects.
type verdicts struct {
	loss     float64 // log loss
	hits     int64   // weight of the objects whose class is predicted
	mistakes float64 // cost of the predictions
}

func (v *verdicts) add(other verdicts) {
	v.loss += other.loss
	v.hits += other.hits
	v.mistakes += other.mistakes
}

// entry is what one or more objects add to the counts.
type entry struct {
	at        int // class and interval
	own, rest int64
}

// visit sends objects to the leaves below a node.
func (e *evaluation) visit(nodes members, ids []int32) {
	if len(ids) == 0 {
		return
	}
	inner, leaves := e.byTest(nodes)
	for _, alike := range leaves.Groups(e.alikeLeaves) {
		e.count(alike, ids)
	}
	for _, alike := range inner {
		e.children(alike, ids, func(children members, ids []int32) {
			e.pool.hand(len(ids), func() { e.visit(children, ids) })
		})
	}
}

// model returns the model of a leaf.
func (e *evaluation) model(m member) *Model {
	if e.models == nil {
		return nil
	}
	return e.models[m.Tree][m.Node]
}

// alikeLeaves reports whether two leaves have the same model, or equal probabilities and no model.
func (e *evaluation) alikeLeaves(a, b member) bool {
	m := e.model(a)
	return m == e.model(b) && (m != nil || slices.Equal(e.node(a).Probabilities, e.node(b).Probabilities))
}

// count counts the objects of a leaf, for each of the trees that have it.
func (e *evaluation) count(leaves members, ids []int32) {
	list, _ := e.scratch.Get().(*[]entry)
	if list == nil {
		list = new([]entry)
	}
	defer e.scratch.Put(list)
	*list = (*list)[:0]
	m := e.model(leaves[0])
	adapt := e.tallies[leaves[0].Tree].adapt
	p := append([]float64(nil), e.node(leaves[0]).Probabilities...)
	label := &e.trees[leaves[0].Tree].Label
	sum := verdicts{}
	weights := make([]int64, e.classes)
	for _, id := range ids {
		for _, w := range e.objects.Labels(int(id)) {
			weights[w.Class] += w.Weight
		}
		if m == nil { // all objects have the same probabilities
			continue
		}
		m.Probabilities(e.objects, int(id), p)
		adapt(p)
		sum.add(e.tell(list, label, p, weights))
		clear(weights)
	}
	if m == nil {
		sum = e.tell(list, label, p, weights)
	}
	if e.kept != nil {
		e.kept[leaves[0].Node] = ids
	}
	entries := slices.Clone(*list)
	for _, l := range leaves {
		t := &e.tallies[l.Tree]
		t.entries[l.Node] = entries
		t.losses[l.Node] = sum.loss
		t.hits[l.Node] = sum.hits
		t.mistakes[l.Node] = sum.mistakes
	}
}

// tell appends entries to list for objects that share the probabilities p, given their weights by
// class, and returns the quality of their predictions.
func (e *evaluation) tell(list *[]entry, label *tree.Label, p []float64, weights []int64) (v verdicts) {
	total := int64(0)
	class := label.Decide(p)
	v.hits = e.factors.Weight(class, weights[class])
	for k, w := range weights {
		total += w
		if w = e.factors.Weight(k, w); w > 0 {
			v.loss -= float64(float64(w) * portable.Log(max(leastProbability, min(p[k], 1-leastProbability))))
			if label.ErrorCosts != nil {
				v.mistakes += float64(float64(w) * label.ErrorCosts[k][class])
			}
		}
	}
	for k := e.first; k < e.classes; k++ {
		at := (k-e.first)*e.intervals.number() + e.intervals.of(p[k])
		*list = append(*list, entry{at, weights[k], total - weights[k]})
	}
	return v
}

// leastProbability clips the probabilities for log losses, as package metric does.
const leastProbability = 1e-15

const (
	octaves    = 16       // octaves of probabilities below one half, and as many above
	farOctaves = 64       // further octaves towards 0 and 1, for pure leaves and rare classes
	finest     = 8        // binary logarithm of the greatest number of intervals in an octave
	coarsest   = 2        // binary logarithm of the least number
	coarser    = 4        // binary logarithm of the ratio of intervals in an octave and in a far octave
	countBytes = 16 << 20 // most bytes of the counts of a tree, if the coarsest intervals allow
	listBytes  = 16 << 20 // most bytes of the entries of the trees that are evaluated together
)

// newIntervals returns the finest intervals with which this many lists of counts take at most
// countBytes. There is a list for each class.
func newIntervals(lists int) intervals {
	fineness := finest
	for fineness > coarsest && lists*intervals(fineness).number()*16 > countBytes {
		fineness--
	}
	return intervals(fineness)
}

// intervals divides the probabilities. Intervals in [2^-(k+1), 2^-k) are equally long, and so are
// the intervals of their complements. An octave has 2 to the power of n intervals, a far octave
// fewer.
type intervals int

// far is the binary logarithm of the number of intervals in a far octave.
func (n intervals) far() int { return max(0, int(n)-coarser) }

// number returns how many intervals there are.
func (n intervals) number() int { return 2 * (octaves<<n + farOctaves<<n.far()) }

// of returns the index of the interval of a probability.
func (n intervals) of(p float64) int {
	if p > 0.5 {
		return n.number() - 1 - n.of(1-p)
	}
	const one = 1023 // the exponent of 1, see math.Float64bits
	binary := int(math.Float64bits(p + p))
	below := one<<n - binary>>(52-n) // intervals between p and one half
	if below > octaves<<n {
		below = octaves<<n + (one-octaves)<<n.far() - binary>>(52-n.far())
	}
	return max(0, n.number()/2-1-below)
}

// counts holds weights by class and interval.
type counts struct {
	weights []int64  // the weight of the class, then of its complement
	set     []uint64 // bits of the classes and intervals that may have weights
}

// newCounts returns counts of 0.
func (e *evaluation) newCounts() *counts {
	if c, _ := e.sums.Get().(*counts); c != nil {
		return c
	}
	n := (e.classes - e.first) * e.intervals.number()
	return &counts{make([]int64, 2*n), make([]uint64, n/64)} // an octave of intervals has a multiple of 64
}

// add adds entries, times sign.
func (c *counts) add(entries []entry, sign int64) {
	for _, one := range entries {
		c.weights[2*one.at] += sign * one.own
		c.weights[2*one.at+1] += sign * one.rest
		c.set[one.at/64] |= 1 << (one.at % 64)
	}
}

// addAll adds the entries of all leaves of a tree.
func (c *counts) addAll(t *tally) {
	for _, entries := range t.entries {
		c.add(entries, 1)
	}
}

// score returns the score of a tree. start has further counts; nil: none.
func (e *evaluation) score(at int, start *counts) metric.Judgement {
	var s metric.Judgement
	if e.weight == 0 {
		return s
	}
	t := &e.tallies[at]
	all := verdicts{}
	for leaf := range t.losses {
		all.add(verdicts{t.losses[leaf], t.hits[leaf], t.mistakes[leaf]})
	}
	loss := all.loss / float64(e.weight)
	accuracy := float64(all.hits) / float64(e.weight)
	s.LogLoss = &loss
	s.Accuracy = &accuracy
	if e.trees[at].Label.ErrorCosts != nil {
		mistakes := all.mistakes / float64(e.weight)
		s.ErrorCost = &mistakes
	}
	c := e.newCounts()
	defer e.sums.Put(c)
	c.addAll(t)
	if start != nil {
		for i, w := range start.weights {
			c.weights[i] += w
		}
		for i, set := range start.set {
			c.set[i] |= set
		}
	}
	sum := 0.0
	n := 0
	words := e.intervals.number() / 64
	for k := range e.classes - e.first {
		var twice metric.Pairs
		own := uint64(0)
		rest := uint64(0)
		for word := k * words; word < (k+1)*words; word++ {
			for set := c.set[word]; set != 0; set &= set - 1 {
				w := c.weights[2*(64*word+bits.TrailingZeros64(set)):][:2]
				twice.Add(uint64(w[0]), 2*rest+uint64(w[1]))
				own += uint64(w[0])
				rest += uint64(w[1])
				clear(w)
			}
			c.set[word] = 0
		}
		if area := twice.Share(own, rest); area != nil {
			sum += *area
			n++
		}
	}
	if n > 0 {
		mean := sum / float64(n)
		s.AUC = &mean
	}
	return s
}
