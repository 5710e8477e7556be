package frontier

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Constants of the rule Best, chosen by measurement on 16 public data sets and on synthetic rows
// without a signal, or with a signal that two leaves express.
const (
	// skillShare is the weight of the skill in a score. The area under the ROC curve does not fall
	// if leaves express noise, but the log loss always rises.
	skillShare = 0.3
	// errorsPerDoubling is by how many standard errors of the merit the score of a tree with twice the leaves must be
	// higher.
	errorsPerDoubling = 0.2
	// withinPaths is the share of it that counts where limits are on paths alone: what is asked for is the best tree that
	// each row can afford, not a small one.
	withinPaths = 0.5
	// beyondChance is by how many standard errors of the area of a tree without a signal an area
	// must exceed 0.5, if no feature is associated with the class. Among some thousand prunings of trees that express noise,
	// with free repeats, the highest area exceeded 0.5 by 2.0 standard errors on average over 80 data sets, with a standard
	// deviation of 0.9, and by 4.1 in one of 165.
	beyondChance = 5
	// sameCost is the share by which a tree of more credit may cost more than the cheapest one. Where repeated tests are
	// free, trees of a few and of many leaves cost the same.
	sameCost = 0.02
	// maxExcess caps by how much an area must exceed 0.5, however few rows there are.
	maxExcess = 0.4
)

// Score is the value of a point for the rule Best.
type Score struct {
	// Value is the merit plus skillShare times the skill: the share by which the log loss is below
	// the log loss of a single leaf. The log loss is measured on the validation rows and on the
	// folds, weighted as in the merit. If the merit is by log loss, the value is the skill alone.
	Value float64
	// Rows holds the number of rows by class on which the merit was measured.
	Rows []float64
	// Signal is whether the rows have a signal: a feature is associated with the class, or the point with the highest
	// value, whatever the limits, is beyond chance.
	Signal bool
	// Suspected is whether a feature may be associated with the class: see Association.Suspected.
	Suspected bool
	// Deviation is the standard deviation of the log losses of rows, in nats; 0 if the merit is not by log loss.
	Deviation float64
	// RootLoss is the log loss of a single leaf, in nats.
	RootLoss float64
}

// setScores sets the scores of points that have merits, given the number of rows by class on which
// these were measured, the class frequencies that predictions follow, nil: the frequencies among the rows, and the
// standard deviation of the log losses of rows. Points get no score if they have no area or no log loss.
func setScores(points []Point, rows, frequencies []float64, deviation float64) {
	rootLoss := entropy(rows)
	if frequencies != nil {
		rootLoss = entropy(frequencies)
	}
	for i := range points {
		p := &points[i]
		loss := p.Judged.LogLoss
		if p.Judged.AUC == nil || loss == nil || rootLoss == 0 {
			return
		}
		if p.isSingleLeaf() { // training rows and validation rows have different class frequencies
			rootLoss = max(rootLoss, *loss)
		}
	}
	for i := range points {
		p := &points[i]
		value := p.Merit + float64(skillShare*(1-*p.Judged.LogLoss/rootLoss))
		if p.By == LogLoss {
			value = 1 + p.Merit/rootLoss
		}
		p.Score = &Score{Value: value, Rows: rows, Deviation: deviation, RootLoss: rootLoss}
	}
}

// ErrorLoss returns the log loss, in nats, that lowers a score as much as a wrong prediction does if the merit is the
// accuracy, given the probabilities of a single leaf.
func ErrorLoss(root []float64) float64 { return entropy(root) / skillShare }

// MarkSignal sets the signal of points that have scores, given the association of a feature with the class, which may be nil.
func MarkSignal(points []Point, a *Association) {
	if points[0].Score == nil {
		return
	}
	signal := a.Believed() || least(points, byScore, nil).beyondChance()
	for i := range points {
		points[i].Score.Signal = signal
		points[i].Score.Suspected = a.Suspected()
	}
}

// Doubtful reports whether only an association of a feature with the class can show that the rows have a signal. The
// points must have merits.
func (p *Pool) Doubtful() bool {
	if p.Points[0].Score == nil || p.Points[0].Score.Signal {
		return false
	}
	return !least(p.Points, byScore, nil).isSingleLeaf() || priced(p.Points) && !leastTotal(p.Points).isSingleLeaf()
}

// byScore orders by descending score, then as better does.
func byScore(a, b *Point) int {
	if c := cmp.Compare(b.Score.Value, a.Score.Value); c != 0 {
		return c
	}
	return better(a, b)
}

// changed returns the score after a change of the figures, if the merit is by a criterion.
func (s *Score) changed(change *metric.Judgement, by Criterion) *Score {
	after := *s
	share := skillShare
	if by == LogLoss {
		share = 1
	} else if gain := figures(change)[by]; gain != nil {
		after.Value += *gain
	}
	if change.LogLoss != nil {
		after.Value -= float64(share * (*change.LogLoss / s.RootLoss))
	}
	return &after
}

// entropy returns the entropy of the shares of the classes, in nats.
func entropy(rows []float64) float64 {
	total := portable.Sum(rows)
	sum := 0.0
	for _, n := range rows {
		if n > 0 {
			sum += float64(n / total * metric.Surprise(n/total))
		}
	}
	return sum
}

