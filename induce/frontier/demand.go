package frontier

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Demand asks for a tree, and for a threshold on its probability of a class, with least shares that hold on new rows with a
// confidence. A share of 0 is not demanded.
type Demand struct {
	Class       string
	Sensitivity float64 // share of the rows of the class that are predicted as the class
	Specificity float64 // share of the other rows that are not predicted as the class
	Precision   float64 // share of the class among the rows predicted as the class

	Confidence float64 // with which each share is kept, above 0 and below 1
}

// ErrDemand is the error of a demand that no tree keeps.
var ErrDemand = errors.New("no tree keeps the demand")

// Contender is a tree among which a demand chooses, with its metrics on the validation rows, or nil without such rows.
type Contender struct {
	Tree       *tree.Tree
	Validation *metric.Metrics
}

// Trades reports whether the demand bounds a threshold from both sides, so that many trees do not keep it.
func (d *Demand) Trades() bool { return d.Sensitivity > 0 && d.Specificity > 0 || d.Precision > 0 }

// Decide returns the index of the contender that is taken, and its decision. If the demand trades, it is the first contender
// that keeps the demand; contenders must be in the order of their costs. Otherwise it is the contender chosen. The threshold
// is the highest one that keeps the demand if a sensitivity is demanded, otherwise the lowest one. A threshold at which all
// rows, or none, are predicted as the class is not taken. The error wraps ErrDemand if the demand is not kept.
//
// # The confidence
//
// A share is kept at a threshold if the one-sided bound of Clopper and Pearson on the validation rows is at least the
// demanded share. The sensitivity falls from threshold to threshold, so the threshold taken has less than the share only
// if the lowest such threshold passes its test: the probability is at most one minus the confidence, however many
// thresholds are tested. This also holds for the specificity. The precision need not fall, so its bounds have the
// confidence for all thresholds of the tree together (Bonferroni). If the demand trades, the contender depends on the
// bounds, and the confidence is for all contenders together. Otherwise the contender does not depend on the bounds.
func (d *Demand) Decide(contenders []Contender, chosen int) (int, *tree.Decision, error) {
	risk := 1 - d.Confidence
	if !d.Trades() {
		contenders = contenders[chosen : chosen+1]
	} else {
		chosen = 0
	}
	var fault error
	for i := range contenders {
		threshold, missed := d.threshold(&contenders[i], risk/float64(len(contenders)))
		if missed == nil {
			return chosen + i, &tree.Decision{Positive: d.Class, Threshold: threshold}, nil
		}
		fault = missed // in the end, what the most expensive contender lacks
	}
	return 0, nil, fault
}

// Instead returns the contender that is taken if the chosen one does not keep a demand that does not trade, and its decision.
// rule chooses among the contenders that keep the demand, given by index. The error is the fault of the contender that comes
// closest; fault is the fault of the chosen one.
//
// The confidence is for all contenders together (Bonferroni), but not together with the first test of the chosen one: the
// probability that the tree taken has less than the share is at most twice one minus the confidence.
func (d *Demand) Instead(
	contenders []Contender, rule func(keeping []int) (int, error), fault error,
) (int, *tree.Decision, error) {
	risk := (1 - d.Confidence) / float64(len(contenders))
	var keeping []int
	nearest := false // whether fault is of another tree
	thresholds := make([]float64, len(contenders))
	for i := range contenders {
		threshold, missed := d.threshold(&contenders[i], risk)
		if missed != nil {
			if shownBy(missed) > shownBy(fault) {
				fault = missed
				nearest = true
			}
			continue
		}
		thresholds[i] = threshold
		keeping = append(keeping, i)
	}
	if keeping == nil {
		if nearest {
			fault = fmt.Errorf("%w (of the listed tree that comes closest; bounds hold for %d trees together)", fault, len(contenders))
		}
		return 0, nil, fault
	}
	at, err := rule(keeping)
	if err != nil {
		return 0, nil, err
	}
	return at, &tree.Decision{Positive: d.Class, Threshold: thresholds[at]}, nil
}

// shortage is the error of a tree that does not keep a demand.
type shortage struct {
	error

	shown float64 // the last demanded share, of which the validation rows show this much
}

func (s *shortage) Unwrap() error { return s.error }

// shownBy returns which share the validation rows show of a tree that does not keep a demand of one share; -1 of a tree that
// can keep none.
func shownBy(fault error) float64 {
	if s, ok := errors.AsType[*shortage](fault); ok {
		return s.shown
	}
	return -1
}

// threshold returns the threshold of a contender that keeps the demand, if each bound may err with the given probability.
func (d *Demand) threshold(c *Contender, risk float64) (float64, error) {
	at := slices.Index(c.Tree.Label.Classes, d.Class)
	if at < 0 {
		return 0, fmt.Errorf("%w: the label has no class %q, its classes are %q", ErrDemand, d.Class, c.Tree.Label.Classes)
	}
	if c.Validation == nil || c.Validation.Rows == 0 {
		return 0, fmt.Errorf("%w: there are no validation rows to test it on", ErrDemand)
	}
	class := &c.Validation.PerClass[at]
	points := class.OperatingPoints()
	if len(points) == 0 {
		return 0, fmt.Errorf("%w: all or none of the validation rows are of the class %q", ErrDemand, d.Class)
	}
	own := class.ROC.EffectiveRows
	others := class.ROC.EffectiveOthers
	points = points[:len(points)-1]
	kept := 0.0
	for i := range points { // from high thresholds to low ones
		p := &points[i]
		predicted := float64(own*p.Sensitivity.Value) + float64(others*(1-p.Specificity.Value))
		if !passes(d.Sensitivity, p.Sensitivity.Value, own, risk) || !passes(d.Specificity, p.Specificity.Value, others, risk) ||
			!passes(d.Precision, p.PPV.Value, predicted, risk/float64(len(points))) {
			continue
		}
		if kept = p.Threshold; d.Sensitivity > 0 {
			break
		}
	}
	if kept == 0 {
		return 0, d.missed(c.Validation, at, points, risk)
	}
	return kept, nil
}

