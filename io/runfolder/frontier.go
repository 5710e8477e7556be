package runfolder

import (
	"encoding/json"
	"fmt"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Frontier is frontier.json: the best trees at each expected cost, by ascending cost. A tree
// belongs to it if every tree that is better on the validation rows costs more.
type Frontier struct {
	Format  string `json:"format" jsonschema:"enum=espalier/frontier"`
	Version int    `json:"version" jsonschema:"enum=1"`
	Select  string `json:"select"` // the rule of the choice; number: a person has named the tree by its number
	// Merit is the figure that merits are: log_loss or accuracy; absent: the AUC.
	Merit string `json:"merit,omitempty" jsonschema:"enum=log_loss,enum=accuracy"`
	// Folds is the number of folds of the training rows on which trees were compared too; absent: validation rows alone.
	Folds int `json:"folds,omitempty" jsonschema:"minimum=2"`
	// Tolerance is the merit that the chosen tree may lack to be cheaper; absent: none.
	Tolerance float64         `json:"tolerance,omitempty" jsonschema:"minimum=0,maximum=1"`
	Limits    frontier.Limits `json:"limits,omitzero"` // limits of the choice, on the training rows; absent: none
	// Evidence are the rows by class on which merits are measured: validation rows and, with folds, training rows; with
	// a key, fewer, as rows of one key say much the same; absent: trees have no scores.
	Evidence []float64 `json:"evidence,omitempty" jsonschema:"minimum=0"`

	// LeafLogLoss is the log loss of a single leaf, on the same rows; absent if the merit is the AUC.
	LeafLogLoss float64 `json:"leaf_log_loss,omitempty" jsonschema:"minimum=0"`
	// LogLossDeviation is the standard deviation of the log losses of rows; absent if the merit is not the log loss.
	LogLossDeviation float64 `json:"log_loss_deviation,omitempty" jsonschema:"minimum=0"`

	// Association is how strongly a feature is associated with the class; absent: the trees alone show that the rows have
	// a signal, or trees have no scores.
	Association *frontier.Association `json:"association,omitempty"`

	// ByDemand is whether the tree was chosen among those that keep a demand, in place of the tree that select names: the
	// cheapest one for a demand of several shares or of a precision, otherwise the best one by the rule.
	ByDemand bool `json:"by_demand,omitempty"`

	Grown  int     `json:"grown" jsonschema:"minimum=1"`  // trees of the grid
	Pruned int     `json:"pruned" jsonschema:"minimum=1"` // all their prunings, of which the points are the best
	Points []Point `json:"points" jsonschema:"minItems=1"`
}

// Point is a tree of the frontier.
type Point struct {
	Tree      string         `json:"tree" jsonschema:"pattern=^frontier/[0-9]+\\.json$"` // its file in the run folder
	Grown     int            `json:"grown" jsonschema:"minimum=0"`                       // number of the grown tree
	Step      int            `json:"step" jsonschema:"minimum=0"`                        // step in the tree's pruning sequence; 0 if it is not pruned
	Algorithm tree.Algorithm `json:"algorithm"`
	tree.Complexity

	// Merit is what trees are chosen by: the AUC on the validation rows, or the mean of this AUC and the AUC on the
	// folds, weighted by rows, averaged over prunings of nearly the same size; or the accuracy, or minus the log loss.
	Merit float64 `json:"merit"`
	// Merits are the AUC, the log loss and the accuracy on the same rows, averaged in the same way; absent with two classes
	// whose merit is the AUC.
	Merits *Merits `json:"merits,omitempty"`
	// Score is what the rule best compares: the merit plus 0.3 times the share by which the log loss on the same rows is
	// below the log loss of a single leaf, or this share alone if the merit is by log loss; absent: only the merit counts.
	Score *float64 `json:"score,omitempty"`
	// Optimism is by how much the AUC is too high because the folds took part in the choice: the AUC by which trees are
	// compared, without its optimism, is the AUC to expect on new rows; absent: unknown.
	Optimism *float64 `json:"optimism,omitempty" jsonschema:"minimum=0"`
	// AccuracyOptimism is the same of the accuracy; absent where trees are not compared by accuracy.
	AccuracyOptimism *float64 `json:"accuracy_optimism,omitempty" jsonschema:"minimum=0"`
	// TotalOptimism is by how much ExpectedTotalCost is too low because the folds took part in the choice by the total;
	// absent: unknown, or the tree was not chosen by the total.
	TotalOptimism *float64 `json:"total_cost_optimism,omitempty" jsonschema:"minimum=0"`

	Validation metric.Judgement `json:"validation"`
	// Folds is the mean AUC on the folds, of trees grown and pruned in the same way.
	Folds *float64 `json:"folds_auc,omitempty" jsonschema:"minimum=0,maximum=1"`
	OnFolds
	Test     metric.Judgement `json:"test"`
	Selected bool             `json:"selected,omitempty"`
	Highest  bool             `json:"highest,omitempty"` // whether it has the highest merit within the limits

	// ExpectedErrorCost is the expected cost of a row's prediction, on the validation rows and the folds, averaged over
	// prunings of nearly the same size as the merit is; absent without error costs.
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty" jsonschema:"minimum=0"`
	// ExpectedTotalCost is the same cost of the tests and of the prediction together; --select total chooses the least.
	ExpectedTotalCost *float64 `json:"expected_total_cost,omitempty" jsonschema:"minimum=0"`
	LeastTotal        bool     `json:"least_total,omitempty"` // whether it has the least ExpectedTotalCost within the limits
}

// Criterion returns the criterion of the merits.
func (f *Frontier) Criterion() frontier.Criterion {
	if by, err := frontier.ParseCriterion(f.Merit); err == nil {
		return by
	}
	return frontier.AUC
}

// Merits are the figures by which trees may be compared. A figure is nil if the rows do not define it.
type Merits struct {
	AUC      *float64 `json:"auc,omitempty" jsonschema:"minimum=0,maximum=1"`
	LogLoss  *float64 `json:"log_loss,omitempty" jsonschema:"minimum=0"`
	Accuracy *float64 `json:"accuracy,omitempty" jsonschema:"minimum=0,maximum=1"`
}

// ExpectedAUC returns the area by which the point may be selected, without its optimism: the area to
// expect on new rows. It is nil if no rows define it.
func (p *Point) ExpectedAUC() *float64 { return p.less(p.Optimism) }

// AUCBeside returns the area to compare with the ExpectedAUC of a chosen point, nil if no rows define it: the area by which
// both compete, less the optimism of the chosen point. Each point's own optimism is an estimate with an error of its own,
// by which points that competed would change places. A single leaf has no optimism.
func (p *Point) AUCBeside(chosen *Point) *float64 {
	if p.Leaves == 1 {
		return p.ExpectedAUC()
	}
	return p.less(chosen.Optimism)
}

// MeritBeside returns the merit to compare with a chosen point: where trees are compared by accuracy, it is less the optimism
// of the chosen point's accuracy. See AUCBeside.
func (p *Point) MeritBeside(chosen *Point) *float64 {
	if p.Leaves == 1 {
		return &p.Merit
	}
	return less(&p.Merit, chosen.AccuracyOptimism)
}

// less returns the area by which the point may be selected, less an optimism; nil if no rows define it.
func (p *Point) less(optimism *float64) *float64 {
	if p.Validation.AUC == nil && p.Folds == nil {
		return nil
	}
	area := p.Merit
	if p.Merits != nil && p.Merits.AUC != nil {
		area = *p.Merits.AUC
	}
	return less(&area, optimism)
}

// TotalBeside returns the expected cost of tests and errors with the optimism of a chosen point, to compare the two points
// as AUCBeside does. It is nil if not known.
func (p *Point) TotalBeside(chosen *Point) *float64 {
	return p.plusOptimism(p.ExpectedTotalCost, chosen)
}

// ErrorsBeside is TotalBeside for the expected cost of errors.
func (p *Point) ErrorsBeside(chosen *Point) *float64 {
	return p.plusOptimism(p.ExpectedErrorCost, chosen)
}

// plusOptimism returns a cost of the point with the optimism of the chosen point's total. A single leaf has no optimism.
func (p *Point) plusOptimism(cost *float64, chosen *Point) *float64 {
	if chosen.TotalOptimism == nil || cost == nil || p.Leaves == 1 {
		return cost
	}
	return new(*cost + *chosen.TotalOptimism)
}

// OnFolds holds means over the folds, weighted by their rows; nil without folds or without error
// costs.
type OnFolds struct {
	// LogLoss is the mean over the folds, weighted by their rows, of trees grown and pruned in the same way; absent
	// without folds.
	LogLoss   *float64 `json:"folds_log_loss,omitempty" jsonschema:"minimum=0"`
	Accuracy  *float64 `json:"folds_accuracy,omitempty" jsonschema:"minimum=0,maximum=1"` // as LogLoss
	ErrorCost *float64 `json:"folds_error_cost,omitempty" jsonschema:"minimum=0"`         // as LogLoss; absent without error costs
	TotalCost *float64 `json:"folds_total_cost,omitempty" jsonschema:"minimum=0"`         // as ErrorCost: cost of tests and errors
}

// UnmarshalJSON decodes a point of any version.
func (p *Point) UnmarshalJSON(b []byte) error {
	type plain Point // without this method
	return json.Unmarshal(tree.Renamed(b), (*plain)(p))
}

// check implements checker.
func (f *Frontier) check() error {
	selected := 0
	for i := range f.Points {
		p := &f.Points[i]
		if err := naming.CheckBelow(p.Tree); err != nil {
			return fmt.Errorf("the tree %q: %w", p.Tree, err)
		}
		if p.Selected {
			selected++
		}
	}
	if selected > 1 {
		return fmt.Errorf("%d trees are selected", selected)
	}
	return nil
}

// FrontierFormat identifies frontier.json.
const FrontierFormat = "espalier/frontier"

// SelectNumber is the Select of a frontier whose tree a person has chosen by its number.
const SelectNumber = "number"
