package growtest

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// Encode returns the JSON of a tree.
func Encode(t *testing.T, n *induce.Node) string {
	t.Helper()
	b, err := json.Marshal(n)
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

// nearScores reports whether the scores of two nodes' tests are near.
func nearScores(a, b *induce.Node) bool {
	p := a.Parts
	q := b.Parts
	return Near(p.Balance, q.Balance) && Near(p.Efficiency, q.Efficiency) && Near(p.Discrimination, q.Discrimination) &&
		Near(p.Total, q.Total) && Near(a.Test.Score, b.Test.Score)
}

// Compare reports the first nodes of each path at which two trees differ, in
// scores by more than rounding.
func Compare(t *testing.T, got, want *induce.Node, path string) {
	t.Helper()
	g, w := *got, *want
	g.Children, w.Children, g.Test, w.Test, g.Parts, w.Parts = nil, nil, nil, nil, split.Parts{}, split.Parts{}
	g.RunnerUp, w.RunnerUp = nil, nil
	if Encode(t, &g) != Encode(t, &w) {
		t.Errorf("%s: counts\n%s, want\n%s", path, Encode(t, &g), Encode(t, &w))
		return
	}
	if got.Test == nil || want.Test == nil || len(got.Children) != len(want.Children) {
		if got.Test != nil || want.Test != nil {
			t.Errorf("%s: test %+v, want %+v", path, got.Test, want.Test)
		}
		return
	}
	if !alike(got.Test, want.Test) || !nearScores(got, want) {
		t.Errorf("%s: %+v with %+v, want\n%+v with %+v", path, *got.Test, got.Parts, *want.Test, want.Parts)
		return
	}
	if a, b := got.RunnerUp, want.RunnerUp; !alike(a, b) || a != nil && !Near(a.Score, b.Score) {
		t.Errorf("%s: runner-up %+v, want %+v", path, a, b)
		return
	}
	for i := range got.Children {
		Compare(t, got.Children[i], want.Children[i], fmt.Sprintf("%s/%d", path, i))
	}
}

// alike reports whether two tests are both absent, or are equal except for their scores.
func alike(a, b *split.Candidate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Test == b.Test && a.Cost == b.Cost && a.Own == b.Own
}

// Stopped checks that a tree is an upper part of the whole tree, and that each leaf records whether
// it was only stopped. It returns the number of stopped leaves.
func Stopped(t *testing.T, stopped, whole *induce.Node) (leaves int) {
	t.Helper()
	if stopped.Objects != whole.Objects || stopped.Rows != whole.Rows || stopped.Weight != whole.Weight {
		t.Fatalf("a node of %d objects, %d rows, weight %d; want %d, %d, %d",
			stopped.Objects, stopped.Rows, stopped.Weight, whole.Objects, whole.Rows, whole.Weight)
	}
	if stopped.Test == nil {
		if whole.Test != nil && !stopped.Stopped {
			t.Error("a stopped leaf does not say so")
		}
		if stopped.Stopped {
			leaves++
		}
		return leaves
	}
	if *stopped.Test != *whole.Test {
		t.Fatalf("test %+v, want %+v", stopped.Test, whole.Test)
	}
	for i := range stopped.Children {
		leaves += Stopped(t, stopped.Children[i], whole.Children[i])
	}
	return leaves
}
