package induce_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// drawCodes draws codes, of which a share is the code 1.
func drawCodes(r *rand.Rand, n, codes int, common float64, wide bool) *dataset.Codes {
	c := new(dataset.Codes)
	for range n {
		code := r.IntN(codes)
		if r.Float64() < common {
			code = 1
		}
		if wide {
			c.U16 = append(c.U16, uint16(code))
		} else {
			c.U8 = append(c.U8, uint8(code))
		}
	}
	return c
}

// selected draws some of the objects.
func selected(r *rand.Rand, n, classes int) *induce.Selection {
	s := &induce.Selection{N: make([]int64, classes), M: make([]int64, classes)}
	for i := range n {
		if r.IntN(3) > 0 {
			continue
		}
		class, weight := r.IntN(classes), int64(1+r.IntN(9))
		s.Order = append(s.Order, int32(i))
		s.Class, s.Weight = append(s.Class, uint16(class)), append(s.Weight, weight)
		s.N[class]++
		s.M[class] += weight
	}
	return s
}

// TestColumnCounter compares the counts, with a common code and without, with those of
// the objects one by one.
func TestColumnCounter(t *testing.T) {
	const n, classes = 500, 3
	for _, test := range []struct {
		codes  int
		common float64
		wide   bool
	}{{5, 0, false}, {5, 0.9, false}, {200, 0.95, false}, {300, 0, true}, {1000, 0.9, true}} {
		t.Run(fmt.Sprintf("codes=%d/common=%v", test.codes, test.common), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(test.codes), 1))
			codes, s := drawCodes(r, n, test.codes, test.common, test.wide), selected(r, n, classes)
			want, present := make([]int64, 2*classes*test.codes), map[int32]bool{}
			for i, id := range s.Order {
				code := codes.At(int(id))
				want[2*(code*classes+int(s.Class[i]))]++
				want[2*(code*classes+int(s.Class[i]))+1] += s.Weight[i]
				present[int32(code)] = true
			}
			common := induce.CommonCode(codes, n, make([]int32, test.codes))
			if (common == 1) != (test.common > 0) {
				t.Errorf("the common code is %d", common)
			}
			for _, c := range []induce.ColumnCounter{{Codes: codes, Common: -1}, {Codes: codes, Common: common}} {
				counted, seen := make([]int64, len(want)), make([]int64, len(want))
				c.Count(counted, s)
				got := c.CountSeen(seen, s, make([]uint64, (test.codes+63)/64), nil)
				if !slices.Equal(counted, want) || !slices.Equal(seen, want) {
					t.Errorf("common code %d: other counts", c.Common)
				}
				if len(got) != len(present) || !slices.IsSorted(got) {
					t.Errorf("common code %d: the codes %v, want %v", c.Common, got, present)
				}
			}
		})
	}
}

// TestLayout: the cells of the features lie side by side.
func TestLayout(t *testing.T) {
	l := induce.NewLayout([]split.Column{{Codes: 3}, {Codes: 5}, {Codes: 2}}, 2)
	if l.Cells() != 4*10 || l.CellsBetween(1, 3) != 4*7 || l.CellsBetween(1, 1) != 0 {
		t.Errorf("%d cells, %d of the last two features", l.Cells(), l.CellsBetween(1, 3))
	}
	cells := make([]int64, l.CellsBetween(1, 3)) // of the last two features
	cells[20] = 7
	if last := l.Column(cells, 2, 1); len(last) != 8 || last[0] != 7 {
		t.Errorf("the last feature has the cells %v", last)
	}
}
