package growtest

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
)

// Encode returns the JSON of grown nodes, with the counts of inner nodes.
func Encode(t *testing.T, nodes []tree.Node) string {
	t.Helper()
	return text(t, tree.SumUp(nodes))
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Near compares floats of two ways of computing a score: they agree to 1e-11 of
// the larger of them and 1, about 100 times their rounding.
func Near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-11*max(1, math.Abs(a), math.Abs(b))
}

// Compare reports the first nodes at which two trees differ, in scores by more than rounding.
func Compare(t *testing.T, got, want []tree.Node, path string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d nodes, want %d", path, len(got), len(want))
	}
	tree.SumUp(got)
	tree.SumUp(want)
	for i := range min(len(got), len(want)) {
		g := got[i]
		w := want[i]
		g.Test, w.Test = nil, nil
		if !reflect.DeepEqual(g, w) || !near(got[i].Test, want[i].Test) {
			t.Errorf("%s, node %d:\n%s, want\n%s", path, i, text(t, &got[i]), text(t, &want[i]))
			return
		}
	}
}

// near reports whether two tests are both absent, or are equal but for rounding of their scores.
func near(a, b *tree.Test) bool {
	if a == nil || b == nil {
		return a == b
	}
	p, q := a.Score, b.Score
	r, s := cmp.Or(a.RunnerUp, new(tree.RunnerUp)), cmp.Or(b.RunnerUp, new(tree.RunnerUp))
	return a.Test == b.Test && a.Cost == b.Cost && Near(p.Balance, q.Balance) && Near(p.Efficiency, q.Efficiency) &&
		Near(p.Discrimination, q.Discrimination) && Near(p.Total, q.Total) &&
		r.Test == s.Test && r.Cost == s.Cost && Near(r.Total, s.Total)
}

// Stopped checks that a tree is an upper part of the whole tree, and that each leaf records whether
// it was only stopped. It returns the number of stopped leaves.
func Stopped(t *testing.T, stopped, whole []tree.Node) (leaves int) {
	t.Helper()
	tree.SumUp(stopped)
	pairs := [][2]int{{0, 0}}
	for len(pairs) > 0 {
		a, b := &stopped[pairs[0][0]], &whole[pairs[0][1]]
		pairs = pairs[1:]
		if a.Objects != b.Objects || a.Rows != b.Rows || a.Weight != b.Weight {
			t.Fatalf("a node of %d objects, %d rows, weight %d; want %d, %d, %d",
				a.Objects, a.Rows, a.Weight, b.Objects, b.Rows, b.Weight)
		}
		if a.Leaf() {
			if b.Test != nil && !a.Stopped {
				t.Error("a stopped leaf does not say so")
			}
			if a.Stopped {
				leaves++
			}
			continue
		}
		if a.Test.Test != b.Test.Test || a.Test.Score != b.Test.Score {
			t.Fatalf("test %+v, want %+v", a.Test, b.Test)
		}
		for i := range a.Branches {
			pairs = append(pairs, [2]int{a.Branches[i].Child, b.Branches[i].Child})
		}
	}
	return leaves
}
