package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Leaf is a leaf of a tree with the rows that reach it.
type Leaf struct {
	Probabilities []float64 // by class; sum 1
	Class         int       // predicted class
	Weights       []int64   // weight of the rows by true class; fixed point, see Evaluate
	Rows          int64     // number of rows; there are no intervals if it is 0
	Cost          float64   // billed cost of the tests: groups are billed once, free repeats at 0
	Tests         int       // number of tests on the path

	Further *dataset.FurtherCosts // billed costs of the tests in further currencies, as MaxCost; nil: no further currencies

	// Squares is, by true class, the sum of the squared weights of the rows; nil if all rows have the same weight.
	Squares []float64
}

// Metrics holds the metrics of one part of the rows, as in metrics.json. All values except Rows are
// weighted. Undefined values are nil, and null in JSON: all values without rows, the area of a
// class with no rows or with all rows, the recall of a class without rows, the precision of a class
// that is never predicted.
type Metrics struct {
	Rows   int64 `json:"rows" jsonschema:"minimum=0"`
	Weight int64 `json:"weight" jsonschema:"minimum=0"` // fixed point, in units of 1/WeightScale, like all weights here
	// WeightScale is the number of units in the average weight of a training row; absent: 1.
	WeightScale float64 `json:"weight_scale,omitempty" jsonschema:"exclusiveMinimum=0"`

	// AUCOvRMacro is the area under the ROC curve, averaged over the classes with an area, each
	// against its complement. For two classes it is the area of the second class.
	AUCOvRMacro *float64 `json:"auc_ovr_macro" jsonschema:"nullable"`
	// AUCOvOMacro is the M of Hand and Till, Machine Learning 45 (2001): for each pair of classes
	// the mean of the areas ranked by the probability of either class, averaged over the pairs of
	// classes with rows. For two classes it is AUCOvRMacro.
	AUCOvOMacro      *float64 `json:"auc_ovo_macro" jsonschema:"nullable"`
	Accuracy         *float64 `json:"accuracy" jsonschema:"nullable"`
	BalancedAccuracy *float64 `json:"balanced_accuracy" jsonschema:"nullable"` // mean recall of the classes with rows
	// LogLoss is the mean of -ln(p), where p is the probability of the true class, clipped to
	// [1e-15, 1 - 1e-15].
	LogLoss *float64 `json:"log_loss" jsonschema:"nullable"`
	// LogLossSkill is 1 - LogLoss / the log loss of the class frequencies among the rows: 1 is perfect, and 0 is no
	// better than predicting these frequencies for every row (d2_log_loss_score of scikit-learn); absent if all rows
	// have the same class.
	LogLossSkill *float64 `json:"log_loss_skill,omitempty" jsonschema:"maximum=1"`
	// Brier is the mean over rows of (p - y)^2: for the second of two classes, or summed over all
	// classes if there are more.
	Brier *float64 `json:"brier" jsonschema:"nullable"`

	Confusion [][]int64 `json:"confusion"` // weight by true class, then by predicted class
	PerClass  []Class   `json:"per_class"`

	// ExpectedCost is the mean billed cost of the tests: groups once, repeats as they are charged. In version 0.3 and
	// before, the cost of the tests at their own prices.
	ExpectedCost  *float64 `json:"expected_cost" jsonschema:"nullable"`
	ExpectedTests *float64 `json:"expected_tests" jsonschema:"nullable"` // mean number of tests on a row's path
	// Further are the mean and the greatest billed costs of these rows in further currencies; absent: no further currencies.
	Further dataset.FurtherCosts `json:"further_costs,omitzero"`
	// ExpectedErrorCost is the mean cost of the predictions; absent without error costs.
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty"`
	// ExpectedTotalCost is the mean cost of the tests and of the predictions; absent without error costs.
	ExpectedTotalCost *float64 `json:"expected_total_cost,omitempty"`

	// Weights is what makes rows count with other weights than their own: the class frequencies that the tree predicts
	// for, by priors or by class_weights; absent: nothing. rows: their own weights, in version 0.3.
	Weights string `json:"weights,omitempty" jsonschema:"enum=priors,enum=class_weights,enum=rows"`

	// Intervals are 95 % confidence intervals, by group if the run has a key; nil without rows.
	Intervals *Intervals `json:"intervals" jsonschema:"nullable"`
	// Calibration is about the probability of the second of two classes, otherwise of the predicted class; nil
	// without rows.
	Calibration *Calibration `json:"calibration" jsonschema:"nullable"`

	// Slices are the rows that share a value of a column, by column, then by value; absent without --slice.
	Slices []Slice `json:"slices,omitempty" jsonschema:"minItems=1"`
}

