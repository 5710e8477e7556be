package tree_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// question is a test on one of the features of asking, with its yes and no branch; nil is
// a leaf.
type question struct {
	feature int
	kind    split.Kind
	code    int
	yes, no *question
}

// asking makes a tree by hand. A node weighs 2^(3 - depth).
func asking(root *question) *tree.Tree {
	t := &tree.Tree{Features: []dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Cuts: []float64{10, 20, 30}},
		{Name: "job", Kind: dataset.Categorical, Values: []string{"a", "b", "c"}},
	}}
	type open struct {
		q      *question
		weight int64
	}
	queue := []open{{root, 8}}
	for at := 0; at < len(queue); at++ {
		q, n := queue[at].q, tree.Node{Weight: queue[at].weight}
		if q != nil {
			n.Test = &tree.Test{Test: split.Test{Feature: q.feature, Kind: q.kind, Code: q.code}}
			n.Branches = []tree.Branch{{Outcome: 1, Child: len(queue)}, {Outcome: 0, Child: len(queue) + 1}}
			queue = append(queue, open{q.yes, n.Weight / 2}, open{q.no, n.Weight / 2})
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t
}

func age(cut int, yes, no *question) *question { return &question{0, split.Threshold, cut, yes, no} }

func job(value int, yes, no *question) *question {
	return &question{1, split.Equals, value, yes, no}
}

// TestStability: by hand. The tree asks age at the root (weight 8), job on the yes
// side (node 1, weight 4), and there on no age again (node 4, weight 2).
func TestStability(t *testing.T) {
	tr := asking(age(2, job(1, nil, age(3, nil, nil)), nil))
	type agrees struct{ feature, test float64 }
	for name, test := range map[string]struct {
		other *question
		want  [3]agrees
	}{
		"the same": {
			age(2, job(1, nil, age(3, nil, nil)), nil),
			[3]agrees{{1, 1}, {1, 1}, {1, 1}},
		},
		"more of it": {age(2, job(1, age(1, nil, nil), age(3, nil, job(0, nil, nil))),
			job(2, nil, nil)), [3]agrees{{1, 1}, {1, 1}, {1, 1}}},
		"another cut, the sides stay": {
			age(1, job(1, nil, age(3, nil, nil)), nil),
			[3]agrees{{1, 0}, {1, 1}, {1, 1}},
		},
		"sides exchanged": {
			age(2, nil, job(1, nil, age(3, nil, nil))),
			[3]agrees{{1, 1}, {0, 0}, {0, 0}},
		},
		"another value, whose sides part": {
			age(2, job(0, nil, age(3, nil, nil)), nil),
			[3]agrees{{1, 1}, {1, 0}, {0, 0}},
		},
		"the answers of job exchanged": {
			age(2, job(1, age(3, nil, nil), nil), nil),
			[3]agrees{{1, 1}, {1, 1}, {0, 0}},
		},
		"another kind of test": {
			&question{0, split.Missing, 4, job(1, nil, age(3, nil, nil)), nil}, [3]agrees{{1, 0}, {0, 0}, {0, 0}},
		},
		"the order exchanged": {job(1, nil, age(2, nil, nil)), [3]agrees{{0, 0}, {0, 0}, {0, 0}}},
		"a leaf":              {nil, [3]agrees{{0, 0}, {0, 0}, {0, 0}}},
	} {
		want := &tree.Stability{SameFeature: new(float64), SameTest: new(float64)}
		for i, node := range []int{0, 1, 4} {
			a := test.want[i]
			want.Splits = append(want.Splits, tree.SplitStability{
				Node: node, Feature: []string{"age", "job", "age"}[i],
				SameFeature: a.feature, SameTest: a.test,
			})
			*want.SameFeature += a.feature * []float64{8, 4, 2}[i] / 14
			*want.SameTest += a.test * []float64{8, 4, 2}[i] / 14
		}
		if diff := cmp.Diff(want, tr.Stability([]*tree.Tree{asking(test.other)}), near()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(&tree.Stability{Splits: []tree.SplitStability{}},
		asking(nil).Stability([]*tree.Tree{tr})); diff != "" {
		t.Errorf("of a leaf (-want +got):\n%s", diff)
	}
}

func near() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })
}

// TestStabilityOfSeveral: by hand, shares of four trees.
func TestStabilityOfSeveral(t *testing.T) {
	tr := asking(age(2, job(1, nil, nil), nil))
	got := tr.Stability([]*tree.Tree{
		asking(age(2, nil, nil)), asking(age(1, job(1, nil, nil), nil)),
		asking(job(1, nil, nil)), asking(nil),
	})
	features, tests := (8*.5+4*.25)/12, (8*.25+4*.25)/12
	want := &tree.Stability{SameFeature: &features, SameTest: &tests, Splits: []tree.SplitStability{
		{Node: 0, Feature: "age", SameFeature: .5, SameTest: .25},
		{Node: 1, Feature: "job", SameFeature: .25, SameTest: .25},
	}}
	if diff := cmp.Diff(want, got, near()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStabilityProperties: a tree agrees fully with itself, and each of its prunings agrees
// fully with the tree. The tree agrees with a pruning only at the pruning's tests.
func TestStabilityProperties(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(6, seed))
		whole := randomTree(r, families()[seed%4], 10+r.IntN(80))
		s := prune.NewSequence(whole, prune.Leaves, split.Entropy)
		for step := range s.Steps {
			pruned := s.Tree(step)
			fully := pruned.Stability([]*tree.Tree{whole, pruned})
			asked, weight := 0.0, 0.0
			for i, one := range fully.Splits {
				if one.SameFeature != 1 || one.SameTest != 1 {
					t.Fatalf("seed %d, step %d: split %d: %+v", seed, step, i, one)
				}
				asked += float64(pruned.Nodes[one.Node].Weight)
			}
			if len(fully.Splits) != pruned.Complexity.Nodes-pruned.Complexity.Leaves {
				t.Fatalf("seed %d, step %d: %d splits of %+v", seed, step, len(fully.Splits), pruned.Complexity)
			}
			back := whole.Stability([]*tree.Tree{pruned})
			for _, one := range back.Splits {
				weight += float64(whole.Nodes[one.Node].Weight)
			}
			if got := *back.SameTest; got-asked/weight > 1e-12 || asked/weight-got > 1e-12 {
				t.Fatalf("seed %d, step %d: the whole tree agrees by %v, want the share that is still asked, %v", seed,
					step, got, asked/weight)
			}
		}
	}
}
