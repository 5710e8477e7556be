package leafmodel_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// boosted returns trees with boosters on top of linear models, or on top of plain leaves.
func boosted(d *growtest.Data, o *dataset.Objects, trees []*tree.Tree, linear bool, workers int) [][]*leafmodel.Model {
	opts := leafmodel.Options{Ridge: 3, Workers: workers}
	o = leafmodel.Sorted(o, 0)
	models := make([][]*leafmodel.Model, len(trees))
	for i, t := range trees {
		models[i] = make([]*leafmodel.Model, len(t.Nodes))
	}
	if linear {
		models = leafmodel.Fit(o, d.Features, trees, opts)
	}
	return leafmodel.Boost(o, d.Features, trees, models, opts)
}

// TestBoostAlone: the boosters of a tree depend neither on the other trees, nor on the order of
// the objects, nor on the number of goroutines.
func TestBoostAlone(t *testing.T) {
	for _, classes := range []int{2, 4} {
		t.Run(fmt.Sprintf("classes=%d", classes), func(t *testing.T) {
			d, trees := forest(uint64(classes), classes, 3000)
			together := boosted(d, d.Objects, trees, true, 4)
			shuffled := d.Shuffled(rand.New(rand.NewPCG(5, 5))).Objects
			for i := range trees {
				alone := boosted(d, shuffled, trees[i:i+1], true, 1)
				a, b := leafmodel.Attach(trees[i], alone[0]), leafmodel.Attach(trees[i], together[i])
				if !reflect.DeepEqual(a.Nodes, b.Nodes) {
					t.Errorf("tree %d has other boosters alone", i)
				}
			}
		})
	}
}

// TestBoostPrunings: prunings of a tree share the boosters of the subtrees that they have in common, and
// have the same boosters alone.
func TestBoostPrunings(t *testing.T) {
	d, prunings := pruned(6000)
	for _, linear := range []bool{false, true} {
		together := boosted(d, d.Objects, prunings, linear, 4)
		users := make(map[*boost.Booster]map[int]bool) // trees
		for i := range prunings {
			alone := boosted(d, d.Objects, prunings[i:i+1], linear, 1)
			a, b := leafmodel.Attach(prunings[i], alone[0]), leafmodel.Attach(prunings[i], together[i])
			if !reflect.DeepEqual(a.Nodes, b.Nodes) {
				t.Errorf("pruning %d has other boosters alone", i)
			}
			for _, m := range together[i] {
				if m != nil && m.Leaf.Booster != nil {
					if users[m.Leaf.Booster] == nil {
						users[m.Leaf.Booster] = make(map[int]bool)
					}
					users[m.Leaf.Booster][i] = true
				}
			}
		}
		shared := 0
		for _, in := range users {
			if len(in) > 1 {
				shared++
			}
		}
		if shared == 0 {
			t.Errorf("linear %t: %d boosters, and no prunings share any", linear, len(users))
		}
	}
}

// TestBoost: all leaves below an inner node share its booster, whose features are asked for on
// each leaf's path, and the training objects' log loss falls.
func TestBoost(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, linear := range []bool{false, true} {
			t.Run(fmt.Sprintf("classes=%d/linear=%t", classes, linear), func(t *testing.T) {
				d, trees := forest(uint64(20+classes), classes, 4000)
				models := boosted(d, d.Objects, trees, linear, 0)
				o := leafmodel.Sorted(d.Objects, 0)
				before := leafmodel.Evaluate(o, d.Features, trees, leafmodel.Shorten(models, 0), 0)
				after := leafmodel.Evaluate(o, d.Features, trees, models, 0)
				boosters, shared := 0, false
				for i := range trees {
					if *after[i].LogLoss >= *before[i].LogLoss {
						t.Errorf("tree %d: log loss %.4f after %.4f, want less", i, *after[i].LogLoss, *before[i].LogLoss)
					}
					users := make(map[*boost.Booster]int)
					eachLeaf(leafmodel.Attach(trees[i], models[i]), func(leaf *tree.Node, asked []int) {
						if leaf.Model == nil || leaf.Model.Booster == nil {
							return
						}
						users[leaf.Model.Booster]++
						for _, f := range leaf.Model.Booster.Features() {
							if !slices.Contains(asked, f) {
								t.Errorf("tree %d: a booster uses %s, which the path does not ask for", i, d.Features[f].Name)
							}
						}
					})
					boosters += len(users)
					shared = shared || len(users) > 0 && slices.Max(slices.Collect(maps.Values(users))) > 1
				}
				if boosters == 0 || !shared {
					t.Errorf("%d boosters, shared by leaves: %t", boosters, shared)
				}
			})
		}
	}
}

// eachLeaf visits the leaves with the features that their paths ask for.
func eachLeaf(t *tree.Tree, visit func(leaf *tree.Node, asked []int)) {
	var walk func(at int, asked []int)
	walk = func(at int, asked []int) {
		n := &t.Nodes[at]
		if n.Leaf() {
			visit(n, asked)
		}
		for _, b := range n.Branches {
			walk(b.Child, append(slices.Clone(asked), n.Test.Feature))
		}
	}
	walk(0, nil)
}

// TestShorten: boosters keep their first trees, and leaves share them as before.
func TestShorten(t *testing.T) {
	d, trees := forest(30, 2, 4000)
	models := boosted(d, d.Objects, trees, true, 0)
	short := leafmodel.Shorten(models, 2)
	for i := range models {
		to := make(map[*boost.Booster]*boost.Booster)
		for k, m := range models[i] {
			if m == nil || m.Leaf.Booster == nil {
				continue
			}
			long, kept := m.Leaf.Booster, short[i][k].Leaf.Booster
			if to[long] == nil {
				to[long] = kept
			}
			if to[long] != kept {
				t.Errorf("tree %d: leaf %d no longer shares its booster", i, k)
			}
			if !reflect.DeepEqual(kept.Trees, long.Trees[:min(2, len(long.Trees))]) {
				t.Errorf("tree %d: leaf %d: %d trees, want the first 2", i, k, len(kept.Trees))
			}
		}
	}
}

func BenchmarkBoost(b *testing.B) {
	for _, classes := range []int{2, 4} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			d, trees := forest(1, classes, 20000)
			for b.Loop() {
				boosted(d, d.Objects, trees[:1], false, 1)
			}
		})
	}
}

// pruned returns objects, and up to eight prunings of a tree.
func pruned(objects int) (*growtest.Data, []*tree.Tree) {
	d, trees := forest(7, 2, objects)
	sequence := prune.NewSequences(trees[0], []prune.Currency{prune.Leaves}, split.Entropy)[0]
	var prunings []*tree.Tree
	for step := range min(8, len(sequence.Steps)) {
		prunings = append(prunings, sequence.Tree(step))
	}
	return d, prunings
}

// BenchmarkBoostPrunings fits boosters in prunings of one tree.
func BenchmarkBoostPrunings(b *testing.B) {
	d, prunings := pruned(20000)
	for b.Loop() {
		boosted(d, d.Objects, prunings, true, 1)
	}
}