// Class holds the metrics of one class.
type Class struct {
	Class     string   `json:"class"`
	Precision *float64 `json:"precision" jsonschema:"nullable,minimum=0,maximum=1"`
	Recall    *float64 `json:"recall" jsonschema:"nullable,minimum=0,maximum=1"`
	F1        *float64 `json:"f1" jsonschema:"nullable,minimum=0,maximum=1"` // 2 TP / (2 TP + FP + FN)
	AUC       *float64 `json:"auc" jsonschema:"nullable"`
	Support   int64    `json:"support" jsonschema:"minimum=0"` // weight of the rows of the class

	Prevalence *float64 `json:"prevalence" jsonschema:"nullable,minimum=0,maximum=1"` // share of the class in the weight
	// Specificity is the share of the rows of other classes that are not predicted as this class.
	Specificity *float64 `json:"specificity" jsonschema:"nullable,minimum=0,maximum=1"`
	// AveragePrecision is the area under the step curve of precision over recall, with the rows
	// ranked by their probability of the class.
	AveragePrecision *float64 `json:"average_precision" jsonschema:"nullable"`
	Brier            *float64 `json:"brier" jsonschema:"nullable"` // mean of (p - y)^2 for this class alone
	// Gains are the shares of the class's rows among the likeliest 0.1, 0.2, .. 1 of all rows; tied rows are included
	// proportionally.
	Gains []float64 `json:"gains" jsonschema:"nullable,minItems=10,maxItems=10,minimum=0,maximum=1"`
	// Lift are the gains divided by these shares of all rows.
	Lift []float64 `json:"lift" jsonschema:"nullable,minItems=10,maxItems=10,minimum=0"`
	ROC  *ROC      `json:"roc,omitempty"` // the corners of the ROC curve; absent for training rows, and if AUC is nil
}

// Evaluate returns the metrics of a tree, given its leaves in any order. classes are the names of
// the classes, at least one. scale is how many fixed-point units make a weight of 1; only
// WeightScale depends on it. All weights together must be at most 2^60. Evaluate panics if a leaf
// does not have one probability and one weight per class, or has no predicted class, because trees
// are checked when they are read.
//
// The time is O(classes * (classes + leaves * log(leaves) + members)), where members is the number
// of weights above 0.
func Evaluate(leaves []Leaf, classes []string, scale float64) Metrics {
	return evaluate(leaves, classes, scale, nil, nil)
}

// evaluate is Evaluate for rows in groups with these design effects; nil effects: rows are independent. costs are the costs
// of errors, by actual and then by predicted class; nil: none.
func evaluate(leaves []Leaf, classes []string, scale float64, e *effects, costs [][]float64) Metrics {
	m := Metrics{PerClass: make([]Class, len(classes))}
	if scale != 1 {
		m.WeightScale = scale
	}
	for i := range leaves {
		leaves[i].mustFit(len(classes))
		m.Rows += leaves[i].Rows
	}
	m.Confusion = confusion(leaves, len(classes))
	for c, name := range classes {
		m.PerClass[c].Class = name
		m.PerClass[c].Support = portable.Sum(m.Confusion[c])
		m.Weight += m.PerClass[c].Support
	}
	m.fillHits()
	t := newTable(leaves, len(classes))
	sample := newSample(t)
	p := newProjection(t, sample)
	m.fillRanked(t, p)
	m.fillEffective(sample, e)
	if m.Weight > 0 {
		m.fillMeans(t, p, sample, e)
		if costs != nil {
			m.fillErrorCosts(t, sample, e, costs)
		}
	}
	return m
}

