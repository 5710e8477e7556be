package metric

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/portable"
)

// Leaf is a leaf of a tree with the rows that are evaluated and end in it.
type Leaf struct {
	Probabilities []float64 // of each class; sum 1
	Class         int       // the class predicted
	Weights       []int64   // of the rows by their true class; fixed point, see Evaluate
	Rows          int64     // the rows themselves, unweighted; without them there are no intervals
	Cost          float64   // of the tests on the way to the leaf, each at its full price
	Billed        float64   // what is paid for them in fact: groups once, repeats as they are charged
	Tests         int       // asked on the way
}

// Metrics is what metrics.json holds of one part of the rows. All values but
// Rows weigh rows by their weights. What the rows do not define is nil, and null
// in JSON: everything without rows, the area of a class that no row or every row
// is of, the recall of a class without rows, the precision of a class that is
// never predicted.
type Metrics struct {
	Rows        int64 `json:"rows"`
	Weight      int64 `json:"weight"`                 // fixed point, in units of 1/WeightScale, as all weights here
	WeightScale int64 `json:"weight_scale,omitempty"` // absent: 1

	// AUCOvRMacro is the area under the ROC curve of one class against the
	// rest, averaged over the classes that have one. With two classes it is that
	// of the second.
	AUCOvRMacro *float64 `json:"auc_ovr_macro"`
	// AUCOvOMacro is the M of Hand and Till, Machine Learning 45 (2001): for
	// each two classes the area by the probability of either, averaged over the
	// pairs of classes with rows. With two classes it is AUCOvRMacro.
	AUCOvOMacro      *float64 `json:"auc_ovo_macro"`
	Accuracy         *float64 `json:"accuracy"`
	BalancedAccuracy *float64 `json:"balanced_accuracy"` // mean recall of the classes with rows
	// LogLoss is the mean of -ln of the true class's probability, which is
	// clipped to [1e-15, 1 - 1e-15].
	LogLoss *float64 `json:"log_loss"`
	// Brier is the mean of (p - y)^2 of the second class with two classes, and
	// of its sum over all classes with more.
	Brier *float64 `json:"brier"`

	Confusion [][]int64 `json:"confusion"` // weight by true class, then by predicted class
	PerClass  []Class   `json:"per_class"`

	ExpectedCost  *float64 `json:"expected_cost"`  // mean cost of the tests that a row is asked
	ExpectedTests *float64 `json:"expected_tests"` // mean number of them
	// ExpectedBilledCost is the mean of what is paid for them, see Leaf.
	ExpectedBilledCost *float64 `json:"expected_billed_cost"`
	// ExpectedErrorCost is the mean cost of the predictions, see SetErrorCosts.
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty"`

	// Weights says what rows are weighed by where parts differ in it: "rows", by
	// their own weights, or "class_weights", by those times their class's.
	Weights string `json:"weights,omitempty"`

	Intervals   *Intervals   `json:"intervals"`   // nil: no rows
	Calibration *Calibration `json:"calibration"` // nil: no rows
}

// Class is what Metrics holds of one class.
type Class struct {
	Class     string   `json:"class"`
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"` // 2 TP / (2 TP + FP + FN)
	AUC       *float64 `json:"auc"`
	Support   int64    `json:"support"` // weight of the rows of the class

	Prevalence  *float64 `json:"prevalence"`  // share of the weight that is the class's
	Specificity *float64 `json:"specificity"` // share of other rows that are not predicted to be of the class
	// AveragePrecision is the area below the curve of precision over recall, in
	// steps, of rows by their probability of the class.
	AveragePrecision *float64 `json:"average_precision"`
	Brier            *float64 `json:"brier"` // mean of (p - y)^2 of this class alone
	// Gains are the shares of the class's rows that are found among the likeliest
	// 1/Shares, 2/Shares, .. of all rows; Lift is their ratio to the shares of
	// rows picked at random. Rows that tie are taken evenly.
	Gains []float64 `json:"gains"`
	Lift  []float64 `json:"lift"`
}

