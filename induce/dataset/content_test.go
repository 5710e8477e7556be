package dataset_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestAddContent: equal rows have equal hashes, whatever the order of the columns and the form of their vectors.
func TestAddContent(t *testing.T) {
	plain := dataset.Vector{Type: dataset.Number, Numbers: []float64{1, 2, 1, math.NaN()}}
	indexed := dataset.Vector{Type: dataset.Number, Numbers: []float64{2, 1}, Index: []int32{1, 0, 1, -1}}
	texts := dataset.Vector{Type: dataset.Text, Texts: []string{"a", "b"}, Index: []int32{0, 1, 0, -1}}
	a, b := make([]uint64, 4), make([]uint64, 4)
	dataset.AddContent(a, "x", &plain)
	dataset.AddContent(a, "y", &texts)
	dataset.AddContent(b, "y", &texts)
	dataset.AddContent(b, "x", &indexed)
	for r := range a {
		if a[r] != b[r] {
			t.Errorf("row %d: hashes %x and %x", r, a[r], b[r])
		}
		for s := range r {
			if equal := r == 2 && s == 0; (a[r] == a[s]) != equal {
				t.Errorf("rows %d and %d: equal %v", s, r, !equal)
			}
		}
	}
}

// TestCopies: by hand. Ten rows have six contents, so that four rows repeat one. Two contents are neighbours in one
// column.
func TestCopies(t *testing.T) {
	c := dataset.Copies{
		Rows: 10, Contents: 6, Parts: [dataset.Parts]int64{7, 1, 2}, Trained: [dataset.Parts]int64{7, 0, 1},
	}
	c.CountNeighbours([]uint64{7, 3, 1, 3, 9, 8}, 1)
	if c.Neighbours != 2 || c.Repeated() != .4 || c.TrainedShare(dataset.Test) != .5 || !c.Real() {
		t.Errorf("%+v: %v repeated, %v of the test rows known, copies %v", c, c.Repeated(), c.TrainedShare(dataset.Test), c.Real())
	}
	if c.CountNeighbours([]uint64{7, 3, 7, 3, 9, 8}, 2); c.Neighbours != 8 || c.Real() {
		t.Errorf("%v neighbours of sampled contents, copies %v", c.Neighbours, c.Real())
	}
}

// TestCopiesOfOneColumn: all contents are neighbours if a single column is measured. Rows that occur equally often are
// copies, if their labels agree; rows that draw one of a few values, or equal values in any number, are none.
func TestCopiesOfOneColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 58))
	drawn := func(values, rows int) map[int]int {
		times := make(map[int]int)
		for range rows {
			times[int(float64(values)*math.Abs(r.NormFloat64()))]++
		}
		return times
	}
	each := func(values, times, copied int) map[int]int {
		of := make(map[int]int)
		for v := range values {
			if of[v] = 1; v < copied {
				of[v] = times
			}
		}
		return of
	}
	for name, c := range map[string]struct {
		times  map[int]int
		labels int
		copies bool
	}{
		"each row twice":                  {each(200, 2, 200), 1, true},
		"each row five times":             {each(100, 5, 100), 1, true},
		"a fifth of the rows twice":       {each(800, 2, 160), 1, true},
		"two cases of each day":           {each(200, 2, 200), 2, false},
		"a few rows twice":                {each(800, 2, 20), 1, false},
		"ages":                            {drawn(30, 1000), 1, false},
		"amounts":                         {drawn(1000, 1000), 1, false},
		"more values than rows":           {drawn(10000, 1000), 1, false},
		"many cases with a few values":    {drawn(40, 100000), 1, false},
		"many values, many cases of each": {drawn(3000, 100000), 1, false},
	} {
		var found dataset.Copies
		var rest []uint64
		for range c.times {
			rest = append(rest, 1)
		}
		for _, times := range c.times {
			found.Add(&dataset.Content{Parts: [dataset.Parts]int64{int64(times)}, Labels: min(times, c.labels)})
		}
		if found.CountNeighbours(rest, 1); found.Real() || found.Even() != c.copies {
			t.Errorf("%s: copies %v, by neighbours %v", name, found.Even(), found.Real())
		}
	}
}
