package metric

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// PairedRows holds the rows that have the same pair of predictions by two trees. The weights and
// rows of both leaves are equal, and their classes are in the same order.
type PairedRows struct {
	A, B    Leaf
	ByClass []int64 // number of rows by true class
	Bucket  uint8   // see tree.GroupCounts
}

// PairRows returns the rows counted by two trees. Without labels all rows have class 0, and the
// probabilities have no meaning.
func PairRows(a, b *tree.Tree, rows []comparison.Rows) []PairedRows {
	pathsA := newPaths(a)
	pathsB := newPaths(b)
	list := make([]PairedRows, len(rows))
	for i := range rows {
		r := &rows[i]
		list[i] = PairedRows{pathsA.predicted(&r.A, r), pathsB.predicted(&r.B, r), r.ByClass, r.Bucket}
	}
	return list
}

// predicted returns the leaf that stands for a prediction.
func (p *paths) predicted(one *comparison.Prediction, r *comparison.Rows) Leaf {
	return Leaf{
		Probabilities: one.Probabilities, Class: one.Known, Weights: r.Weights, Rows: r.Rows,
		Cost: p.costs[one.Leaf], Tests: p.tests[one.Leaf],
	}
}

// Paired holds the metrics of two trees on the same rows, with their differences. For rows without
// labels only the costs are set. Undefined values are nil.
type Paired struct {
	Rows   int64 `json:"rows" jsonschema:"minimum=0"`
	Weight int64 `json:"weight" jsonschema:"minimum=0"` // fixed point, in units of 1/WeightScale, like all weights here
	// WeightScale is the number of units in the average weight of a training row; absent: 1.
	WeightScale float64 `json:"weight_scale,omitempty" jsonschema:"exclusiveMinimum=0"`

	AUCOvRMacro      *Difference `json:"auc_ovr_macro,omitempty"`
	Accuracy         *Difference `json:"accuracy,omitempty"`
	BalancedAccuracy *Difference `json:"balanced_accuracy,omitempty"`
	LogLoss          *Difference `json:"log_loss,omitempty"`
	Brier            *Difference `json:"brier,omitempty"`

	ExpectedCost      *Difference `json:"expected_cost"` // billed costs, as in metrics.json
	ExpectedTests     *Difference `json:"expected_tests"`
	ExpectedErrorCost *Difference `json:"expected_error_cost,omitempty"`
}

// Difference is a metric of two trees, and the value of B less the value of A. The interval
// is Student's: 1.96 standard errors to either side, or more for few rows or groups. It is nil if there are too few rows.
type Difference struct {
	A          float64   `json:"a"`
	B          float64   `json:"b"`
	Difference float64   `json:"difference"`
	Interval   *Interval `json:"interval" jsonschema:"nullable"` // 95 % confidence interval of the difference on these rows
}

// Quality is a metric of predictions in a Paired.
type Quality struct {
	Name  string // name in JSON
	Title string // name in tables
	Lossy bool   // whether lower values are better
	*Difference
}

// Qualities lists the metrics of the predictions; Difference is nil if a metric is undefined.
func (m *Paired) Qualities() []Quality {
	return []Quality{
		{"auc_ovr_macro", "AUC", false, m.AUCOvRMacro},
		{"accuracy", "accuracy", false, m.Accuracy},
		{"balanced_accuracy", "balanced accuracy", false, m.BalancedAccuracy},
		{"log_loss", "log loss", true, m.LogLoss},
		{"brier", "Brier score", true, m.Brier},
		{"expected_error_cost", "error cost", true, m.ExpectedErrorCost},
	}
}

// Compare returns the metrics of two trees on the same rows. Each row gives a difference, and the
// variance of these differences gives the standard error of the metric's difference. Errors that
// both trees make on the same rows thus cancel.
//
//   - Means over rows (accuracy, log loss, Brier score, costs): the sample variance of the rows'
//     differences, divided by the number of rows.
//   - Balanced accuracy: the same by class, as a mean of recalls.
//   - AUC: DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), for two correlated curves. A row moves
//     each area as described for Area. Variances and covariance of the areas follow from these moves, so the
//     differences of the moves give the variance of the difference of the areas.
//
// If both trees predict the same for each row, all differences are 0, and the intervals have no
// width. A class with fewer than two rows has no variance; then there is no interval, unless its
// rows have no differences. classes is the number of classes, or 0 if the rows have no labels.
// errorCosts holds the costs of predictions by actual, then by predicted class; nil if absent.
// Weights and scale are as in Evaluate. Rows of different weights have different buckets, and count as
// described in the package comment. If keyed is true, rows with the same key have the same bucket, and
// standard errors follow from leaving out each bucket, as for single trees. Sums run over the pairs in
// the given order. Compare panics if a pair does not have one weight for each class.
func Compare(pairs []PairedRows, classes int, scale float64, errorCosts [][]float64, keyed bool) *Paired {
	m := compare(pairs, classes, errorCosts)
	if scale != 1 {
		m.WeightScale = scale
	}
	if keyed && m.Weight > 0 {
		m.jackknife(pairs, classes, errorCosts)
	}
	return m
}

