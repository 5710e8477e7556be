package split

import "testing"

// TestEqualShares: values with equal shares of the classes have no tests for sets, whatever the tests above the node have
// shown. All of these tests would tie with the best one, and each tie is measured exactly.
func TestEqualShares(t *testing.T) {
	const listed = 200
	for _, last := range []int64{1, 2} { // rows of class 1 among 6 of the last value; all others have 1
		h := Histogram{Cells: make([]int64, 4*(listed+2))}
		totals := make([]int64, 2)
		for code := range listed {
			one := int64(1)
			if code == listed-1 {
				one = last
			}
			copy(h.Cells[4*code:], []int64{6 - one, 6 - one, one, one})
			totals[0] += 6 - one
			totals[1] += one
		}
		c := NewCriterion(C45, Sets, 0, 0, 6*listed)
		s := NewScanner(c)
		s.Node(c.NewTotals(totals, totals), Heavy{})
		s.Load(0, &Column{Codes: listed + 2, Cost: 1, Prior: 1}, h, nil)
		if got, want := s.group(), last != 1; got != want {
			t.Errorf("the last value has %d rows of class 1: tests for sets are %t, want %t", last, got, want)
		}
	}
}