// Evaluate returns the metrics of a tree from its leaves, in any order. classes
// are the names of the classes, at least one; scale is the number of fixed-point
// units in a weight of 1, which nothing but WeightScale depends on. It panics
// when a leaf has not one probability and weight a class, or predicts no class:
// trees are checked when they are read. All weights together are at most 2^60.
//
// It takes O(classes^2 * leaves + classes * leaves * log(leaves)).
func Evaluate(leaves []Leaf, classes []string, scale int64) Metrics {
	m := Metrics{PerClass: make([]Class, len(classes))}
	if scale > 1 {
		m.WeightScale = scale
	}
	for i := range leaves {
		leaves[i].mustFit(len(classes))
		m.Rows += leaves[i].Rows
	}
	m.Confusion = confusion(leaves, len(classes))
	for c, name := range classes {
		m.PerClass[c].Class = name
		for _, w := range m.Confusion[c] {
			m.PerClass[c].Support += w
		}
		m.Weight += m.PerClass[c].Support
	}
	m.fillHits()
	totals := weightsOf(leaves)
	rankings := rankAll(leaves, totals, 0, len(classes))
	m.fillAreas(leaves, rankings)
	m.fillRanks(rankings)
	if m.Weight > 0 {
		m.fillMeans(leaves, rankings, newSample(leaves, totals))
	}
	return m
}

// SetErrorCosts fills in the expected cost of the predictions. costs[actual] has
// the cost of each class that may be predicted for a row of the actual one.
func (m *Metrics) SetErrorCosts(costs [][]float64) {
	if m.Weight == 0 {
		return
	}
	sum := 0.0
	for actual, row := range m.Confusion {
		for predicted, w := range row {
			sum += float64(float64(w) * costs[actual][predicted])
		}
	}
	m.ExpectedErrorCost = defined(sum / float64(m.Weight))
}

func (l *Leaf) mustFit(classes int) {
	if len(l.Probabilities) != classes || len(l.Weights) != classes || l.Class < 0 || l.Class >= classes {
		panic(fmt.Sprintf("metric: leaf with %d probabilities, %d weights and predicted class %d for %d classes",
			len(l.Probabilities), len(l.Weights), l.Class, classes))
	}
}

func confusion(leaves []Leaf, classes int) [][]int64 {
	table := make([][]int64, classes)
	for c := range table {
		table[c] = make([]int64, classes)
	}
	for i := range leaves {
		for c, w := range leaves[i].Weights {
			table[c][leaves[i].Class] += w
		}
	}
	return table
}

// fillHits computes what follows from the confusion.
func (m *Metrics) fillHits() {
	var hits int64
	var recalls []float64
	for c := range m.PerClass {
		class := &m.PerClass[c]
		hit, predicted := m.Confusion[c][c], int64(0)
		for _, row := range m.Confusion {
			predicted += row[c]
		}
		hits += hit
		class.Precision = ratio(hit, predicted)
		class.Recall = ratio(hit, class.Support)
		class.Prevalence = ratio(class.Support, m.Weight)
		others := m.Weight - class.Support
		class.Specificity = ratio(others-(predicted-hit), others)
		if both := float64(class.Support) + float64(predicted); both > 0 {
			class.F1 = defined(2 * float64(hit) / both)
		}
		if class.Recall != nil {
			recalls = append(recalls, *class.Recall)
		}
	}
	m.Accuracy = ratio(hits, m.Weight)
	m.BalancedAccuracy = mean(recalls)
}

// fillRanks computes what follows from the rankings, beside areas.
func (m *Metrics) fillRanks(rankings []ranking) {
	for c := range rankings {
		class := &m.PerClass[c]
		class.AveragePrecision, class.Gains = rankings[c].averagePrecision(), rankings[c].gains()
		for i, gain := range class.Gains {
			class.Lift = append(class.Lift, gain*Shares/float64(i+1))
		}
	}
}