// compare is Compare for rows without keys.
func compare(pairs []PairedRows, classes int, errorCosts [][]float64) *Paired {
	p := newPairing(pairs, max(1, classes))
	m := &Paired{Rows: p.rows, Weight: p.weight}
	if p.weight == 0 {
		return m
	}
	of := func(value func(l *Leaf) float64) *Difference {
		return p.mean(func(l *Leaf, _ int) float64 { return value(l) })
	}
	m.ExpectedCost = of(func(l *Leaf) float64 { return l.Cost })
	m.ExpectedTests = of(func(l *Leaf) float64 { return float64(l.Tests) })
	if classes == 0 {
		return m
	}
	hit := func(l *Leaf, class int) float64 {
		if l.Class == class {
			return 1
		}
		return 0
	}
	m.Accuracy, m.BalancedAccuracy = p.mean(hit), p.meanByClass(hit)
	m.LogLoss = p.mean(func(l *Leaf, class int) float64 { return Surprise(l.Probabilities[class]) })
	m.Brier = p.mean((*Leaf).brier)
	if errorCosts != nil {
		m.ExpectedErrorCost = p.mean(func(l *Leaf, class int) float64 { return errorCosts[class][l.Class] })
	}
	m.AUCOvRMacro = p.areas()
	return m
}

// differences lists the differences; an entry is nil if it is not defined.
func (m *Paired) differences() []*Difference {
	list := []*Difference{m.ExpectedCost, m.ExpectedTests}
	for _, q := range m.Qualities() {
		list = append(list, q.Difference)
	}
	return list
}

// mostPaired bounds the pairs of predictions, times the buckets, that a jackknife of differences goes through. If there
// are more, buckets are merged.
const mostPaired = 1 << 24

// jackknife replaces the intervals by intervals for rows in groups. An interval becomes nil if its difference is not
// defined without one of the buckets.
func (m *Paired) jackknife(pairs []PairedRows, classes int, errorCosts [][]float64) {
	buckets := dataset.Buckets
	for len(pairs)*buckets > mostPaired && buckets > dataset.Buckets/4 {
		buckets /= 2
	}
	var counted weightedBuckets
	own := make([]int64, buckets)
	for i := range pairs {
		for _, w := range pairs[i].A.Weights {
			own[int(pairs[i].Bucket)%buckets] += w
		}
	}
	for _, w := range own {
		counted.add(w)
	}
	without := make([]*Paired, buckets)
	parallel.Each(buckets, runtime.GOMAXPROCS(0), func(bucket int) {
		if own[bucket] > 0 {
			rest := slices.DeleteFunc(slices.Clone(pairs), func(r PairedRows) bool { return int(r.Bucket)%buckets == bucket })
			without[bucket] = compare(rest, classes, errorCosts)
		}
	})
	for at, d := range m.differences() {
		if d == nil {
			continue
		}
		sum := 0.0
		for _, w := range without {
			if w == nil {
				continue
			}
			if w.Weight == 0 || w.differences()[at] == nil {
				sum = math.NaN()
				break
			}
			change := w.differences()[at].Difference - d.Difference
			sum += float64(change * change)
		}
		if d.Interval = nil; counted.n > 1 && !math.IsNaN(sum) {
			d.Interval = aroundInterval(d.Difference, counted.variance(sum), student(counted.effective()-1))
		}
	}
}

// pairing holds the rows of two trees.
type pairing struct {
	pairs  []PairedRows
	rows   int64
	weight int64
	class  []int64 // weight by class
	// weighted is whether rows have other weights than 1.
	weighted bool
}

func newPairing(pairs []PairedRows, classes int) *pairing {
	p := &pairing{pairs: pairs, class: make([]int64, classes)}
	for i := range pairs {
		for _, l := range []*Leaf{&pairs[i].A, &pairs[i].B} {
			if len(l.Weights) != classes {
				panic(fmt.Sprintf("metric: rows with %d weights for %d classes", len(l.Weights), classes))
			}
		}
		p.rows += pairs[i].A.Rows
		for k, w := range pairs[i].A.Weights {
			p.class[k] += w
			p.weight += w
			p.weighted = p.weighted || w != pairs[i].ByClass[k]
		}
	}
	return p
}

// moments are sums over rows of a value for each tree, and of the difference of the values.
type moments struct {
	weight, a, b, center float64 // weight of the rows, and means of the values and of their difference
	square               float64 // mean square of the deviations of the difference from its mean
	rows                 float64 // effective number of rows
	alike                bool    // whether no row has a difference
}

