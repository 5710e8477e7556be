package leafmodel

import (
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Score is the quality of a tree on some objects.
type Score struct {
	// AUC is the area under the ROC curve, of one class against the rest, averaged over the
	// classes, within some 1e-5: the probabilities are counted in small intervals, larger ones for hundreds
	// of classes. It is nil
	// if the objects do not define it.
	AUC     *float64
	LogLoss *float64 // in nats; nil without objects
}

// Gain returns by how much a score is better than another one: the area higher, the log loss
// lower. A gain is nil if one of the scores is.
func (s *Score) Gain(over *Score) (auc, logLoss *float64) {
	if s.AUC != nil && over.AUC != nil {
		gain := *s.AUC - *over.AUC
		auc = &gain
	}
	if s.LogLoss != nil && over.LogLoss != nil {
		gain := *over.LogLoss - *s.LogLoss
		logLoss = &gain
	}
	return auc, logLoss
}

// Evaluate scores trees on objects by their codes. models are those of Fit; nil: the leaves
// have their plain probabilities. Priors count as in the trees.
func Evaluate(objects *dataset.Objects, features []dataset.Feature, trees []*tree.Tree, models [][]*Model) []Score {
	e := &evaluation{walk: walk{objects, features, trees}, models: models, classes: objects.Classes}
	if e.classes == 2 {
		e.first = 1
	}
	e.intervals = newIntervals(len(trees) * (e.classes - e.first))
	e.counts = make([][]int64, len(trees))
	for i := range e.counts {
		e.counts[i] = make([]int64, (e.classes-e.first)*e.intervals.number()*2)
	}
	e.losses = make([]float64, len(trees))
	for i := range objects.Len() {
		for _, w := range objects.Labels(i) {
			e.weight += w.Weight
		}
	}
	e.visit(e.roots())
	scores := make([]Score, len(trees))
	for i := range scores {
		scores[i] = e.score(i)
	}
	return scores
}

// evaluation counts the objects of each tree by their probabilities.
type evaluation struct {
	walk

	models    [][]*Model
	classes   int
	intervals intervals
	first     int       // class whose area counts first: of two classes, the second's alone
	weight    int64     // of all objects
	counts    [][]int64 // by tree: by class and interval: the weight of the class, and of the rest
	losses    []float64 // by tree
}

// visit sends objects to the leaves below a node.
func (e *evaluation) visit(members []member, ids []int32) {
	if len(ids) == 0 {
		return
	}
	inner, leaves := e.sortMembers(members)
	for len(leaves) > 0 {
		var alike, others []member
		for _, l := range leaves {
			if e.model(l) == e.model(leaves[0]) && (e.model(l) != nil || e.alikeEstimates(l, leaves[0])) {
				alike = append(alike, l)
			} else {
				others = append(others, l)
			}
		}
		e.count(alike, ids)
		leaves = others
	}
	for _, alike := range inner {
		e.children(alike, ids, e.visit)
	}
}

// model returns the model of a leaf.
func (e *evaluation) model(m member) *Model {
	if e.models == nil {
		return nil
	}
	return e.models[m.tree][m.node]
}

// alikeEstimates reports whether two leaves have the same probabilities.
func (e *evaluation) alikeEstimates(a, b member) bool {
	p, q := e.node(a).Probabilities, e.node(b).Probabilities
	for k := range p {
		if p[k] != q[k] {
			return false
		}
	}
	return true
}

// count counts the objects of a leaf of several trees.
func (e *evaluation) count(leaves []member, ids []int32) {
	m, adapt := e.model(leaves[0]), e.trees[leaves[0].tree].Adapter()
	p := append([]float64(nil), e.node(leaves[0]).Probabilities...)
	loss := 0.0
	for _, id := range ids {
		if m != nil {
			m.Probabilities(e.objects, int(id), p)
			adapt(p)
		}
		raw := e.objects.Labels(int(id))
		total := int64(0)
		for _, w := range raw {
			total += w.Weight
			loss -= float64(float64(w.Weight) * portable.Log(max(leastProbability, min(p[w.Class], 1-leastProbability))))
		}
		for k := e.first; k < e.classes; k++ {
			own := int64(0)
			for _, w := range raw {
				if int(w.Class) == k {
					own = w.Weight
				}
			}
			at := ((k-e.first)*e.intervals.number() + e.intervals.of(p[k])) * 2
			for _, l := range leaves {
				e.counts[l.tree][at] += own
				e.counts[l.tree][at+1] += total - own
			}
		}
	}
	for _, l := range leaves {
		e.losses[l.tree] += loss
	}
}

// leastProbability clips the probabilities of log losses, as package metric does.
const leastProbability = 1e-15

const (
	octaves    = 16        // of probabilities below one half, and of those above
	finest     = 9         // binary logarithm of the most intervals of an octave
	coarsest   = 2         // binary logarithm of the fewest
	countBytes = 128 << 20 // that the counts of all trees take, if the coarsest intervals allow
)

// newIntervals returns the finest intervals of which counts for a number of classes and trees
// take at most countBytes.
func newIntervals(lists int) intervals {
	fineness := finest
	for fineness > coarsest && lists*intervals(fineness).number()*16 > countBytes {
		fineness--
	}
	return intervals(fineness)
}

// intervals cut the probabilities. Those from 2^-k-1 to 2^-k are equally long, and so are
// their complements. Their number in an octave is 2 to this power.
type intervals int

// number returns the number of intervals.
func (n intervals) number() int { return 2 * octaves << n }

// of returns the number of the interval of a probability.
func (n intervals) of(p float64) int {
	if p > 0.5 {
		return n.number() - 1 - n.of(1-p)
	}
	one := 1023 << n // the exponent of 1, see math.Float64bits
	return max(0, n.number()/2-1-(one-int(math.Float64bits(p+p)>>(52-n))))
}

// score returns the score of a tree.
func (e *evaluation) score(at int) Score {
	var s Score
	if e.weight == 0 {
		return s
	}
	loss := e.losses[at] / float64(e.weight)
	s.LogLoss = &loss
	sum, n := 0.0, 0
	for k := e.first; k < e.classes; k++ {
		var twice metric.Pairs
		own, rest := uint64(0), uint64(0)
		counts := e.counts[at][(k-e.first)*e.intervals.number()*2:][:e.intervals.number()*2]
		for i := 0; i < len(counts); i += 2 {
			if counts[i] == 0 && counts[i+1] == 0 {
				continue
			}
			twice.Add(uint64(counts[i]), 2*rest+uint64(counts[i+1]))
			own, rest = own+uint64(counts[i]), rest+uint64(counts[i+1])
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