// passes reports whether a share of rows shows that the true share is at least least, with this risk of an error. Rows that
// are not whole, as they have weights, are rounded to the safe side.
func passes(least, share, rows, risk float64) bool {
	if least == 0 {
		return true
	}
	const rounding = 1e-9
	n := math.Floor(rows + rounding)
	misses := math.Ceil(float64(rows*(1-share)) - rounding)
	return n > 0 && misses <= n && atMost(misses, n, 1-least) <= risk
}

// atMost returns the probability of at most k of n independent events of probability q; 1 if it is at least a half.
func atMost(k, n, q float64) float64 {
	if k >= float64(n*q) {
		return 1 // at least a half
	}
	log := portable.LogGamma(n+1) - portable.LogGamma(k+1) - portable.LogGamma(n-k+1) + float64(k*portable.Log(q)) +
		float64((n-k)*portable.Log(1-q))
	term := portable.Exp(log)
	sum := 0.0
	for i := k; i >= 0 && term > 0; i-- {
		sum += term
		term *= i / (n - i + 1) * ((1 - q) / q)
	}
	return min(1, sum)
}

// missed returns the error of a tree that does not keep the demand: which shares the validation rows can show.
func (d *Demand) missed(m *metric.Metrics, class int, points []metric.OperatingPoint, risk float64) error {
	support := m.PerClass[class].Support
	own := m.PerClass[class].ROC.EffectiveRows
	others := m.PerClass[class].ROC.EffectiveOthers
	alone := true // each share can be shown at a threshold of its own
	shown := 0.0
	var texts []string
	for _, x := range []struct {
		name, of    string
		least, rows float64
		weight      int64
		share       func(p *metric.OperatingPoint) float64
	}{
		{"sensitivity", "in the class", d.Sensitivity, own, support, func(p *metric.OperatingPoint) float64 { return p.Sensitivity.Value }},
		{"specificity", "in other classes", d.Specificity, others, m.Weight - support, func(p *metric.OperatingPoint) float64 { return p.Specificity.Value }},
	} {
		if x.least == 0 {
			continue
		}
		rows := math.Floor(x.rows)
		text := fmt.Sprintf("%s %v on %.0f validation rows %s", x.name, x.least, rows, x.of)
		if rows != float64(x.weight) { // rows have weights, depend on each other, or lack values
			text = fmt.Sprintf("%s %v on validation rows %s that count as %.0f rows", x.name, x.least, x.of, rows)
		}
		alone = alone && slices.ContainsFunc(points, func(p metric.OperatingPoint) bool { return passes(x.least, x.share(&p), x.rows, risk) })
		if needed := neededRows(x.least, risk); x.rows < needed {
			texts = append(texts, fmt.Sprintf("%s, where even no error takes %.0f rows to show it", text, needed))
			continue
		}
		best := 0.0
		for i := range points {
			best = max(best, lowest(x.share(&points[i]), x.rows, risk))
		}
		texts = append(texts, fmt.Sprintf("%s, where the best that can be shown is %.3f", text, best))
		shown = best
	}
	if d.Precision > 0 {
		best := 0.0
		keeps := false
		for i := range points {
			p := &points[i]
			rows := float64(own*p.Sensitivity.Value) + float64(others*(1-p.Specificity.Value))
			best = max(best, lowest(p.PPV.Value, rows, risk/float64(len(points))))
			keeps = keeps || passes(d.Precision, p.PPV.Value, rows, risk/float64(len(points)))
		}
		alone = alone && keeps
		texts = append(texts, fmt.Sprintf("precision %v, where the best that can be shown is %.3f", d.Precision, best))
	}
	if len(points) == 0 {
		return fmt.Errorf("%w: the tree does not tell rows of the class %q from others", ErrDemand, d.Class)
	}
	if len(texts) > 1 && alone {
		texts = append(texts, "no single threshold keeps all of them")
	}
	return &shortage{fmt.Errorf("%w of the class %q with a confidence of %v: %s; demand less, or give more validation rows", ErrDemand, d.Class,
		d.Confidence, strings.Join(texts, "; ")), shown}
}

// neededRows returns the number of rows that show a share if none errs.
func neededRows(least, risk float64) float64 {
	return math.Ceil(portable.Log(risk) / portable.Log(least))
}

// lowest returns the one-sided bound of Clopper and Pearson of a share of rows, to three digits.
func lowest(share, rows, risk float64) float64 {
	best := 0.0
	for k := 1; k < 1000; k++ {
		if least := float64(k) / 1000; passes(least, share, rows, risk) {
			best = least
		}
	}
	return best
}
