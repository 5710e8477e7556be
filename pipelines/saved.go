package pipelines

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// saved returns what a later choice among the trees of a pool needs, see Promote.
func (c *choosing) saved(pool *frontier.Pool) *runfolder.Grown {
	g := &runfolder.Grown{
		Label: pool.Candidates[0].Tree.Label, Features: dataset.EncodeFeatures(c.Features),
		Candidates: frontier.AppendCandidates(nil, pool.Candidates), Scales: c.scales, Weighted: c.spec.Weighted(),
		GroupEffect: pool.GroupEffect, WeightEffect: pool.WeightEffect,
	}
	for i := range pool.Points {
		p := &pool.Points[i]
		if p.OfFolds == 0 {
			continue // no folds, for any point
		}
		figures := foldFigures(p)
		g.FoldShare = p.OfFolds
		g.FigureCount = len(figures)
		for _, x := range figures {
			g.Figures = append(g.Figures, *x)
		}
	}
	return g
}

// foldFigures lists a point's figures on the folds, in the order of grown.bin. Files of earlier versions
// only have the first figures of the list.
func foldFigures(p *frontier.Point) []**float64 {
	return []**float64{&p.Folds, &p.FoldsLogLoss, &p.FoldsAccuracy, &p.FoldsErrorCost, &p.FoldsTotalCost}
}

// rebuild makes the pool of the run's prunings again from grown.bin.
func (p *promotion) rebuild(ctx context.Context) error {
	if p.grown == nil {
		return nil
	}
	damaged := func(err error) error {
		return usage.Errorf("%s: %v", objectstore.Join(p.wish.Run, runfolder.GrownName), err)
	}
	var err error
	if p.features, err = dataset.DecodeFeatures(p.grown.Features); err != nil {
		return damaged(err)
	}
	candidates, err := frontier.DecodeCandidates(p.grown.Candidates, p.grown.Label, p.features)
	if err != nil {
		return damaged(err)
	}
	if p.pool, err = selection.NewPool(ctx, host{p.Driver}, candidates, &p.parsed.Selection.Settings); err != nil {
		return err
	}
	if p.config.Group != "" || p.grown.WeightEffect > 1 {
		p.pool.Groups = func(*tree.Tree, dataset.Part) *tree.GroupCounts { return p.unknownGroups() }
	}
	g := p.grown
	p.pool.GroupEffect = g.GroupEffect
	p.pool.WeightEffect = g.WeightEffect
	if n := len(g.Figures); n > 0 && n != g.FigureCount*len(p.pool.Points) {
		return damaged(fmt.Errorf("%d figures of folds for %d prunings, want %d of each", n, len(p.pool.Points), g.FigureCount))
	}
	if len(g.Figures) == 0 {
		return nil
	}
	for i := range p.pool.Points {
		q := &p.pool.Points[i]
		q.OfFolds = g.FoldShare
		for k, figure := range foldFigures(q) {
			if k < g.FigureCount {
				*figure = g.Figures[i*g.FigureCount+k]
			}
		}
	}
	return nil
}

// unknownGroups returns the groups of rows that were not saved with the counts of the rows.
func (p *promotion) unknownGroups() *tree.GroupCounts {
	return &tree.GroupCounts{Keyed: p.config.Group != "", WeightEffect: p.grown.WeightEffect}
}

// partOf returns the figures of a point's tree on a part of the rows.
type partOf func(p *frontier.Point, t *tree.Tree, of dataset.Part) runfolder.Part

// poolPart returns the figures of trees without leaf models.
func poolPart(pool *frontier.Pool) partOf {
	return func(p *frontier.Point, t *tree.Tree, of dataset.Part) runfolder.Part {
		pruning := &pool.Prunings[pool.PruningOf(p)]
		score := &pruning.Validation[p.Step]
		if of == dataset.Test {
			score = &pruning.Test[p.Step]
		}
		figures := runfolder.Part{
			AUC: score.AUC, LogLoss: score.LogLoss, Accuracy: score.Accuracy,
			ExpectedErrorCost: score.ExpectedErrorCost, ExpectedTotalCost: score.TotalCost(),
		}
		if area := pool.Area(p, t, of); area != nil {
			figures.Interval = &area.Interval
		}
		return figures
	}
}

// frontierPoint returns the entry of frontier.json with the index i.
func frontierPoint(i int, p *frontier.Listed, t *tree.Tree, part partOf) runfolder.Point {
	q := runfolder.Point{
		Tree: runfolder.FrontierTree(i), Grown: p.Tree, Step: p.Step, Algorithm: t.Algorithm, Complexity: t.Complexity, BilledNames: t.BilledNames(),
		Merit: p.Merit, Folds: p.Folds, Selected: p.Chosen, Highest: p.Highest, LeastTotal: p.LeastTotal,
		Validation: part(&p.Point, t, dataset.Validation), Test: part(&p.Point, t, dataset.Test),
		OnFolds: runfolder.OnFolds{
			LogLoss: p.FoldsLogLoss, Accuracy: p.FoldsAccuracy, ErrorCost: p.FoldsErrorCost, TotalCost: p.FoldsTotalCost,
		},
	}
	if c := p.Costs; c != nil {
		q.ExpectedErrorCost, q.ExpectedTotalCost = &c.Errors, &c.Total
	}
	if p.Score != nil {
		q.Score = &p.Score.Value
	}
	return q
}

// canonical returns the point without its currency if the tree is not pruned, as the currency then has no
// meaning.
func canonical(q frontier.Point) *frontier.Point {
	if q.Step == 0 {
		q.Currency = 0
	}
	return &q
}

// listedPoint returns the point of a choice for a point of frontier.json. evidence is the evidence in the
// file.
func listedPoint(p *runfolder.Point, evidence []float64) frontier.Point {
	currency, _ := prune.ParseCurrency(p.Algorithm.Prune) // none: 0
	q := frontier.Point{
		Tree: p.Grown, Lambda: p.Algorithm.Lambda, Currency: currency, Step: p.Step, Ridge: p.Algorithm.Ridge,
		Boosted: p.Algorithm.BoosterTrees, Complexity: p.Complexity, AUC: p.Validation.AUC, Folds: p.Folds,
		LogLoss: p.Validation.LogLoss, FoldsLogLoss: p.LogLoss, TestAUC: p.Test.AUC, Merit: p.Merit,
	}
	if p.Score != nil {
		q.Score = &frontier.Score{Value: *p.Score, Rows: evidence}
	}
	if p.ExpectedErrorCost != nil && p.ExpectedTotalCost != nil {
		q.Costs = &frontier.Costs{Errors: *p.ExpectedErrorCost, Total: *p.ExpectedTotalCost}
	}
	return q
}
