package train

import (
	"context"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// setErrorCosts replaces the error costs of the run by the error costs of the choice, if given.
func (p *promotion) setErrorCosts(ctx context.Context) error {
	if !p.wish.Prices() {
		return nil
	}
	if p.grown == nil {
		return usage.Errorf("--error_costs: an earlier version has trained the run, and %s lacks what other error costs need: train again",
			objectstore.Join(p.wish.Run, runfolder.GrownName))
	}
	costs, err := tables.ReadErrorCosts(ctx, p.Files, p.config.ErrorCostsFile, p.grown.Label.Classes)
	if err != nil {
		return err
	}
	label := p.grown.Label.WithErrorCosts(costs)
	for i, t := range p.trees {
		p.trees[i] = t.WithErrorCosts(costs).WithDecision(label.Decision)
	}
	p.priced = &label
	return nil
}

// priceListed gives the points of frontier.json the costs by other error costs, and leaves out points that cost as
// much in tests and errors as others.
func (p *promotion) priceListed(ctx context.Context) error {
	if !p.wish.Prices() {
		return nil
	}
	switch {
	case len(p.grown.Figures) == 0:
	case len(p.grown.Held) > 0 && !p.parsed.Selection.WantsModels():
		p.priceFolds()
	case p.pool.Candidates[0].Counts[dataset.Validation].TotalRows() == 0:
		return usage.Errorf("--error_costs: the run has no validation rows to compare its trees by other error costs: train with them")
	default:
		p.Reporter.Warn("--error_costs: the trees are compared by their errors on the validation rows alone, as the run does not have the errors " +
			"on the folds")
		for i := range p.pool.Points {
			q := &p.pool.Points[i]
			q.Folds.ErrorCost = nil
			q.Folds.TotalCost = nil
		}
	}
	if err := frontier.Judge(p.pool.Points, p.frontier.Criterion()); err != nil {
		return usage.Errorf("%v", err)
	}
	for i := range p.frontier.Points {
		of := &p.frontier.Points[i]
		of.ExpectedErrorCost = nil
		of.ExpectedTotalCost = nil
		of.ErrorCost = nil
		of.TotalCost = nil
		for k := range p.pool.Points {
			q := &p.pool.Points[k]
			if one := listedPoint(of, p.frontier); one.Same(canonical(*q)) {
				of.ExpectedErrorCost = q.Judged.ErrorCost
				of.ExpectedTotalCost = q.Judged.TotalCost
				of.ErrorCost = q.Folds.ErrorCost
				of.TotalCost = q.Folds.TotalCost
				of.Validation.ErrorCost = q.Validation.ErrorCost
				of.Validation.TotalCost = q.Validation.TotalCost
				of.Test.ErrorCost = q.Test.ErrorCost
				of.Test.TotalCost = q.Test.TotalCost
				break
			}
		}
	}
	if p.wish.Number >= 0 {
		return nil
	}
	return p.priceModels(ctx)
}

// priceModels gives the points of frontier.json whose trees have leaf models the costs of errors on the validation rows,
// which are read again.
func (p *promotion) priceModels(ctx context.Context) error {
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
		of.Validation.ErrorCost = m.Validation.ExpectedErrorCost
		of.Validation.TotalCost = m.Validation.ExpectedTotalCost
		of.Test.ErrorCost = m.Test.ExpectedErrorCost
		of.Test.TotalCost = m.Test.ExpectedTotalCost
		of.ExpectedErrorCost = of.Validation.ErrorCost
		of.ExpectedTotalCost = of.Validation.TotalCost
	}
	return nil
}

// priceFolds gives the listed points of the pool the costs of errors on the folds, and leaves out the other points, whose
// rows of the folds the run does not have.
func (p *promotion) priceFolds() {
	var points []frontier.Point
	for _, q := range p.pool.Points {
		at := p.listed(&q)
		if at < 0 {
			continue
		}
		if n, err := runfolder.PointNumber(p.frontier.Points[at].Tree); err == nil && n < len(p.grown.Held) && p.grown.Held[n] != nil {
			q.PriceFolds(p.grown.Held[n], p.priced)
			points = append(points, q)
		}
	}
	p.pool.Points = points
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
