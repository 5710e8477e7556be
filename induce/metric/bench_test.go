package metric_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

// benchLeaves draws leaves with distinct probabilities, and with rows of few of many classes.
func benchLeaves(r *rand.Rand, n, classes int) []metric.Leaf {
	leaves := randomLeaves(r, n, classes, 1000)
	for i := range leaves {
		for k := range leaves[i].Probabilities {
			leaves[i].Probabilities[k] = r.Float64()
			if r.IntN(classes) > 20 {
				leaves[i].Rows -= leaves[i].Weights[k]
				leaves[i].Weights[k] = 0
			}
		}
	}
	return leaves
}

func BenchmarkEvaluate(b *testing.B) {
	for _, c := range []struct{ leaves, classes int }{
		{100, 2}, {10_000, 2}, {100_000, 2}, {1000, 7}, {10_000, 26}, {3000, 500},
	} {
		b.Run(fmt.Sprintf("leaves=%d/classes=%d", c.leaves, c.classes), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			leaves := benchLeaves(r, c.leaves, c.classes)
			class := slices.Repeat([]string{"a"}, c.classes)
			b.ReportAllocs()
			for b.Loop() {
				metric.Evaluate(leaves, class, 1)
			}
		})
	}
}

func BenchmarkArea(b *testing.B) {
	for _, c := range []struct{ leaves, classes int }{{100, 2}, {10_000, 2}, {1000, 7}, {10_000, 26}, {3000, 500}} {
		b.Run(fmt.Sprintf("leaves=%d/classes=%d", c.leaves, c.classes), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			leaves := benchLeaves(r, c.leaves, c.classes)
			b.ReportAllocs()
			for b.Loop() {
				metric.Area(leaves)
			}
		})
	}
}
