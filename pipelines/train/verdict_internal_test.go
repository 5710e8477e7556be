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
	// Of 100 rows 25 cost 1 and 25 cost 100, and each costs 3 for the test. Without it, the 50 rows of n called p cost 1 each.
	costly := stump([][]float64{{0, 1}, {100, 0}})
	costly.Nodes[0].Test.Cost = 3
	if v = verdictOnRows(costly, count(25, 25), "test"); v.better() || v.Class != 1 ||
		!strings.Contains(v.String(), "cost of tests and errors 28.2500 against 0.5000") {
		t.Errorf("%v: want a single leaf of class p, which costs 0.5", v)
	}
	// The tree does not err: the test has to cost less than 0.5, whatever the log loss.
	for cost, better := range map[float64]bool{.4: true, .6: false} {
		costly.Nodes[0].Test.Cost = cost
		if v = verdictOnRows(costly, count(0, 50), "test"); v.better() != better || v.LogLoss.Low <= 0 {
			t.Errorf("test of cost %v: %v, better: %v", cost, v, v.better())
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
	v := verdictOnFolds(stump(nil), []crossvalidate.Counterpart{fold(.9, .5), fold(.8, .5), fold(.7, .5)})
	if margin := 4.303 * math.Sqrt(2./3/2) / 10; math.Abs(v.LogLoss.Low-(.2-margin)) > 1e-4 || math.Abs(v.LogLoss.High-(.2+margin)) > 1e-4 {
		t.Errorf("interval %v to %v, want .2 -+ %v", v.LogLoss.Low, v.LogLoss.High, margin)
	}
	if v.better() || v.Rows != "30 rows in 3 folds" || v.Class != 0 {
		t.Errorf("%+v: want not better than the class n", v)
	}
	// To call each row n costs 40, as 40 % are p; to call each row p costs .6.
	if v = verdictOnFolds(stump([][]float64{{0, 1}, {100, 0}}), []crossvalidate.Counterpart{fold(.9, .5), fold(.8, .5)}); v.Class != 1 {
		t.Errorf("%+v: want a comparison with the class p, which is the cheapest without tests", v)
	}
	if v = verdictOnFolds(stump(nil), []crossvalidate.Counterpart{fold(.9, .6), fold(.8, .7), fold(.7, .65)}); !v.better() {
		t.Errorf("%+v: want better by accuracy", v)
	}
	if verdictOnFolds(stump(nil), []crossvalidate.Counterpart{fold(.9, .6)}) != nil {
		t.Error("a verdict on one fold")
	}
}
