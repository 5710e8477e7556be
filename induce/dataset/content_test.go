package dataset_test

import (
	"math"
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
