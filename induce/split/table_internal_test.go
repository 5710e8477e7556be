package split

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable: each outcome of a node has its own index, nodes of weighted or of many objects have no table, and a
// team looks up the tests of a small node.
func TestTable(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(60, seed))
		objects := make([]int64, 2+r.IntN(3))
		outcomes := 1
		for k := range objects {
			objects[k] = int64(1 + r.IntN(6))
			outcomes *= int(objects[k]) + 1
		}
		n := NewCriterion(EC45, Thresholds, 1, 0.1, 100).NewTotals(objects, objects)
		b := table{most: int64(outcomes)}
		b.begin(n, 1)
		for index := range outcomes {
			cells := slices.Clone(b.outcome(int32(index)))
			for k := range objects {
				if cells[2*k] < 0 || cells[2*k] > objects[k] || cells[2*k+1] != cells[2*k] {
					t.Fatalf("objects %v, index %d: cells %v", objects, index, cells)
				}
			}
			if got := b.index(cells); int(got) != index {
				t.Errorf("objects %v, cells %v: index %d, want %d", objects, cells, got, index)
			}
		}
		b.most--
		if b.begin(n, 1); len(b.strides) > 0 {
			t.Errorf("objects %v: a table of more than %d indexes", objects, b.most)
		}
		weights := slices.Clone(objects)
		weights[r.IntN(len(weights))]++
		b.most = int64(outcomes)
		if b.begin(NewCriterion(EC45, Thresholds, 1, 0.1, 100).NewTotals(objects, weights), 1); len(b.strides) > 0 {
			t.Errorf("objects %v with the weights %v have a table", objects, weights)
		}
	}
}

// TestTeamLooksUp: the estimates of a small node come from its table, unless the prices of a feature's tests differ.
func TestTeamLooksUp(t *testing.T) {
	c := NewCriterion(EC45, Both, 1, 0.1, 100)
	team := NewTeam(100)
	team.Node(c.NewTotals([]int64{4, 4}, []int64{4, 4}), Heavy{}, []*Criterion{c}, false)
	cells := Histogram{Cells: []int64{3, 3, 1, 1, 1, 1, 3, 3, 0, 0, 0, 0}}
	best := make([]Estimate, 1)
	for _, test := range []struct {
		column Column
		want   bool
	}{
		{Column{Codes: 3, Numeric: true, Cost: 1}, true},
		{Column{Codes: 3, Cost: 1}, true},
		{Column{Codes: 3, Cost: 1, Costs: []float64{1, 2, 3}}, false},
	} {
		team.Load(0, &test.column, cells, nil)
		team.Scan(best)
		if got := team.Strides(&test.column) != nil; got != test.want {
			t.Errorf("%+v: looked up: %v", test.column, got)
		}
		if best[0].Low > best[0].High || best[0].High < 0 {
			t.Errorf("%+v: estimate %+v", test.column, best[0])
		}
	}
}
