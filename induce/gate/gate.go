// Package gate decides whether a new tree may take the place of the tree in use, by the figures of both on test rows.
package gate

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
)

// Limits are the conditions under which a new tree replaces the tree in use. Both are measured on the test rows of the
// new tree.
type Limits struct {
	Metrics      []string // names as in Metrics, judged by paired 95 % intervals
	Tolerance    float64  // difference of a metric without a meaning
	MinAUC       float64  // on test rows
	MaxAUCFall   float64  // against the AUC of the tree in use on its own test rows, if the 95 % interval of the fall is above 0; 1: any
	MaxCostRatio float64  // expected cost, divided by the expected cost of the tree in use; 0: any
	MaxFlips     float64  // share of the test rows with another class; 1: any
}

// Default returns the limits of `espalier retrain`.
func Default() Limits {
	return Limits{Metrics: []string{"auc_ovr_macro", "log_loss"}, Tolerance: 0.002, MaxAUCFall: 0.05, MaxFlips: 1}
}

// Metrics lists the names of the metrics that Limits may judge.
func Metrics() []string {
	var names []string
	for _, q := range new(metric.Paired).Qualities() {
		names = append(names, q.Name)
	}
	return names
}

// Check is the outcome of a condition.
type Check struct {
	Check  string  `json:"check"` // the setting
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
	Passed bool    `json:"passed"`
	Text   string  `json:"text"`
}

// NewCheck returns a check. text has verbs for the value and the limit.
func NewCheck(name string, value, limit float64, passed bool, text string) Check {
	return Check{name, value, limit, passed, fmt.Sprintf(text, value, limit)}
}

// Refusals lists the texts of the checks that have not passed.
func Refusals(checks []Check) []string {
	var texts []string
	for _, c := range checks {
		if !c.Passed {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// CheckAUC checks the AUC of a new tree on its test rows; nil: it is undefined.
func (l *Limits) CheckAUC(auc *float64) Check {
	if auc == nil {
		return Check{Check: "min_auc", Text: "the test rows of the new tree have no AUC: they are of one class, or the part is empty"}
	}
	return NewCheck("min_auc", *auc, l.MinAUC, *auc >= l.MinAUC, "AUC on test rows is %.4f, want at least %.4g")
}

// CheckFall checks the AUC of a new tree against the AUC of the tree in use, each on its own test rows. It fails if
// the fall is beyond the limit, and more than chance: its whole interval is above 0. There is no check if one of the trees has no interval, which is nil.
func (l *Limits) CheckFall(auc, before *metric.Estimate) []Check {
	if auc == nil || before == nil {
		return nil
	}
	fall := metric.Unpaired(auc, before)
	return []Check{NewCheck("max_auc_fall", fall.Difference, l.MaxAUCFall, fall.Difference <= l.MaxAUCFall || fall.Interval.Low <= 0,
		"AUC on the new tree's own test rows has fallen by %.4f, want at most %.4g")}
}

// Compare checks a new tree, B, against the tree in use, A, on the same rows. flips is the share of the rows with
// another class.
func (l *Limits) Compare(m *metric.Paired, flips float64) []Check {
	var checks []Check
	qualities := m.Qualities()
	for _, name := range l.Metrics {
		q := qualities[slices.IndexFunc(qualities, func(q metric.Quality) bool { return q.Name == name })]
		if q.Difference == nil || q.Interval == nil { // too few rows, or no error costs
			continue
		}
		best := q.Interval.High
		if q.Lossy {
			best = -q.Interval.Low
		}
		checks = append(checks, NewCheck("gate_metrics", q.Difference.Difference, l.Tolerance, best >= -l.Tolerance,
			name+" differs by %.5f from the tree in use; want none worse, by its interval, than %.4g"))
	}
	if cost := m.ExpectedCost; l.MaxCostRatio > 0 && cost.A > 0 {
		ratio := cost.B / cost.A
		checks = append(checks, NewCheck("max_cost_ratio", ratio, l.MaxCostRatio, ratio <= l.MaxCostRatio,
			"expected cost is %.4g times the cost of the tree in use, want at most %.4g"))
	}
	return append(checks, NewCheck("max_flips", flips, l.MaxFlips, flips <= l.MaxFlips,
		"a share of %.4f of the test rows gets another class, want at most %.4g"))
}
