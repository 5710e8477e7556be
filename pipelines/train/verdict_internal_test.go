package train

import (
	"math"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// stump is a tree of two leaves, with probabilities of the second class of .8 and .2; the root says .4.
func stump(costs [][]float64) *tree.Tree {
	t := &tree.Tree{Label: tree.Label{Classes: []string{"n", "p"}, ErrorCosts: costs}, Nodes: []tree.Node{
		{Probabilities: []float64{.6, .4}}, {Probabilities: []float64{.2, .8}, Class: 1}, {Probabilities: []float64{.8, .2}},
	}}
	t.Nodes[0].Test = &tree.Test{Test: split.Test{Kind: split.Threshold}}
	t.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2}}
	return t
}

// TestVerdictOnRows: by hand. Of 100 rows, 50 reach each leaf. If all have the likelier class of their leaf,
// the log loss is -ln .8, a leaf's is -(ln .6 + ln .4) / 2, and the accuracy 1 against .5.
func TestVerdictOnRows(t *testing.T) {
	count := func(n, p int64) *tree.LeafCounts {
		return &tree.LeafCounts{Weights: [][]int64{nil, {n, p}, {p, n}}, Rows: []int64{0, 50, 50}}
	}
	v := verdictOnRows(stump(nil), count(0, 50), "validation")
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	loss, leaf := -math.Log(.8), -(math.Log(.6)+math.Log(.4))/2
	near("log loss", v.LogLoss.Tree, loss)
	near("log loss of the leaf", v.LogLoss.Leaf, leaf)
	// The gains are ln(.8/.4) and ln(.8/.6), for half of the rows each.
	spread := (math.Log(2) - math.Log(.8/.6)) / 2 / math.Sqrt(99)
	near("low", v.LogLoss.Low, leaf-loss-1.96*spread)
	near("high", v.LogLoss.High, leaf-loss+1.96*spread)
	near("accuracy", v.Accuracy.Tree-v.Accuracy.Leaf, .5)
	if !v.better() || v.Rows != "100 validation rows" {
		t.Errorf("%+v: want better", v)
	}
	if v = verdictOnRows(stump(nil), count(25, 25), "validation"); v.better() || !strings.Contains(v.String(), "accuracy 0.5000 against 0.5000") {
		t.Errorf("%v: want not better, as the leaves have the classes evenly", v)
	}
	if v = verdictOnRows(stump([][]float64{{0, 1}, {100, 0}}), count(25, 25), "test"); v.better() || v.Accuracy.Tree != 25.25 ||
		v.Accuracy.Leaf != 50 || !strings.Contains(v.String(), "error cost 25.2500 against 50.0000") {
		// of 100 rows 25 cost 1 and 25 cost 100; a leaf that says n costs 100 for 50 rows
		if v.Accuracy.Low <= 0 {
			t.Errorf("%v", v)
		}
	}
	if verdictOnRows(stump(nil), stump(nil).NewLeafCounts(), "test") != nil {
		t.Error("a verdict without rows")
	}
}

// TestVerdictOnFolds: gains of .1, .2 and .3 have the mean .2 and the standard error sqrt(2/3 / 2) / 10, so
// by Student's t with 2 degrees of freedom the interval is .2 -+ 4.303 * .05774.
func TestVerdictOnFolds(t *testing.T) {
	fold := func(loss, accuracy float64) crossvalidate.Counterpart {
		score := func(loss, accuracy float64) prune.Score {
			return prune.Score{Judgement: metric.Judgement{LogLoss: &loss, Accuracy: &accuracy}}
		}
		return crossvalidate.Counterpart{Rows: 10, Score: score(loss, accuracy), Leaf: score(1, .5)}
	}
	v := verdictOnFolds([]crossvalidate.Counterpart{fold(.9, .5), fold(.8, .5), fold(.7, .5)})
	if margin := 4.303 * math.Sqrt(2./3/2) / 10; math.Abs(v.LogLoss.Low-(.2-margin)) > 1e-4 || math.Abs(v.LogLoss.High-(.2+margin)) > 1e-4 {
		t.Errorf("interval %v to %v, want .2 -+ %v", v.LogLoss.Low, v.LogLoss.High, margin)
	}
	if v.better() || v.Rows != "30 rows in 3 folds" {
		t.Errorf("%+v: want not better", v)
	}
	if v = verdictOnFolds([]crossvalidate.Counterpart{fold(.9, .6), fold(.8, .7), fold(.7, .65)}); !v.better() {
		t.Errorf("%+v: want better by accuracy", v)
	}
	if verdictOnFolds([]crossvalidate.Counterpart{fold(.9, .6)}) != nil {
		t.Error("a verdict on one fold")
	}
}
