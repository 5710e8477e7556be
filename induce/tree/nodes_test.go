package tree_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestBestFirst compares the tree cut back with growth that opens the best
// node first.
func TestBestFirst(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(7, seed))
		d := growtest.New(r, growtest.SomeFeatures(), 3, 80, false)
		p := growtest.RandomParams(r, growtest.Algorithms()[r.IntN(9)], growtest.Families()[r.IntN(4)])
		leaves := 1 + r.IntN(20)
		p.MaxLeaves = leaves
		want := bestFirst(d.Grow(p, 1), leaves)
		got := tree.BestFirst(d.Grow(p, 1), leaves)
		if n := (&tree.Tree{Nodes: got}).CountLeaves(); n > leaves {
			t.Errorf("seed %d: %d leaves, want at most %d", seed, n, leaves)
		}
		if growtest.Compare(t, got, want, "root"); t.Failed() {
			t.Fatalf("seed %d, %d leaves, %+v", seed, leaves, p)
		}
	}
	d := growtest.New(rand.New(rand.NewPCG(8, 8)), growtest.SomeFeatures(), 3, 80, false)
	p := induce.Params{Algorithm: split.CART, Family: split.Both}
	growtest.Compare(t, tree.BestFirst(d.Grow(p, 1), 0), d.Grow(p, 1), "any number")
}

// bestFirst grows a tree of at most the given number of leaves: the best node is
// split first, into its children in the full tree. A split that would make too
// many leaves is skipped.
func bestFirst(full []tree.Node, leaves int) []tree.Node {
	type open struct{ node, depth int }
	opened := make(map[int]bool)
	queue := []open{{}}
	for have := 1; len(queue) > 0; {
		slices.SortFunc(queue, func(a, b open) int {
			score := func(o open) float64 {
				if full[o.node].Leaf() {
					return math.Inf(-1)
				}
				return full[o.node].Test.Score.Total
			}
			return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.depth, b.depth), cmp.Compare(b.node, a.node))
		})
		best := queue[0]
		queue = queue[1:]
		branches := full[best.node].Branches
		if len(branches) == 0 || have+len(branches)-1 > leaves {
			continue
		}
		have += len(branches) - 1
		opened[best.node] = true
		for _, b := range branches {
			queue = append(queue, open{b.Child, best.depth + 1})
		}
	}
	for i := range full {
		if !opened[i] {
			full[i].Test, full[i].Branches = nil, nil
		}
	}
	return tree.Ordered(full)
}