// Area returns the area under the ROC curve with its interval; nil if either is undefined.
func (m *Metrics) Area() *Estimate {
	if m == nil || m.AUCOvRMacro == nil || m.Intervals == nil || m.Intervals.AUCOvRMacro == nil {
		return nil
	}
	return &Estimate{*m.AUCOvRMacro, *m.Intervals.AUCOvRMacro}
}

// Untested returns by class the expected error cost per row if every row is predicted as the class; nil without rows.
// costs[actual][predicted] is the cost of a prediction.
func (m *Metrics) Untested(costs [][]float64) []float64 {
	if m.Weight == 0 {
		return nil
	}
	sums := make([]float64, len(m.PerClass))
	for actual := range m.PerClass {
		for predicted, cost := range costs[actual] {
			sums[predicted] += float64(float64(m.PerClass[actual].Support) * cost)
		}
	}
	for k := range sums {
		sums[k] /= float64(m.Weight)
	}
	return sums
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

// fillHits sets the metrics that follow from the confusion matrix.
func (m *Metrics) fillHits() {
	var hits int64
	var recalls []float64
	for c := range m.PerClass {
		class := &m.PerClass[c]
		hit := m.Confusion[c][c]
		predicted := int64(0)
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
			class.F1 = new(2 * float64(hit) / both)
		}
		if class.Recall != nil {
			recalls = append(recalls, *class.Recall)
		}
	}
	m.Accuracy = ratio(hits, m.Weight)
	m.BalancedAccuracy = mean(recalls)
}

// fillMeans sets the means over rows, their intervals and the calibration. There must be rows.
func (m *Metrics) fillMeans(t *table, p *projection, s *sample, e *effects) {
	m.fillScores(t)
	m.fillCalibration(t, s.independent(e))
	m.Intervals = &Intervals{}
	i := m.Intervals
	t.fillMean(t.byLeaf(func(l *Leaf) float64 { return l.Cost }), s, e, figureCost, &m.ExpectedCost, &i.ExpectedCost)
	t.fillMean(t.byLeaf(func(l *Leaf) float64 { return float64(l.Tests) }), s, e, figureTests, &m.ExpectedTests, &i.ExpectedTests)
	m.fillFurther(t)
	if s.rows == 0 {
		return
	}
	m.fillShareIntervals(t, s, e)
	if x := p.estimate(m.AUCOvRMacro, e); x != nil {
		i.AUCOvRMacro = &x.Interval
	}
}

// fillErrorCosts sets the means of the costs of errors, and of tests and errors, and their intervals.
func (m *Metrics) fillErrorCosts(t *table, s *sample, e *effects, costs [][]float64) {
	errors := func(l *Leaf, class int) float64 { return costs[class][l.Class] }
	total := func(l *Leaf, class int) float64 { return l.Cost + errors(l, class) }
	i := m.Intervals
	t.fillMean(t.byClass(errors), s, e, figureErrorCost, &m.ExpectedErrorCost, &i.ExpectedErrorCost)
	t.fillMean(t.byClass(total), s, e, figureTotalCost, &m.ExpectedTotalCost, &i.ExpectedTotalCost)
}

