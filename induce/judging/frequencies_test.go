package judging_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestFrequencies: priors are the frequencies. With class weights they are the shares of the weighted training
// rows: by hand.
func TestFrequencies(t *testing.T) {
	root := []tree.Node{{RawClassWeights: []int64{1, 3}}}
	for name, c := range map[string]struct {
		tree tree.Tree
		want []float64
	}{
		"rows as they are": {tree.Tree{Nodes: root}, nil},
		"priors":           {tree.Tree{Nodes: root, Label: tree.Label{Priors: []float64{.9, .1}}}, []float64{.9, .1}},
		"class weights":    {tree.Tree{Nodes: root, Training: tree.Training{Weights: tree.WeightsByClass}}, []float64{.25, .75}},
		"both": {
			tree.Tree{
				Nodes: root, Label: tree.Label{Priors: []float64{.9, .1}}, Training: tree.Training{Weights: tree.WeightsByClass},
			},
			[]float64{.9, .1},
		},
	} {
		if diff := cmp.Diff(c.want, judging.Frequencies(&c.tree)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestFactors: multiplied weights have the class frequencies. A class without rows has no part in them.
func TestFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 6))
	for range 200 {
		classes := 2 + r.IntN(4)
		weights, frequencies, seen := make([]int64, classes), make([]float64, classes), 0.0
		for k := range weights {
			weights[k], frequencies[k] = r.Int64N(1<<r.IntN(45)), r.Float64()
			if weights[k] > 0 {
				seen += frequencies[k]
			}
		}
		factors, total := judging.FactorsOf(frequencies, weights), 0.0
		if seen == 0 {
			continue
		}
		for k, w := range weights {
			total += float64(factors.Weight(k, w))
		}
		for k, w := range weights {
			want := frequencies[k] / seen
			if w == 0 {
				want = 0
			}
			if got := float64(factors.Weight(k, w)) / total; math.Abs(got-want) > 1e-9 {
				t.Errorf("weights %v: share %v of class %d, want %v", weights, got, k, want)
			}
		}
	}
	if f := judging.FactorsOf(nil, []int64{1, 2}); f != nil || f.Weight(1, 7) != 7 {
		t.Errorf("factors %v without frequencies", f)
	}
	if f := judging.FactorsOf([]float64{.5, .5}, []int64{0, 0}); f != nil {
		t.Errorf("factors %v without rows", f)
	}
}

// TestCounts: a case-control sample, 5 of 10 rows ill, judged where 2 % are ill. By hand: at the leaf with 4 ill and
// 1 healthy rows the share of the ill is .8 * .02 / (.8 * .02 + .2 * .98).
func TestCounts(t *testing.T) {
	counts := &tree.LeafCounts{Weights: [][]int64{nil, {4, 1}, {1, 4}}, Rows: []int64{0, 5, 5}}
	factors := judging.FactorsOf([]float64{.02, .98}, judging.ClassWeights(counts, 2))
	judged := factors.Counts(counts)
	if judged.Weights[0] != nil || judged.TotalRows() != 10 {
		t.Errorf("judged counts %+v", judged)
	}
	ill, healthy := float64(judged.Weights[1][0]), float64(judged.Weights[1][1])
	if got, want := ill/(ill+healthy), .8*.02/(.8*.02+.2*.98); math.Abs(got-want) > 1e-12 {
		t.Errorf("share of the ill %v, want %v", got, want)
	}
	if same := (*judging.Factors)(nil).Counts(counts); same != counts {
		t.Error("without factors the counts are others")
	}
}
