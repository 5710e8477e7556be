package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
)

// near compares two scores from different formulas, to 1e-11 of the larger of the
// score and 1. That is about 100 times their rounding error.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-11*max(1, math.Abs(a), math.Abs(b))
}

// settings are pairs of lambda and theta.
func settings() []setting {
	return []setting{{1, 0}, {0.1, 0.005}, {10, 0.005}, {100, 0.02}, {0, 0.1}, {1, 0.3}}
}

type setting struct{ lambda, theta float64 }

// TestScanner compares the closed form over histograms with the definition,
// object by object and test by test, on random nodes.
func TestScanner(t *testing.T) {
	nodes := 400
	if testing.Short() {
		nodes = 50
	}
	for _, a := range algorithms() {
		for _, family := range families() {
			t.Run(fmt.Sprintf("algorithm=%s/tests=%s", a, family), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(a), uint64(family)))
				for _, x := range settings() {
					criteria := make(map[int64]*split.Criterion)
					for _, total := range totals() {
						criteria[total] = split.NewCriterion(a, family, x.lambda, x.theta, total)
					}
					for range nodes / len(settings()) {
						n := randomNode(r)
						testScanner(t, n, criteria[n.total], a, family, x)
						if t.Failed() {
							t.Fatalf("%+v, %v", x, n)
						}
					}
				}
			})
		}
	}
}

func testScanner(t *testing.T, n *node, c *split.Criterion, a split.Algorithm, family split.Family, x setting) {
	t.Helper()
	s, totals, load := n.load(c, len(n.objects)%2 == 0)
	wantLeaf := pairs(n.objects) == 0 || float64(totals.Weight) <= x.theta*float64(n.total)*(1+1e-9)
	if got := c.IsLeaf(totals); got != wantLeaf {
		t.Errorf("leaf: %v, want %v", got, wantLeaf)
	}
	if wantLeaf {
		return
	}
	wantScores := slices.Repeat([]float64{math.Inf(-1)}, len(n.columns))
	for _, test := range n.tests(family) {
		want, ok := n.parts(&test, a, x)
		if !ok {
			continue
		}
		wantScores[test.Feature] = max(wantScores[test.Feature], want.Total)
		load(test.Feature)
		got, cells, codes := s.Parts(&test)
		if !near(got.Balance, want.Balance) || !near(got.Efficiency, want.Efficiency) ||
			!near(got.Discrimination, want.Discrimination) || !near(got.Total, want.Total) {
			t.Errorf("parts of %+v:\n%+v, want\n%+v", test, got, want)
		}
		wantCells, wantCodes := n.cells(&test.Test)
		if !slices.EqualFunc(cells, wantCells, slices.Equal) || !slices.Equal(codes, wantCodes) {
			t.Errorf("cells of %+v:\n%v of codes %v, want\n%v of %v", test, cells, codes, wantCells, wantCodes)
		}
	}
	scores := make([]float64, len(n.columns))
	for f := range scores {
		load(f)
		scores[f] = s.Scan()
		if !near(scores[f], wantScores[f]) {
			t.Errorf("best score of feature %d: %v, want %v", f, scores[f], wantScores[f])
		}
	}
	got, want := choose(s, scores, load), n.choose(family, a, x)
	if got.Test != want.Test || got.Cost != want.Cost || !near(got.Score, want.Score) {
		t.Errorf("chosen: %+v, want %+v", got, want)
	}
	if got.Kind == 0 {
		return
	}
	load(got.Feature)
	if p, _, _ := s.Parts(&got); p.Total != got.Score {
		t.Errorf("the score %v that the test was chosen by is not its parts' %v", got.Score, p.Total)
	}
}

