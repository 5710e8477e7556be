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

// BenchmarkTeam estimates the scores of all tests of one feature for the criteria of the
// default grid.
func BenchmarkTeam(b *testing.B) {
	for _, classes := range []int{2, 7} {
		for _, codes := range []int{6, 130, 500} {
			for _, objects := range []int{2000, 100_000} {
				b.Run(fmt.Sprintf("classes=%d/codes=%d/objects=%d", classes, codes, objects), func(b *testing.B) {
					benchmarkTeam(b, classes, codes, objects)
				})
			}
		}
	}
}

func benchmarkTeam(b *testing.B, classes, codes, objects int) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	n := &node{classes: classes, columns: []split.Column{{Codes: codes, Numeric: true, Cost: 1}}}
	for range objects {
		n.objects = append(n.objects, object{codes: []int{r.IntN(codes - 1)}, class: r.IntN(classes), weight: 1})
	}
	n.total = int64(2 * objects)
	var criteria []*split.Criterion
	for _, family := range []split.Family{split.Thresholds, split.Both} {
		for _, theta := range []float64{0.005, 0.0005} {
			for _, lambda := range []float64{10, 3, 30, 1000} {
				criteria = append(criteria, split.NewCriterion(split.EC45, family, lambda, theta, n.total))
			}
			criteria = append(criteria, split.NewCriterion(split.C45, family, 0, theta, n.total))
		}
	}
	_, totals, _ := n.load(split.NewCriterion(split.EC45, split.Both, 1, 0.0005, n.total), true)
	h, present := n.histogram(0)
	t := split.NewTeam(len(n.columns))
	best := make([]split.Estimate, len(criteria))
	for b.Loop() {
		t.Node(totals, split.Heavy{}, criteria, false)
		t.Load(0, &n.columns[0], h, present)
		t.Scan(best)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*len(present)*b.N), "ns/test")
}
