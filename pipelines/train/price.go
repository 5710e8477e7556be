package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// setErrorCosts replaces the error costs of the run by the error costs of the choice, if given, or of an earlier choice.
func (p *promotion) setErrorCosts(ctx context.Context) error {
	switch {
	case !p.wish.Prices() && (p.grown == nil || p.grown.ErrorCosts == nil):
		return nil
	case p.grown == nil:
		return usage.Errorf("--error_costs: an earlier version has trained the run, and %s lacks what other error costs need: train again",
			objectstore.Join(p.wish.Run, runfolder.GrownName))
	case p.wish.Prices():
		costs, err := tables.ReadErrorCosts(ctx, p.Files, p.config.ErrorCostsFile, p.grown.Label.Classes)
		if err != nil {
			return err
		}
		p.grown.ErrorCosts = costs
		for i, t := range p.trees {
			p.trees[i] = t.WithErrorCosts(costs).WithDecision(p.grown.Label.Decision)
		}
	}
	p.priced = new(p.grown.Label.WithErrorCosts(p.grown.ErrorCosts))
	if err := p.priced.Check(); err != nil {
		return p.damaged(err)
	}
	return nil
}

// priceListed gives the points of frontier.json the figures that follow the error costs, by other error costs. Trees with
// leaf models are priced if a total is to be chosen: on the validation rows, which are read again. Then all trees are
// compared on these rows alone.
func (p *promotion) priceListed(ctx context.Context) error {
	if !p.wish.Prices() {
		return nil
	}
	s := p.parsed.Selection.Settings
	chooses := p.wish.Number < 0 && s.Rule == frontier.Total
	decides := chooses || p.wish.Number < 0 && s.Criterion(len(p.grown.Label.Classes)) == frontier.Accuracy
	modelled := slices.ContainsFunc(p.trees, (*tree.Tree).Modelled)
	if folds := len(p.grown.Figures) > 0; decides && folds && (modelled || len(p.grown.FoldTrees) == 0) {
		if p.pool.Candidates[0].Counts[dataset.Validation].TotalRows() == 0 {
			return usage.Errorf("--error_costs: the run has no validation rows to compare its trees by other error costs: train with " +
				"them, or name a tree by --promote")
		}
		why := "the run does not keep the trees of the folds: an earlier version has trained it, or they have too many leaves"
		if modelled {
			why = "the run does not keep the errors of leaf models on the folds"
		}
		p.Reporter.Warn("--error_costs: the trees are compared by their errors on the validation rows alone, as " + why)
	}
	s.Rule = frontier.Highest
	s.Limits = frontier.Limits{}
	best, err := p.pool.ChoosePoint(p.pool.Points, &s)
	if err != nil && decides {
		return usage.Errorf("%v", err)
	}
	merits := err == nil // otherwise no figure of all points is known
	left := 0
	for i := range p.frontier.Points {
		if !p.price(&p.frontier.Points[i], modelled && chooses) {
			left++
		}
	}
	switch {
	case modelled && chooses:
		return p.priceModels(ctx)
	case modelled || !merits:
		return nil
	}
	p.compareBy(&best)
	if left > 0 {
		p.Reporter.Note(fmt.Sprintf("--error_costs: %d listed trees are not compared: the trees of their folds were not kept", left))
	}
	return nil
}

