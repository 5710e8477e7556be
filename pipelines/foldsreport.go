package pipelines

import (
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// newFoldsReport compares the chosen tree with those of its kind; nil: there are
// none.
func newFoldsReport(chosen *tree.Tree, grown []grownFold, p frontier.Point, prunings []pruning) *runfolder.Folds {
	if len(grown) == 0 {
		return nil
	}
	r := &runfolder.Folds{Count: len(grown)}
	trees := make([]*tree.Tree, len(grown))
	for fold := range grown {
		g := &grown[fold]
		at, step := g.step(p, prunings)
		trees[fold] = g.sequences[at].Tree(step)
		r.Each = append(r.Each, foldFigures(g.rows, trees[fold], &g.scores[at][step]))
	}
	r.Stability = chosen.Stability(trees)
	r.FillMeans()
	return r
}

func foldFigures(rows int64, t *tree.Tree, s *prune.Score) runfolder.FoldFigures {
	return runfolder.FoldFigures{
		Rows: rows, AUCOvRMacro: s.AUC, Accuracy: s.Accuracy, ExpectedCost: s.ExpectedCost, ExpectedBilledCost: s.ExpectedBilledCost,
		Leaves: t.Complexity.Leaves,
	}
}