// best returns the cheapest point whose credit is below the highest credit by at most the tolerance, or, of the points of
// nearly its cost, the one with the highest credit, and the point with the highest score. The credit is the score less
// what chance may well explain: see errorsPerDoubling. If the rows have no
// signal, and not even the point with the highest score is beyond chance, best returns a single leaf.
// Points without scores are compared by their merits.
func best(list []Point, q Query) (chosen, top Point) {
	if slices.ContainsFunc(list, func(p Point) bool { return p.Score == nil }) {
		top = *least(list, better, nil)
		return cheapest(list, below(top.Merit, q.Tolerance)), top
	}
	top = *least(list, byScore, nil)
	if leaf := singleLeaf(list); leaf != nil && !top.believed() {
		return *leaf, top
	}
	doubling := float64(errorsPerDoubling * top.error(1, 1))
	if top.By == LogLoss {
		doubling /= top.Score.RootLoss
	}
	if q.Limits.PathsAlone() {
		doubling *= withinPaths
	}
	credit := func(p *Point) float64 { return p.Score.Value - float64(doubling*portable.Log2(float64(p.Leaves))) }
	highest := math.Inf(-1)
	for i := range list {
		highest = max(highest, credit(&list[i]))
	}
	lowest := below(highest, q.Tolerance)
	enough := func(p *Point) bool { return credit(p) >= lowest }
	most := least(list, cheaper, enough).ExpectedCost * (1 + sameCost)
	creditable := func(a, b *Point) int { return cmp.Or(cmp.Compare(credit(b), credit(a)), cheaper(a, b)) }
	return *least(list, creditable, func(p *Point) bool { return p.ExpectedCost <= most && enough(p) }), top
}

// believed reports whether a tree may be chosen in place of a single leaf.
func (p *Point) believed() bool { return p.Score.Signal || p.beyondChance() }

// beyondChance reports whether the area of a tree is higher than chance would give among many
// trees. It is the area that is compared, whatever the criterion.
func (p *Point) beyondChance() bool {
	return p.Merits[AUC]-0.5 >= min(maxExcess, float64(beyondChance*metric.MeanAreaError(0.5, p.Score.Rows)))
}

// measureGroups sets GroupEffect, if rows come in groups, to the effect for the tree with the
// highest merit on the validation rows.
func (p *Pool) measureGroups() {
	if p.Groups == nil || p.GroupEffect > 0 {
		return
	}
	t := p.Tree(least(p.Points, better, nil))
	p.GroupEffect = 1
	if ratio := metric.AreaRatio(t, p.Groups(t, dataset.Validation)); ratio != nil {
		p.GroupEffect = max(1, *ratio)
	}
}

// deviation returns the standard deviation of the log losses of rows for the tree with the highest merit, on the
// validation rows or, without any, on the training rows; 0 if merits are not by log loss.
func (p *Pool) deviation(points []Point) float64 {
	if points[0].By != LogLoss {
		return 0
	}
	best := least(points, better, nil)
	part := dataset.Validation
	if p.Candidates[0].Counts[part].TotalRows() == 0 {
		part = dataset.Train
	}
	t := p.Tree(best)
	sequence := p.Prunings[p.PruningOf(best)].Sequence
	counts := sequence.Counts(t, best.Step, p.rowsOf(best.Tree, part))
	factors := judging.FactorsOf(judging.Frequencies(t), judging.ClassWeights(counts, len(t.Label.Classes)))
	return metric.LossDeviation(metric.Leaves(t, factors.Counts(counts)))
}

// evidence returns the number of rows by class on which the merits of the points in the pool are
// measured: the validation rows and, with folds, the training rows. With weights, the rows are
// divided among the classes by weight. Rows of unequal weights count less, by WeightEffect, and so
// do rows in groups, by GroupEffect.
func (p *Pool) evidence() []float64 {
	rows := make([]float64, len(p.Candidates[0].Tree.Label.Classes))
	add := func(part dataset.Part) {
		counts := p.Candidates[0].Counts[part]
		if counts == nil {
			return
		}
		weights := judging.ClassWeights(counts, len(rows))
		all := portable.Sum(weights)
		for k, w := range weights {
			if all > 0 {
				rows[k] += float64(counts.TotalRows()) * float64(w) / float64(all)
			}
		}
	}
	add(dataset.Validation)
	if slices.ContainsFunc(p.Points, func(q Point) bool { return q.Folds.AUC != nil }) {
		add(dataset.Train)
	}
	effect := float64(max(1, p.GroupEffect)*max(1, p.GroupEffect)) * max(1, p.WeightEffect) // on the variance
	for k := range rows {
		rows[k] /= effect
	}
	return rows
}

// Reason returns a sentence on why the rule Best chose a point instead of the point with the
// highest score; empty if they are the same, or if points have no scores.
func Reason(chosen, top *Point) string {
	if chosen.Score == nil || chosen.Same(top) {
		return ""
	}
	if chosen.isSingleLeaf() && !top.believed() {
		return chanceReason(top)
	}
	size := fmt.Sprintf("%d leaves", chosen.Leaves)
	if chosen.isSingleLeaf() {
		size = "a single leaf"
	}
	return fmt.Sprintf("%s: a tree of %d leaves would %s on rows that did not grow it, "+
		"no more than chance or the tolerance", size, top.Leaves, top.By.Gain(top.Merit-chosen.Merit))
}

// chanceReason returns a sentence on why a single leaf was chosen instead of a tree.
func chanceReason(top *Point) string {
	return fmt.Sprintf("a single leaf: the best tree, of %d leaves, has an AUC of %.3f on %.0f rows that did not grow it, "+
		"no more than chance among the trees gives", top.Leaves, top.Merits[AUC], portable.Sum(top.Score.Rows))
}