// fillMeans computes the means over rows, of which there must be some, and all
// that is uncertain about them.
func (m *Metrics) fillMeans(leaves []Leaf, rankings []ranking, s *sample) {
	order := canonical(leaves)
	m.fillScores(leaves, order)
	m.fillCalibration(leaves, order)
	m.Intervals = &Intervals{}
	for _, x := range []struct {
		of       func(*Leaf) float64
		mean     **float64
		interval **Interval
	}{
		{func(l *Leaf) float64 { return l.Cost }, &m.ExpectedCost, &m.Intervals.ExpectedCost},
		{func(l *Leaf) float64 { return float64(l.Tests) }, &m.ExpectedTests, &m.Intervals.ExpectedTests},
		{func(l *Leaf) float64 { return l.Billed }, &m.ExpectedBilledCost, &m.Intervals.ExpectedBilledCost},
	} {
		center, square := moments(leaves, order, x.of)
		*x.mean, *x.interval = defined(center), meanInterval(center, square, s.rows)
	}
	if s.rows == 0 {
		return
	}
	m.fillShareIntervals(s)
	if e := area(leaves, rankings[firstRanked(len(rankings)):], order, s); e != nil {
		m.Intervals.AUCOvRMacro = &e.Interval
	}
}

// moments returns the mean over rows of a value that leaves have, and the mean
// square of the deviations from it.
func moments(leaves []Leaf, order []int, of func(*Leaf) float64) (center, square float64) {
	sum, total := 0.0, 0.0
	for _, i := range order {
		w := float64(leaves[i].weight())
		sum += float64(w * of(&leaves[i]))
		total += w
	}
	center = sum / total
	for _, i := range order {
		d := of(&leaves[i]) - center
		square += float64(float64(leaves[i].weight()) * float64(d*d))
	}
	return center, square / total
}

// fillScores computes the log loss and Brier scores.
func (m *Metrics) fillScores(leaves []Leaf, order []int) {
	var loss, brier float64
	perClass := make([]float64, len(m.PerClass))
	for _, i := range order {
		l := &leaves[i]
		weight := l.weight()
		for c, w := range l.Weights {
			p := l.Probabilities[c]
			perClass[c] += float64(float64(w)*float64((1-p)*(1-p))) + float64(float64(weight-w)*float64(p*p))
			if w > 0 {
				loss += float64(float64(w) * Surprise(p))
				brier += float64(float64(w) * l.brier(c))
			}
		}
	}
	total := float64(m.Weight)
	m.LogLoss, m.Brier = defined(loss/total), defined(brier/total)
	for c := range perClass {
		m.PerClass[c].Brier = defined(perClass[c] / total)
	}
}

// weight returns the weight of the leaf's rows.
func (l *Leaf) weight() int64 {
	var sum int64
	for _, w := range l.Weights {
		sum += w
	}
	return sum
}

// Surprise returns the log loss, in nats, of a row whose true class had
// probability p, which is clipped to [1e-15, 1 - 1e-15].
func Surprise(p float64) float64 {
	const least = 1e-15
	return -portable.Log(min(max(p, least), 1-least))
}

// brier returns the Brier score of a row of the leaf that is of the given class.
func (l *Leaf) brier(class int) float64 {
	var sum float64
	for c, p := range l.Probabilities {
		if c == class {
			p = 1 - p
		}
		if len(l.Probabilities) == 2 && c == 0 {
			continue
		}
		sum += float64(p * p)
	}
	return sum
}

// canonical returns the positions of the leaves in an order of their contents.
func canonical(leaves []Leaf) []int {
	order := make([]int, len(leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &leaves[i], &leaves[j]
		return cmp.Or(
			slices.Compare(a.Probabilities, b.Probabilities),
			slices.Compare(a.Weights, b.Weights),
			cmp.Compare(a.Cost, b.Cost),
			cmp.Compare(a.Billed, b.Billed),
			cmp.Compare(a.Tests, b.Tests),
		)
	})
	return order
}

func defined(x float64) *float64 { return &x }

// ratio returns a/b, undefined for b = 0.
func ratio(a, b int64) *float64 {
	if b == 0 {
		return nil
	}
	return defined(float64(a) / float64(b))
}

// mean returns the mean, undefined of nothing.
func mean(list []float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	var sum float64
	for _, x := range list {
		sum += x
	}
	return defined(sum / float64(len(list)))
}
