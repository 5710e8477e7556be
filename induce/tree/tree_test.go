package tree_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/tree"
)

func TestParseEstimate(t *testing.T) {
	for i, name := range []string{"majority", "raw", "smoothed"} {
		e, err := tree.ParseEstimate(name)
		if err != nil || e != tree.Estimate(i+1) || e.String() != name {
			t.Errorf("parse %q: %v, %v", name, e, err)
		}
	}
	if _, err := tree.ParseEstimate(""); err == nil {
		t.Error(`parse "": no error`)
	}
	if got := tree.Estimate(9).String(); got != "unknown(9)" {
		t.Errorf("name of an unknown estimate: %q", got)
	}
}

// TestEstimate: smallTree by hand. Smoothed is (raw + m parent)/(total + m),
// m = 10 rows, from the root's raw frequencies on.
func TestEstimate(t *testing.T) {
	third := []float64{(4 + 10*0.6) / 22, (8 + 10*0.4) / 22} // node 2, below the root
	for _, test := range []struct {
		estimate tree.Estimate
		scale    int64
		want     [][]float64
		classes  []int
	}{
		{tree.Majority, 1, [][]float64{{.65, .35}, {1, 0}, {5. / 12, 7. / 12}, {0, 1}, {.5, .5}}, []int{0, 0, 1, 1, 0}},
		{tree.Raw, 1, [][]float64{{.6, .4}, {1, 0}, {4. / 12, 8. / 12}, {0, 1}, {.4, .6}}, []int{0, 0, 1, 1, 1}},
		{
			tree.Smoothed, 1, [][]float64{
				{.6, .4},
				{(8 + 10*0.6) / 18, 10 * 0.4 / 18},
				third,
				{10 * third[0] / 12, (2 + 10*third[1]) / 12},
				{(4 + 10*third[0]) / 20, (6 + 10*third[1]) / 20},
			}, []int{0, 0, 1, 1, 1},
		},
		{ // a row weighs 2: m is 20
			tree.Smoothed, 2, [][]float64{
				{.6, .4}, {20. / 28, 8. / 28}, {.5, .5}, {10. / 22, 12. / 22}, {14. / 30, 16. / 30},
			}, []int{0, 0, 0, 1, 1},
		},
	} {
		tr := smallTree()
		tr.Estimate(test.estimate, test.scale)
		for i, want := range test.want {
			n := &tr.Nodes[i]
			for k := range want {
				if d := n.Probabilities[k] - want[k]; d > 1e-15 || d < -1e-15 || n.Class != test.classes[i] {
					t.Errorf("%s, scale %d, node %d: class %d, probabilities %v, want %d, %v", test.estimate, test.scale, i, n.Class, n.Probabilities, test.classes[i], want)
				}
			}
		}
	}
}

// TestMeasure: smallTree by hand. All 20 pay 3 for the first test, 12 of them 2
// for the second.
func TestMeasure(t *testing.T) {
	tr := smallTree()
	want := tree.Complexity{ExpectedCost: (20*3. + 12*2.) / 20, ExpectedTests: 32. / 20, MaxCost: 5, Nodes: 5, Leaves: 3, Depth: 2}
	if diff := cmp.Diff(want, tr.Complexity); diff != "" {
		t.Errorf("complexity (-want +got):\n%s", diff)
	}
	tests, costs := tr.Path()
	if !cmp.Equal(tests, []int{0, 1, 1, 2, 2}) || !cmp.Equal(costs, []float64{0, 3, 3, 5, 5}) {
		t.Errorf("paths: tests %v, costs %v", tests, costs)
	}
	tr.Nodes = tr.Nodes[1:2] // a lone leaf
	tr.Measure()
	if diff := cmp.Diff(tree.Complexity{Nodes: 1, Leaves: 1}, tr.Complexity); diff != "" {
		t.Errorf("complexity of a leaf (-want +got):\n%s", diff)
	}
}

// randomCounts draws counts for the leaves of smallTree, of up to 60 bits.
func randomCounts(r *rand.Rand) *tree.LeafCounts {
	c := smallTree().NewLeafCounts()
	for i, weights := range c.Weights {
		for k := range weights {
			weights[k] = r.Int64N(1 << r.IntN(60))
			c.Rows[i] += weights[k] & 0xff
		}
	}
	return c
}

// TestLeafCounts: encoded counts add up like the counts themselves, one by one
// or merged first.
func TestLeafCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want, got, merged := smallTree().NewLeafCounts(), smallTree().NewLeafCounts(), smallTree().NewLeafCounts()
	var list [][]byte
	for range 5 {
		c := randomCounts(r)
		for i, weights := range c.Weights {
			want.Rows[i] += c.Rows[i]
			for k, w := range weights {
				want.Weights[i][k] += w
			}
		}
		list = append(list, c.Encode())
		if err := got.Add(c.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := tree.MergeLeafCounts(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := merged.Add(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one by one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got.Weights[0] != nil || got.Weights[2] != nil {
		t.Error("inner nodes have counts")
	}
}

// TestLeafCountsErrors: counts that were cut short, or that have bytes left
// over, are errors.
func TestLeafCountsErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		b := randomCounts(r).Encode()
		for size := range b {
			if err := smallTree().NewLeafCounts().Add(b[:size]); err == nil {
				t.Errorf("cut to %d of %d bytes: no error", size, len(b))
			}
			if _, err := tree.MergeLeafCounts([][]byte{b, b[:size]}); err == nil {
				t.Errorf("merged with itself cut to %d of %d bytes: no error", size, len(b))
			}
		}
		if err := smallTree().NewLeafCounts().Add(append(b, 0)); err == nil {
			t.Error("a byte too many: no error")
		}
	}
}
