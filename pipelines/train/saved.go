package train

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// saved returns what a later choice among the trees of a pool needs, see Promote.
func (c *choosing) saved(pool *frontier.Pool) *runfolder.Grown {
	g := &runfolder.Grown{
		Label: pool.Candidates[0].Tree.Label, Features: dataset.EncodeFeatures(c.Features),
		Candidates: frontier.AppendCandidates(nil, pool.Candidates), Scales: c.scales, Weighted: c.spec.Weighted(),
		GroupEffect: pool.GroupEffect, WeightEffect: pool.WeightEffect, LeafRows: c.Settings.LeafRows,
	}
	for i := range pool.Points {
		p := &pool.Points[i]
		if p.FoldShare == 0 {
			continue // no folds, for any point
		}
		figures := p.Folds.Figures()
		g.FoldShare = p.FoldShare
		g.FigureCount = len(figures)
		for _, x := range figures {
			g.Figures = append(g.Figures, *x)
		}
	}
	return g
}

// deflated compresses bytes.
func deflated(b []byte) []byte {
	var buffer bytes.Buffer
	w, err := flate.NewWriter(&buffer, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer takes all bytes
		panic(err)
	}
	return buffer.Bytes()
}

// damaged is the error for a grown.bin that is damaged.
func (p *promotion) damaged(err error) error {
	return &dataset.DataError{
		File: objectstore.Join(p.wish.Run, runfolder.GrownName), Problem: "the file is damaged: " + err.Error(), Hint: "train again",
	}
}

// rebuild makes the pool of the run's prunings again from grown.bin.
func (p *promotion) rebuild(ctx context.Context) error {
	if p.grown == nil {
		return nil
	}
	var err error
	if p.features, err = dataset.DecodeFeatures(p.grown.Features); err != nil {
		return p.damaged(err)
	}
	candidates, err := frontier.DecodeCandidates(p.grown.Candidates, p.grown.Label, p.features)
	if err != nil {
		return p.damaged(err)
	}
	p.parsed.Selection.LeafRows = p.grown.LeafRows // the figures are of these prunings
	if p.pool, err = selection.NewPool(ctx, host{p.Driver}, candidates, &p.parsed.Selection.Settings, p.priced); err != nil {
		return err
	}
	if p.dependent() || p.grown.WeightEffect > 1 {
		p.pool.Groups = func(*tree.Tree, dataset.Part) *tree.GroupCounts { return p.unknownGroups() }
	}
	g := p.grown
	p.pool.GroupEffect = g.GroupEffect
	p.pool.WeightEffect = g.WeightEffect
	p.pool.Association = p.frontier.Association
	if n := len(g.Figures); n > 0 && n != g.FigureCount*len(p.pool.Points) {
		return p.damaged(fmt.Errorf("%d figures of folds for %d prunings, want %d of each", n, len(p.pool.Points), g.FigureCount))
	}
	p.all = p.pool.Points
	if len(g.Figures) == 0 {
		return nil
	}
	for i := range p.pool.Points {
		q := &p.pool.Points[i]
		q.FoldShare = g.FoldShare
		for k, figure := range q.Folds.Figures() {
			if k < g.FigureCount { // earlier versions saved fewer figures
				*figure = g.Figures[i*g.FigureCount+k]
			}
		}
		if p.priced != nil {
			setDecided(&q.Folds, new(metric.Judgement))
		}
	}
	if p.priced != nil && len(g.FoldTrees) > 0 {
		const most = 64 * mostOfFolds // bytes, of a file that may be hostile
		encoded, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(g.FoldTrees)), most))
		if err == nil {
			p.pool.Points, err = crossvalidate.Price(encoded, p.pool, &g.Label, p.features)
		}
		if err != nil {
			return p.damaged(err)
		}
	}
	return nil
}

// dependent reports whether some rows of the run depend on each other, see dataset.Parting.Dependent.
func (p *promotion) dependent() bool {
	return p.config.Dependent() || len(p.manifest.CopiesBy) > 0
}

// unknownGroups returns the groups of rows that were not saved with the counts of the rows.
func (p *promotion) unknownGroups() *tree.GroupCounts {
	return &tree.GroupCounts{Keyed: p.dependent(), WeightEffect: p.grown.WeightEffect}
}

// frontierPoint returns the entry of frontier.json with the index i, for a point whose tree is t. Intervals are only
// known of trees without leaf models.
func frontierPoint(i int, p *frontier.Listed, t *tree.Tree, pool *frontier.Pool) runfolder.Point {
	q := runfolder.Point{
		Tree: runfolder.FrontierTree(i), Grown: p.Tree, Step: p.Step, Algorithm: t.Algorithm, Complexity: t.Complexity,
		Folds: p.Folds.AUC, Selected: p.Chosen, Highest: p.Highest, LeastTotal: p.LeastTotal,
		Validation: p.Validation, Test: p.Test,
		OnFolds: runfolder.OnFolds{
			LogLoss: p.Folds.LogLoss, Accuracy: p.Folds.Accuracy, ErrorCost: p.Folds.ErrorCost, TotalCost: p.Folds.TotalCost,
		},
		ExpectedErrorCost: p.Judged.ErrorCost, ExpectedTotalCost: p.Judged.TotalCost,
	}
	q.Validation.Interval = nil // OneSE measures it without models
	if p.Ridge == 0 && p.Boosted == 0 {
		q.Validation.Interval = pool.Interval(&p.Point, t, dataset.Validation)
		q.Test.Interval = pool.Interval(&p.Point, t, dataset.Test)
	}
	setMerits(&q, &p.Point, len(t.Label.Classes))
	return q
}

// setMerits sets the merits and the score of an entry of frontier.json.
func setMerits(q *runfolder.Point, p *frontier.Point, classes int) {
	figure := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	q.Merit = p.Merit
	q.Merits = nil
	if classes > 2 || p.By != frontier.AUC {
		q.Merits = &runfolder.Merits{
			AUC: figure(p.Merits[frontier.AUC]), LogLoss: figure(-p.Merits[frontier.LogLoss]),
			Accuracy: figure(p.Merits[frontier.Accuracy]),
		}
	}
	q.Score = nil
	if p.Score != nil {
		q.Score = &p.Score.Value
	}
}

// canonical returns the point without its currency if the tree is not pruned, as the currency then has no
// meaning.
func canonical(q frontier.Point) *frontier.Point {
	if q.Step == 0 {
		q.Currency = 0
	}
	return &q
}

// listedPoint returns the point of a choice for a point of f.
func listedPoint(p *runfolder.Point, f *runfolder.Frontier) frontier.Point {
	currency, _ := prune.ParseCurrency(p.Algorithm.Prune) // none: 0
	q := frontier.Point{
		Tree: p.Grown, Lambda: p.Algorithm.Lambda, Currency: currency, Step: p.Step, Ridge: p.Algorithm.Ridge,
		Boosted: p.Algorithm.BoosterTrees, Complexity: p.Complexity, Validation: p.Validation, Test: p.Test, Merit: p.Merit,
		Judged: metric.Judgement{ErrorCost: p.ExpectedErrorCost, TotalCost: p.ExpectedTotalCost}, By: f.Criterion(),
	}
	q.Merits[q.By] = q.Merit
	if m := p.Merits; m != nil && m.AUC != nil {
		q.Merits[frontier.AUC] = *m.AUC
	}
	if p.Score != nil {
		q.Score = &frontier.Score{Value: *p.Score, Rows: f.Evidence, Deviation: f.LogLossDeviation, RootLoss: f.LeafLogLoss}
	}
	return q
}
