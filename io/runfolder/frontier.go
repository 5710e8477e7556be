package runfolder

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Frontier is frontier.json: the best trees at each expected cost, by ascending cost. A tree
// belongs to it if every tree that is better on the validation rows costs more.
type Frontier struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Select  string `json:"select"`          // the rule of the choice, or SelectNumber
	Folds   int    `json:"folds,omitempty"` // folds that count in the merit; absent: validation rows alone
	// Tolerance is how much merit a cheaper tree may lack; absent: none.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Limits are the limits of the choice; absent: none.
	Limits frontier.Limits `json:"limits,omitzero"`
	// Evidence is the number of rows by class on which merits are measured, see frontier.Score; nil
	// if points have no scores.
	Evidence []float64 `json:"evidence,omitempty"`

	Grown  int     `json:"grown"`  // trees of the grid
	Pruned int     `json:"pruned"` // all their prunings
	Points []Point `json:"points"`
}

// Point is a tree of the frontier.
type Point struct {
	Tree      string         `json:"tree"`  // its file in the run folder
	Grown     int            `json:"grown"` // index of the grown tree
	Step      int            `json:"step"`  // step in the tree's pruning sequence; 0 if it is not pruned
	Algorithm tree.Algorithm `json:"algorithm"`
	tree.Complexity
	tree.BilledNames

	Merit float64  `json:"merit"`           // quality of the ranking: see frontier.Judge
	Score *float64 `json:"score,omitempty"` // for the rule best: see frontier.Score; nil: only the merit counts
	// Optimism is by how much the merit is too high because the folds took part in the choice: see
	// crossvalidate.Optimism. nil: not known.
	Optimism   *float64 `json:"optimism,omitempty"`
	Validation Part     `json:"validation"`
	Folds      *float64 `json:"folds_auc,omitempty"` // mean AUC on the folds, of trees grown and pruned in the same way
	OnFolds
	Test     Part `json:"test"`
	Selected bool `json:"selected,omitempty"`
	Highest  bool `json:"highest,omitempty"` // whether it has the highest merit within the limits

	// Expected costs of a row, estimated on the validation rows and the folds in the same way as
	// the merit: see frontier.Costs. Absent without error costs.
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty"`
	ExpectedTotalCost *float64 `json:"expected_total_cost,omitempty"`
	LeastTotal        bool     `json:"least_total,omitempty"` // whether it has the least total cost within the limits
}

// ExpectedAUC returns the area that the point was selected by, its merit, without its optimism: the area to
// expect on new rows. It is nil if merits are log losses.
func (p *Point) ExpectedAUC() *float64 {
	if p.Validation.AUC == nil && p.Folds == nil {
		return nil
	}
	area := p.Merit
	if p.Optimism != nil {
		area -= *p.Optimism
	}
	return &area
}

// OnFolds holds means over the folds, weighted by their rows; nil without folds or without error
// costs.
type OnFolds struct {
	LogLoss   *float64 `json:"folds_log_loss,omitempty"`
	Accuracy  *float64 `json:"folds_accuracy,omitempty"`
	ErrorCost *float64 `json:"folds_error_cost,omitempty"`
	TotalCost *float64 `json:"folds_total_cost,omitempty"` // cost of tests and errors
}

// Part describes how good a tree of the frontier is on a part of the rows.
type Part struct {
	AUC              *float64 `json:"auc"`
	*metric.Interval          // interval of AUC; nil if it is not defined

	LogLoss  *float64 `json:"log_loss"`
	Accuracy *float64 `json:"accuracy,omitempty"` // absent in files of earlier versions

	// Mean costs per row: the cost of its prediction, and the cost of its prediction and its tests.
	// Absent without error costs.
	ExpectedErrorCost *float64 `json:"expected_error_cost,omitempty"`
	ExpectedTotalCost *float64 `json:"expected_total_cost,omitempty"`
}

// check implements checker. It also sets the costs of points in documents of earlier versions.
func (f *Frontier) check() error {
	selected := 0
	for i := range f.Points {
		p := &f.Points[i]
		p.Set(&p.Complexity)
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
