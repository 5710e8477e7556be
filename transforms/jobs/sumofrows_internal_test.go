package jobs

import (
	"math"
	"testing"
)

// TestSumOfRows: numbers of rows beyond 64 bits stay the greatest number, in any order.
func TestSumOfRows(t *testing.T) {
	var all RowStats
	for range 5 {
		all.Add(&RowStats{Rows: math.MaxInt64 / 3})
	}
	other := RowStats{Rows: 7}
	other.Add(&all)
	if all.Rows != math.MaxInt64 || other.Rows != math.MaxInt64 {
		t.Errorf("%d and %d rows, want %d", all.Rows, other.Rows, int64(math.MaxInt64))
	}
}