// price sets the figures of a point of frontier.json that follow the error costs; nil if they are not known, as of trees with
// leaf models. It reports whether the point is compared. With byValidation, points are compared on the validation rows alone.
func (p *promotion) price(of *runfolder.Point, byValidation bool) bool {
	of.OnFolds = runfolder.OnFolds{LogLoss: of.LogLoss}
	of.ExpectedErrorCost = nil
	of.ExpectedTotalCost = nil
	of.TotalOptimism = nil
	of.AccuracyOptimism = nil
	setDecided(&of.Validation, new(metric.Judgement))
	setDecided(&of.Test, new(metric.Judgement))
	one := listedPoint(of, p.frontier)
	same := func(q frontier.Point) bool { return one.Same(canonical(q)) }
	if i := slices.IndexFunc(p.all, same); i >= 0 {
		setDecided(&of.Validation, &p.all[i].Validation)
		setDecided(&of.Test, &p.all[i].Test)
	}
	i := slices.IndexFunc(p.pool.Points, same)
	if i < 0 {
		return false
	}
	q := &p.pool.Points[i]
	of.Accuracy = q.Folds.Accuracy
	of.ErrorCost = q.Folds.ErrorCost
	of.TotalCost = q.Folds.TotalCost
	judged := &q.Judged
	if byValidation {
		judged = &q.Validation
	}
	of.ExpectedErrorCost = judged.ErrorCost
	of.ExpectedTotalCost = judged.TotalCost
	return true
}

// judgement returns the figures of metrics that follow the error costs.
func judgement(m *metric.Metrics) *metric.Judgement {
	return &metric.Judgement{Accuracy: m.Accuracy, ErrorCost: m.ExpectedErrorCost, TotalCost: m.ExpectedTotalCost}
}

// setDecided sets the figures that follow the error costs to the figures of another judgement.
func setDecided(of, other *metric.Judgement) {
	of.Accuracy = other.Accuracy
	of.ErrorCost = other.ErrorCost
	of.TotalCost = other.TotalCost
}

// priceModels gives the points of frontier.json whose trees have leaf models the costs of errors on the validation rows,
// which are read again.
func (p *promotion) priceModels(ctx context.Context) error {
	if p.wish.WithoutRows {
		return usage.Errorf("--without_rows: the errors of trees with leaf models take the rows: leave it out, choose by another " +
			"rule than --select total, or name a tree by --promote")
	}
	rows := &reopened{promotion: p}
	for i, t := range p.trees {
		if !t.Modelled() {
			continue
		}
		measure, err := rows.count(ctx, t)
		if err != nil {
			return err
		}
		m, err := measure(strataOfParts{})
		if err != nil {
			return err
		}
		of := &p.frontier.Points[i]
		if v := m.Validation; v != nil {
			setDecided(&of.Validation, judgement(v))
		}
		if v := m.Test; v != nil {
			setDecided(&of.Test, judgement(v))
		}
		of.ExpectedErrorCost = of.Validation.ErrorCost
		of.ExpectedTotalCost = of.Validation.TotalCost
	}
	return nil
}

// leaveOutDominated removes the points that cost at least as much in tests and in errors as another point, unless they
// are chosen now or were before.
func (p *promotion) leaveOutDominated() {
	all := p.frontier.Points
	costs := func(of *runfolder.Point) bool { return of.ExpectedErrorCost != nil }
	kept := make([]bool, len(all))
	for i := range all {
		kept[i] = i == p.now || i == p.before || !costs(&all[i]) || !slices.ContainsFunc(all, func(q runfolder.Point) bool {
			return costs(&q) && q.Tree != all[i].Tree && q.ExpectedCost <= all[i].ExpectedCost &&
				*q.ExpectedErrorCost <= *all[i].ExpectedErrorCost &&
				(q.ExpectedCost < all[i].ExpectedCost || *q.ExpectedErrorCost < *all[i].ExpectedErrorCost || q.Leaves < all[i].Leaves)
		})
	}
	now := all[p.now].Tree
	before := all[p.before].Tree
	var points []runfolder.Point
	var trees []*tree.Tree
	for i := range all {
		if kept[i] {
			points = append(points, all[i])
			trees = append(trees, p.trees[i])
		}
	}
	p.frontier.Points = points
	p.trees = trees
	p.now = slices.IndexFunc(points, func(q runfolder.Point) bool { return q.Tree == now })
	p.before = slices.IndexFunc(points, func(q runfolder.Point) bool { return q.Tree == before })
}
