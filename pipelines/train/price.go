package train

import (
	"context"
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
	return nil
}

// priceListed gives the points of frontier.json the costs by other error costs. Trees with leaf models are priced on the
// validation rows, which are read again, if a total is to be chosen: then all trees are compared on these rows alone.
func (p *promotion) priceListed(ctx context.Context) error {
	if !p.wish.Prices() {
		return nil
	}
	chooses := p.wish.Number < 0 && p.parsed.Selection.Rule == frontier.Total
	modelled := slices.ContainsFunc(p.trees, (*tree.Tree).Modelled)
	if folds := len(p.grown.Figures) > 0; chooses && folds && (modelled || len(p.grown.FoldTrees) == 0) {
		if p.pool.Candidates[0].Counts[dataset.Validation].TotalRows() == 0 {
			return usage.Errorf("--error_costs: the run has no validation rows to compare its trees by other error costs: train with them, or " +
				"name a tree by --promote")
		}
		why := "the trees of the folds have too many leaves to be kept"
		if modelled {
			why = "the run does not keep the errors of leaf models on the folds"
		}
		p.Reporter.Warn("--error_costs: the trees are compared by their errors on the validation rows alone, as " + why)
	}
	points := p.pricedPoints()
	if err := frontier.Judge(points, p.frontier.Criterion()); err != nil {
		return usage.Errorf("%v", err)
	}
	for i := range p.frontier.Points {
		of := &p.frontier.Points[i]
		of.ExpectedErrorCost = nil // unknown for trees with leaf models
		of.ExpectedTotalCost = nil
		of.ErrorCost = nil
		of.TotalCost = nil
		for k := range points {
			q := &points[k]
			if one := listedPoint(of, p.frontier); one.Same(canonical(*q)) {
				of.ErrorCost = q.Folds.ErrorCost
				of.TotalCost = q.Folds.TotalCost
				setCosts(&of.Validation, &q.Validation)
				setCosts(&of.Test, &q.Test)
				judged := &q.Judged
				if modelled {
					judged = &q.Validation
				}
				of.ExpectedErrorCost = judged.ErrorCost
				of.ExpectedTotalCost = judged.TotalCost
				break
			}
		}
	}
	if !chooses || !modelled {
		return nil
	}
	return p.priceModels(ctx)
}

// pricedPoints returns the points of the pool that other error costs can be compared by: points with costs on the folds,
// or all points if none has any.
func (p *promotion) pricedPoints() []frontier.Point {
	points := slices.DeleteFunc(slices.Clone(p.pool.Points), func(q frontier.Point) bool { return q.Folds.ErrorCost == nil })
	if len(points) == 0 {
		return p.pool.Points
	}
	return points
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
			setCosts(&of.Validation, &metric.Judgement{ErrorCost: v.ExpectedErrorCost, TotalCost: v.ExpectedTotalCost})
		}
		if v := m.Test; v != nil {
			setCosts(&of.Test, &metric.Judgement{ErrorCost: v.ExpectedErrorCost, TotalCost: v.ExpectedTotalCost})
		}
		of.ExpectedErrorCost = of.Validation.ErrorCost
		of.ExpectedTotalCost = of.Validation.TotalCost
	}
	return nil
}

// setCosts sets the costs of errors, and of tests and errors, to the costs of another judgement.
func setCosts(of, other *metric.Judgement) {
	of.ErrorCost = other.ErrorCost
	of.TotalCost = other.TotalCost
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