// moments returns the moments of a value over the rows of classes [from, to).
func (p *pairing) moments(from, to int, value func(i, class int) (a, b float64)) moments {
	m := moments{alike: true}
	p.each(from, to, func(i, class int, w, _ float64) {
		a, b := value(i, class)
		m.weight += w
		m.a += float64(w * a)
		m.b += float64(w * b)
		m.center += float64(w * (b - a))
		m.alike = m.alike && a == b
	})
	m.a /= m.weight
	m.b /= m.weight
	m.center /= m.weight
	around := spread{weighted: p.weighted}
	rows := 0.0
	p.each(from, to, func(i, class int, w, n float64) {
		a, b := value(i, class)
		around.add(w, float64(w*w)/n, b-a-m.center)
		rows += n
	})
	if m.rows = rows; p.weighted {
		m.rows = float64(m.weight*m.weight) / around.squares
	}
	m.square = around.square(m.rows)
	return m
}

// each visits the rows of classes [from, to), with their weight and number.
func (p *pairing) each(from, to int, visit func(i, class int, w, n float64)) {
	for i := range p.pairs {
		for k := from; k < to; k++ {
			if w := p.pairs[i].A.Weights[k]; w > 0 {
				visit(i, k, float64(w), float64(p.pairs[i].ByClass[k]))
			}
		}
	}
}

// variance returns the variance of the mean difference over the rows; false if it is not defined.
func (m *moments) variance() (float64, bool) {
	if m.alike {
		return 0, true
	}
	return m.square / (m.rows - 1), m.rows >= 2
}

// difference returns a metric with the interval of its difference. rows is the effective number of the rows, or of the rows
// of the smallest class.
func difference(a, b, center, variance, rows float64, defined bool) *Difference {
	d := &Difference{A: a, B: b, Difference: center}
	if defined {
		d.Interval = aroundInterval(center, variance, student(rows-1))
	}
	return d
}

// mean returns the difference of a mean over rows.
func (p *pairing) mean(value func(l *Leaf, class int) float64) *Difference {
	m := p.moments(0, len(p.class), func(i, class int) (a, b float64) {
		return value(&p.pairs[i].A, class), value(&p.pairs[i].B, class)
	})
	variance, defined := m.variance()
	return difference(m.a, m.b, m.center, variance, m.rows, defined)
}

// meanByClass returns the difference of a mean over the classes with rows.
func (p *pairing) meanByClass(value func(l *Leaf, class int) float64) *Difference {
	var a, b, center, variance, classes float64
	all := true
	least := math.Inf(1)
	for k, weight := range p.class {
		if weight == 0 {
			continue
		}
		m := p.moments(k, k+1, func(i, class int) (a, b float64) {
			return value(&p.pairs[i].A, class), value(&p.pairs[i].B, class)
		})
		one, defined := m.variance()
		all = all && defined
		least = min(least, m.rows)
		a += m.a
		b += m.b
		center += m.center
		variance += one
		classes++
	}
	return difference(a/classes, b/classes, center/classes, variance/classes/classes, least, all)
}

// areas returns the difference of the mean area under the ROC curves; nil if the rows do not define
// it.
func (p *pairing) areas() *Difference {
	classes := len(p.class)
	sides := [2]*projection{}
	var means [2]*float64
	for side := range sides {
		leaves := make([]Leaf, len(p.pairs))
		for i := range p.pairs {
			leaves[i] = p.pairs[i].A
			if side == 1 {
				leaves[i] = p.pairs[i].B
			}
		}
		sides[side], means[side] = projected(leaves, classes)
	}
	if means[0] == nil || means[1] == nil {
		return nil
	}
	variance := 0.0
	all := true
	least := math.Inf(1)
	a, b := make([]float64, len(p.pairs)), make([]float64, len(p.pairs))
	for k, weight := range p.class {
		if weight == 0 {
			continue
		}
		sides[0].moves(k, a)
		sides[1].moves(k, b)
		m := p.moments(k, k+1, func(i, _ int) (float64, float64) { return a[i], b[i] })
		least = min(least, m.rows)
		one, defined := m.variance() // variance of the mean move
		variance += float64(float64(float64(weight)*float64(weight)) * one)
		all = all && defined
	}
	return difference(*means[0], *means[1], *means[1]-*means[0], variance, least, all)
}

// projected returns by how much rows move the mean area of leaves, and the mean area.
func projected(leaves []Leaf, classes int) (*projection, *float64) {
	t := newTable(leaves, classes)
	p := newProjection(t, newSample(t))
	var areas []float64
	t.each(firstRanked(classes), func(r *ranking) {
		if auc := r.area(); auc != nil {
			areas = append(areas, *auc)
			p.add(r)
		}
	})
	return p, mean(areas)
}

// moves sets to[i] to the move of the mean area by a row of the class at leaf i, in the given
// order.
func (p *projection) moves(class int, to []float64) {
	first := p.first(class)
	for i, m := range p.of(class) {
		to[p.order[m.leaf]] = p.at(first+i, m)
	}
}
