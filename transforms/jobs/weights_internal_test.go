package jobs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/weighing"
)

// weighCase is a case of TestWeighClasses.
type weighCase struct {
	name        string
	weights     []int64 // of rows
	factors     []int64
	divisor     int64
	want        []int64 // of rows that have a part
	wantLeftOut []int
}

// weighCases lists row weights with the factors of classes, worked out by hand.
func weighCases() []weighCase {
	return []weighCase{
		{"rows count", nil, []int64{1_000_000, 0, 3_000_000}, weighing.FractionScale, []int64{1, 0, 3, 1, 1, 1, 3}, []int{1}},
		{
			"fractional factors", nil,
			[]int64{1_000_000, 500_000, 1},
			1,
			[]int64{1_000_000, 500_000, 1, 1, 1, 1, 1},
			nil,
		},
		{
			"whole weights",
			[]int64{2, 3, 4, 5, 6, 7, 8},
			[]int64{500_000, 2_000_000, 0},
			1,
			[]int64{1_000_000, 6_000_000, 0, 5, 6, 7, 0},
			[]int{2, 6},
		},
		{
			"fractional weights",
			[]int64{2_500_000, 1, 3, 5, 6, 7, 1},
			[]int64{2_000_000, 500_000, 499_999},
			weighing.FractionScale,
			[]int64{5_000_000, 1, 1, 5, 6, 7, 0},
			[]int{6},
		},
	}
}

// TestWeighClasses: by hand. Only training rows are weighed, and left out at 0.
func TestWeighClasses(t *testing.T) {
	const none, train, test = dataset.None, dataset.Train, dataset.Test
	parts := []dataset.Part{train, train, train, test, test, none, train}
	classes := []uint16{0, 1, 2, 1, 2, 0, 2}
	for _, c := range weighCases() {
		t.Run(c.name, func(t *testing.T) {
			g := &rowGroup{
				rows:     len(parts),
				RowGroup: fixedRows(len(parts)), weights: c.weights, parts: append([]dataset.Part(nil), parts...),
				spec: &RowSpec{Rule: weighing.Rule{ClassWeights: c.factors, ClassDivisor: c.divisor}},
			}
			g.weighClasses(classes)
			if diff := cmp.Diff(c.want, g.weights); diff != "" {
				t.Errorf("weights (-want +got):\n%s", diff)
			}
			var leftOut []int
			for r := range parts {
				if g.parts[r] != parts[r] {
					leftOut = append(leftOut, r)
				}
			}
			if diff := cmp.Diff(c.wantLeftOut, leftOut); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

// fixedRows is a row group without columns.
type fixedRows int

func (n fixedRows) Rows() int                                   { return int(n) }
func (fixedRows) ReadColumn(int, *dataset.Vector) error         { return nil }
func (fixedRows) ReadRows(int, int, int, *dataset.Vector) error { return nil }
func (fixedRows) PageRows() int                                 { return 0 }
func (fixedRows) Close() error                                  { return nil }