// cells counts the outcomes of a test. For a multiway test it returns the codes with
// objects, and counts these only.
func (n *node) cells(t *split.Test) (cells [][]int64, codes []int32) {
	for x, objects := range n.part(t) {
		if t.Kind == split.Multiway && len(objects) == 0 || t.Kind != split.Multiway && x > 1 {
			continue
		}
		counted := make([]int64, 2*n.classes)
		for _, o := range objects {
			counted[2*o.class]++
			counted[2*o.class+1] += o.weight
		}
		cells = append(cells, counted)
		if t.Kind == split.Multiway {
			codes = append(codes, int32(x))
		}
	}
	return cells, codes
}

// tieCase is a node of four objects of two classes. All tests of the node divide the objects in the
// same way, or mirror each other, so their scores are equal.
type tieCase struct {
	name    string
	columns []split.Column
	codes   [][]int // by object
	want    split.Test
}

func tieCases() []tieCase {
	column := func(numeric bool, codes int, cost float64, costs ...float64) split.Column {
		return split.Column{Codes: codes, Numeric: numeric, Cost: cost, Costs: costs}
	}
	return []tieCase{
		{
			"first feature",
			[]split.Column{column(false, 4, 1), column(false, 4, 1)},
			[][]int{{0, 0}, {0, 0}, {1, 1}, {1, 1}},
			split.Test{Feature: 0, Kind: split.Equals, Code: 0},
		},
		{
			"cheapest feature",
			[]split.Column{column(false, 4, 2), column(false, 4, 1)},
			[][]int{{0, 0}, {0, 0}, {1, 1}, {1, 1}},
			split.Test{Feature: 1, Kind: split.Equals, Code: 0},
		},
		{
			"cheapest value",
			[]split.Column{column(false, 4, 2, 2, 1, 2, 2)},
			[][]int{{0}, {0}, {1}, {1}},
			split.Test{Feature: 0, Kind: split.Equals, Code: 1},
		},
		{
			"lowest threshold before bins",
			[]split.Column{column(true, 9, 1)},
			[][]int{{2}, {2}, {6}, {6}},
			split.Test{Feature: 0, Kind: split.Threshold, Code: 3},
		},
		{
			"threshold 1 sets missing apart",
			[]split.Column{column(true, 9, 1)},
			[][]int{{8}, {8}, {6}, {6}},
			split.Test{Feature: 0, Kind: split.Threshold, Code: 1},
		},
		{
			"bin before missing",
			[]split.Column{column(true, 9, 1)},
			[][]int{{8}, {8}, {0}, {0}},
			split.Test{Feature: 0, Kind: split.Bin, Code: 0},
		},
		{
			"other before missing",
			[]split.Column{column(false, 4, 1)},
			[][]int{{2}, {2}, {3}, {3}},
			split.Test{Feature: 0, Kind: split.Other, Code: 2},
		},
		{
			"one bin and missing",
			[]split.Column{column(true, 2, 1)},
			[][]int{{0}, {0}, {1}, {1}},
			split.Test{Feature: 0, Kind: split.Bin, Code: 0},
		},
		{"one code", []split.Column{column(true, 9, 1)}, [][]int{{3}, {3}, {3}, {3}}, split.Test{}},
	}
}

// TestChooseTies pins the tie rule by hand.
func TestChooseTies(t *testing.T) {
	for _, test := range tieCases() {
		t.Run(test.name, func(t *testing.T) {
			n := &node{columns: test.columns, classes: 2, total: 4}
			for i, codes := range test.codes {
				n.objects = append(n.objects, object{codes: codes, class: i / 2, weight: 1})
			}
			// C45: the cost is not in the score, but breaks ties
			c := split.NewCriterion(split.C45, split.Both, 1, 0, n.total)
			s, _, load := n.load(c, false)
			scores := make([]float64, len(n.columns))
			for f := range scores {
				load(f)
				scores[f] = s.Scan()
			}
			if got := choose(s, scores, load); got.Test != test.want {
				t.Errorf("chosen %+v, want %+v", got.Test, test.want)
			}
		})
	}
}
