package induce_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
		add(r, s, int32(i))
	}
	return s
}

// add draws an object of a selection: its class, its weight there and, of every other object, weights
// in some other classes.
func add(r *rand.Rand, s *induce.Selection, at int32) {
	class, weight := r.IntN(len(s.N)), int64(r.IntN(10))
	s.Order = append(s.Order, at)
	s.Class, s.Weight = append(s.Class, uint16(class)), append(s.Weight, weight)
	s.N[class]++
	s.M[class] += weight
	if r.IntN(2) == 0 {
		return
	}
	for k := range s.N {
		if k != class && r.IntN(2) == 0 {
			s.Shares = append(s.Shares, induce.Share{At: at, Class: uint16(k), Weight: int64(1 + r.IntN(9))})
			s.M[k] += s.Shares[len(s.Shares)-1].Weight
		}
	}
}

// TestColumnCounter compares the counts, with and without a common code, with the counts of the
// objects one by one.
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
			for _, share := range s.Shares {
				want[2*(codes.At(int(share.At))*classes+int(share.Class))+1] += share.Weight
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

// TestPacked compares packed counts with pairs: for all objects and for some, with weights and
// without, with a common code and without.
func TestPacked(t *testing.T) {
	const n, classes, codes = 300, 3, 290
	r := rand.New(rand.NewPCG(3, 4))
	for _, wide := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			for _, unit := range []bool{false, true} {
				for _, common := range []float64{0, 0.9} {
					drawn := drawCodes(r, n, min(codes, 256), common, wide)
					s := selected(r, n, classes)
					if all {
						s = everything(r, n, classes)
					}
					if unit {
						for i := range s.Weight {
							s.Weight[i] = 1
						}
						s.M, s.Shares = s.N, nil
					}
					c := induce.ColumnCounter{Codes: drawn, Common: induce.CommonCode(drawn, n, make([]int32, codes))}
					comparePacked(t, &c, s, codes, unit)
				}
			}
		}
	}
}

// everything returns all objects, with their numbers.
func everything(r *rand.Rand, n, classes int) *induce.Selection {
	s := selected(r, 0, classes)
	for i := range n {
		add(r, s, int32(i))
	}
	return s
}

func comparePacked(t *testing.T, c *induce.ColumnCounter, s *induce.Selection, codes int, unit bool) {
	t.Helper()
	classes := len(s.N)
	want := make([]int64, 2*classes*codes)
	c.Count(want, s)
	packed := *s
	packed.Packed = true
	if unit {
		packed.Weight = nil
	}
	orders := [][]int32{s.Order}
	if len(s.Order) > 0 && int(s.Order[len(s.Order)-1]) == len(s.Order)-1 {
		orders = append(orders, nil)
	}
	for _, packed.Order = range orders {
		cells, seen := make([]int64, classes*codes), make([]int64, classes*codes)
		c.Count(cells, &packed)
		codesSeen := c.CountSeen(seen, &packed, make([]uint64, (codes+63)/64), nil)
		pairs, pairsSeen := make([]int64, len(want)), make([]int64, len(want))
		present := induce.Unpack(pairs, cells, classes, nil)
		induce.UnpackCodes(pairsSeen, seen, classes, codesSeen)
		if !slices.Equal(pairs, want) || !slices.Equal(pairsSeen, want) || !slices.Equal(present, codesSeen) {
			t.Errorf("common code %d, unit %v, %d orders: other counts", c.Common, unit, len(orders))
		}
	}
	packed.Order = s.Order
	for _, sel := range []*induce.Selection{s, &packed} {
		cells := make([]int64, sel.Width()*codes)
		c.Count(cells, sel)
		c.Uncount(cells, sel)
		if slices.ContainsFunc(cells, func(x int64) bool { return x != 0 }) {
			t.Errorf("common code %d, packed %v: not all objects are taken away", c.Common, sel.Packed)
		}
	}
}

// BenchmarkCount counts the codes of one feature of 100,000 objects, of which each fourth
// is in the node.
func BenchmarkCount(b *testing.B) {
	const n, codes = 100_000, 200
	r := rand.New(rand.NewPCG(1, 1))
	for _, classes := range []int{2, 7} {
		all := everything(r, n, classes)
		s := induce.Selection{Weight: all.Weight[:n/4], N: all.N, M: all.M}
		for i := 0; i < n; i += 4 {
			s.Order, s.Class = append(s.Order, int32(i)), append(s.Class, all.Class[i])
		}
		var shares []induce.Share // shares of every other class, as a teacher gives them
		for i, id := range s.Order {
			for k := range uint16(classes) {
				if k != s.Class[i] {
					shares = append(shares, induce.Share{At: id, Class: k, Weight: 1 + r.Int64N(200)})
				}
			}
		}
		for _, wide := range []bool{false, true} {
			c := induce.ColumnCounter{Codes: drawCodes(r, n, codes, 0, wide), Common: -1}
			for _, cells := range []string{"pairs", "packed", "ones", "soft", "softpacked"} {
				counted := s
				counted.Packed = cells != "pairs" && cells != "soft"
				if cells == "ones" {
					counted.Weight = nil
				}
				if strings.HasPrefix(cells, "soft") {
					counted.Shares = shares
				}
				b.Run(fmt.Sprintf("classes=%d/wide=%v/cells=%s", classes, wide, cells), func(b *testing.B) {
					sums := make([]int64, 2*classes*codes)[:counted.Width()*codes]
					for b.Loop() {
						c.Count(sums, &counted)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n/4), "ns/object")
				})
			}
		}
	}
}

// TestLayout: the cells of the features lie side by side.
func TestLayout(t *testing.T) {
	l := induce.NewLayout([]split.Column{{Codes: 3}, {Codes: 5}, {Codes: 2}}, 2)
	if l.Cells() != 4*10 || l.CellsBetween(1, 3) != 4*7 || l.CellsBetween(1, 1) != 0 {
		t.Errorf("%d cells, %d of the last two features", l.Cells(), l.CellsBetween(1, 3))
	}
	cells := make([]int64, l.CellsBetween(1, 3)) // cells of the last two features
	cells[20] = 7
	if last := l.Column(cells, 2, 1); len(last) != 8 || last[0] != 7 {
		t.Errorf("the last feature has the cells %v", last)
	}
}
