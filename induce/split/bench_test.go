package split_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
)

// BenchmarkScan scores all tests of one feature of a node of 10,000 objects.
func BenchmarkScan(b *testing.B) {
	for _, kind := range []string{"threshold", "onehot"} {
		for _, a := range []split.Algorithm{split.EC45, split.CART} {
			for _, classes := range []int{2, 7, 40} {
				for _, codes := range []int{6, 130} {
					name := fmt.Sprintf("tests=%s/algorithm=%s/classes=%d/codes=%d", kind, a, classes, codes)
					b.Run(name, func(b *testing.B) { benchmarkScan(b, kind, a, classes, codes) })
				}
			}
		}
	}
}

func benchmarkScan(b *testing.B, kind string, a split.Algorithm, classes, codes int) {
	b.Helper()
	family, err := split.ParseFamily(kind)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	n := &node{classes: classes, columns: []split.Column{{Codes: codes, Numeric: true, Cost: 1}}}
	for range 10_000 {
		n.objects = append(n.objects, object{
			codes: []int{r.IntN(codes - 1)}, class: r.IntN(classes),
			weight: int64(1 + r.IntN(3)),
		})
	}
	n.total = n.weight(n.objects)
	s, _, load := n.load(split.NewCriterion(a, family, 1, 0.005, n.total), true)
	load(0)
	b.SetBytes(int64(16 * classes * codes))
	for b.Loop() {
		s.Scan()
	}
	b.ReportMetric(float64(codes*b.N)/b.Elapsed().Seconds(), "tests/s")
}
