package induce_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
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
		got := d.Grow(p, 1)
		got.BestFirst(leaves)
		if got.Leaves() > leaves {
			t.Errorf("seed %d: %d leaves, want at most %d", seed, got.Leaves(), leaves)
		}
		if growtest.Compare(t, got, want, "root"); t.Failed() {
			t.Fatalf("seed %d, %d leaves, %+v", seed, leaves, p)
		}
	}
	d := growtest.New(rand.New(rand.NewPCG(8, 8)), growtest.SomeFeatures(), 3, 80, false)
	p := induce.Params{Algorithm: split.CART, Family: split.Both}
	got := d.Grow(p, 1)
	got.BestFirst(0) // any number
	growtest.Compare(t, got, d.Grow(p, 1), "root")
}

// bestFirst grows a tree of at most so many leaves by opening the best node
// first; what a node opens into is copied from the full tree. A split that
// would make too many leaves is passed over.
func bestFirst(full *induce.Node, leaves int) *induce.Node {
	type open struct {
		from, to *induce.Node
		path     []int
	}
	closed := func(n *induce.Node) *induce.Node {
		c := *n
		c.Test, c.Parts, c.Outcomes, c.Children = nil, split.Parts{}, nil, nil
		return &c
	}
	root := closed(full)
	queue := []open{{full, root, nil}}
	for have := 1; len(queue) > 0; {
		slices.SortFunc(queue, func(a, b open) int {
			return cmp.Or(
				cmp.Compare(b.from.Parts.Total, a.from.Parts.Total),
				cmp.Compare(len(a.path), len(b.path)),
				slices.Compare(a.path, b.path),
			)
		})
		best := queue[0]
		queue = queue[1:]
		if best.from.Test == nil || have+len(best.from.Children)-1 > leaves {
			continue
		}
		have += len(best.from.Children) - 1
		best.to.Test, best.to.Parts, best.to.Outcomes = best.from.Test, best.from.Parts, best.from.Outcomes
		for i, child := range best.from.Children {
			to := closed(child)
			best.to.Children = append(best.to.Children, to)
			queue = append(queue, open{child, to, append(slices.Clone(best.path), i)})
		}
	}
	return root
}
