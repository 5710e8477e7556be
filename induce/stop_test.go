package induce_test

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// prefix reports whether a tree is the other one with some of its nodes cut to
// leaves.
func prefix(t *testing.T, cut, whole *induce.Node) (leaves int) {
	t.Helper()
	if cut.Objects != whole.Objects || cut.Rows != whole.Rows || cut.Weight != whole.Weight {
		t.Fatalf("a node of %d objects, %d rows, weight %d; want %d, %d, %d", cut.Objects, cut.Rows, cut.Weight, whole.Objects, whole.Rows, whole.Weight)
	}
	if cut.Test == nil {
		if whole.Test != nil && !cut.Cut {
			t.Error("a leaf that is cut does not say so")
		}
		if cut.Cut {
			leaves++
		}
		return leaves
	}
	if *cut.Test != *whole.Test {
		t.Fatalf("test %+v, want %+v", cut.Test, whole.Test)
	}
	for i := range cut.Children {
		leaves += prefix(t, cut.Children[i], whole.Children[i])
	}
	return leaves
}

// TestStop: growth that is stopped gives the tree that was there, its counts
// whole.
func TestStop(t *testing.T) {
	d := newData(rand.New(rand.NewPCG(7, 8)), someFeatures(), 3, 300, true)
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	whole := d.grow(p, 1)
	for _, calls := range []int{0, 1, 5, 20} {
		left := calls
		stopped := induce.Grow(d.objects, d.columns, p, d.total, 0, induce.Options{Stop: func() bool { left--; return left < 0 }})
		if cut := prefix(t, stopped, whole); cut == 0 {
			t.Errorf("stopped after %d nodes: no leaf was cut", calls)
		}
	}
}

// TestClose: large nodes that are closed become leaves with the rows that they
// have.
func TestClose(t *testing.T) {
	d := newData(rand.New(rand.NewPCG(9, 8)), someFeatures(), 3, 300, true)
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	whole := d.grow(p, 1)
	for levels := range 4 {
		g := newByLevels(t, d, p, 3, 10, 1000)
		growth := g.start()
		for range levels {
			children, err := g.levels.Expand(growth, g.levels.Passes(growth, g.memory), g.memory, 1, func(p *induce.Pass) (*induce.Counts, error) { return g.count(growth, p), nil })
			if err != nil {
				t.Fatal(err)
			}
			growth.Next(children, g.budget)
		}
		pass := growth.Close()
		g.levels.Fill(pass, g.count(growth, pass))
		g.growSmall(growth)
		growth.Root.SumUp()
		if cut := prefix(t, growth.Root, whole); cut != len(pass.Nodes) && levels == 0 {
			t.Errorf("%d levels: %d leaves are cut, want %d", levels, cut, len(pass.Nodes))
		}
	}
}
