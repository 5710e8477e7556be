package crossvalidate_test

import (
	"cmp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestSmooth: the pruning that has the least log loss with the usual strength, on the validation rows and the
// folds together, has the least log loss of all strengths with the chosen one, except for a tenth of a percent
// in favour of the usual strength. With more than two classes, strengths depend on the classes in a node. All trees, including the trees of the folds, then have the probabilities of
// this strength, and say so.
func TestSmooth(t *testing.T) {
	for seed := range uint64(12) {
		d := everyOf(seed, 2+int(seed/6))
		p := d.pool(t)
		var folds []crossvalidate.Fold
		if seed%2 == 0 {
			var err error
			if folds, err = grown(t, d.growth(4), p, new(atomic.Int64)); err != nil {
				t.Fatal(err)
			}
		}
		by, wrong := frontier.AUC, 0.0
		if seed%3 == 2 {
			by, wrong = frontier.Accuracy, frontier.ErrorLoss(p.Candidates[0].Tree.Nodes[0].Probabilities)
		}
		usual := tree.Smoothing{Rows: 10}
		strengths := []tree.Smoothing{usual}
		many := len(p.Candidates[0].Tree.Label.Classes) > 2
		for _, rows := range []float64{3, 10, 30, 100} {
			if many || rows != 10 {
				strengths = append(strengths, tree.Smoothing{Rows: rows, ByClasses: many})
			}
		}
		decides := -1                             // index of the pruning
		least := make(map[tree.Smoothing]float64) // its log loss by strength
		for _, strength := range strengths {
			for i := range p.Candidates {
				p.Candidates[i].Tree.Smooth(strength)
			}
			crossvalidate.SmoothFolds(folds, strength)
			losses := lossesOf(t, folds, p, wrong)
			if strength == usual || by == frontier.Accuracy {
				decides = slices.Index(losses, slices.Min(losses))
			}
			least[strength] = losses[decides]
		}
		least[usual] *= .999
		for i := range p.Candidates {
			p.Candidates[i].Tree.Smooth(usual)
		}
		crossvalidate.SmoothFolds(folds, usual)
		crossvalidate.Smooth(folds, p, by)
		chosen := p.Candidates[0].Tree.Algorithm
		got := tree.Smoothing{Rows: cmp.Or(chosen.Smoothing, 10), ByClasses: chosen.SmoothingBy == "classes"}
		for strength, loss := range least {
			if loss < least[got]-1e-12 {
				t.Errorf("seed %d: %+v has a log loss of %v, the chosen %+v has %v", seed, strength, loss, got, least[got])
			}
		}
		for _, c := range crossvalidate.Counterparts(folds, p, &p.Points[0]) {
			if a := c.Tree.Algorithm; a.Smoothing != chosen.Smoothing || a.SmoothingBy != chosen.SmoothingBy {
				t.Errorf("seed %d: a fold smooths by %v %s, the pool by %+v", seed, a.Smoothing, a.SmoothingBy, got)
			}
		}
	}
}

// lossesOf scores the points again, and returns their log losses, to which a wrong prediction adds a number of nats.
func lossesOf(t *testing.T, folds []crossvalidate.Fold, p *frontier.Pool, wrong float64) []float64 {
	t.Helper()
	if err := p.Score(t.Context(), new(atomic.Int64)); err != nil {
		t.Fatal(err)
	}
	for i := range folds {
		folds[i].Score()
	}
	crossvalidate.SetAreas(folds, p)
	var losses []float64
	for i := range p.Points {
		q := &p.Points[i]
		loss := *q.Validation.LogLoss + wrong*(1-*q.Validation.Accuracy)
		if q.Folds.LogLoss != nil {
			loss = (1-q.FoldShare)*loss + q.FoldShare*(*q.Folds.LogLoss+wrong*(1-*q.Folds.Accuracy))
		}
		losses = append(losses, loss)
	}
	return losses
}

// TestSmoothWithoutRows: where no row tells, the usual strength stays.
func TestSmoothWithoutRows(t *testing.T) {
	p := every(1).pool(t)
	for i := range p.Candidates {
		c := &p.Candidates[i]
		c.Counts[dataset.Validation] = c.Tree.NewLeafCounts()
	}
	empty, err := frontier.NewPool(t.Context(), p.Candidates, &frontier.Settings{}, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	crossvalidate.Smooth(nil, empty, frontier.AUC)
	if got := p.Candidates[0].Tree.Algorithm.Smoothing; got != 0 {
		t.Errorf("smoothing of %v rows", got)
	}
}