// fillFurther sets the costs in further currencies.
func (m *Metrics) fillFurther(t *table) {
	var sums dataset.Amounts
	total := 0.0
	for i := range t.leaves {
		w := float64(t.totals[i])
		if t.leaves[i].Further == nil || w == 0 {
			continue
		}
		total += w
		for k, cost := range t.leaves[i].Further.List() {
			sums[k] += float64(w * cost.MaxCost)
			one := &m.Further[k]
			one.Unit = cost.Unit
			one.MaxCost = max(one.MaxCost, cost.MaxCost)
			one.ExpectedCost = sums[k]
		}
	}
	for k := range m.Further.List() {
		m.Further[k].ExpectedCost /= total
	}
}

// fillScores sets the log loss and the Brier scores.
func (m *Metrics) fillScores(t *table) {
	var loss, brier float64
	perClass := make([]float64, len(m.PerClass))
	for i := range t.leaves {
		l := &t.leaves[i]
		weight := int64(t.totals[i])
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
	m.LogLoss, m.Brier = new(loss/total), new(brier/total)
	chance := 0.0 // log loss of the class frequencies
	for c := range m.PerClass {
		if w := m.PerClass[c].Support; w > 0 && w < m.Weight {
			chance += float64(float64(w) * Surprise(float64(w)/total))
		}
	}
	if chance > 0 {
		m.LogLossSkill = new(1 - loss/chance)
	}
	for c := range perClass {
		m.PerClass[c].Brier = new(perClass[c] / total)
	}
}

// LossDeviation returns the standard deviation of the log losses of rows, in nats; 0 without rows.
func LossDeviation(leaves []Leaf) float64 {
	var total, sum, squares float64
	for i := range leaves {
		for k, w := range leaves[i].Weights {
			loss := Surprise(leaves[i].Probabilities[k])
			total += float64(w)
			sum += float64(float64(w) * loss)
			squares += float64(float64(w) * float64(loss*loss))
		}
	}
	mean := sum / max(1, total)
	return math.Sqrt(max(0, squares/max(1, total)-float64(mean*mean)))
}

// Surprise returns the log loss, in nats, of a row with probability p of its true class. p is
// clipped to [1e-15, 1 - 1e-15].
func Surprise(p float64) float64 {
	const least = 1e-15
	return -portable.Log(min(max(p, least), 1-least))
}

// brier returns the Brier score of a row of the given class at the leaf.
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

// canonical returns the positions of the leaves, sorted by their contents.
func canonical(leaves []Leaf) []int {
	type position struct {
		first float64 // a copy of the leaf's, to compare without reading the leaf
		at    int
	}
	list := make([]position, len(leaves))
	for i := range leaves {
		list[i] = position{leaves[i].Probabilities[0], i}
	}
	slices.SortFunc(list, func(i, j position) int {
		if c := cmp.Compare(i.first, j.first); c != 0 {
			return c
		}
		a, b := &leaves[i.at], &leaves[j.at]
		return cmp.Or(
			slices.Compare(a.Probabilities, b.Probabilities),
			slices.Compare(a.Weights, b.Weights),
			cmp.Compare(a.Cost, b.Cost),
			cmp.Compare(a.Tests, b.Tests),
			slices.Compare(a.Squares, b.Squares),
			compareFurther(a.Further, b.Further),
		)
	})
	order := make([]int, len(list))
	for i := range list {
		order[i] = list[i].at
	}
	return order
}

// compareFurther compares the costs of two leaves of a tree in further currencies.
func compareFurther(a, b *dataset.FurtherCosts) int {
	if a == nil || b == nil {
		return 0
	}
	return slices.CompareFunc(a.List(), b.List(), func(x, y dataset.FurtherCost) int { return cmp.Compare(x.MaxCost, y.MaxCost) })
}

// ratio returns a/b; nil if b is 0.
func ratio(a, b int64) *float64 {
	if b == 0 {
		return nil
	}
	return new(float64(a) / float64(b))
}

// mean returns the mean of list; nil if it is empty.
func mean(list []float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	sum := portable.Sum(list)
	return new(sum / float64(len(list)))
}
