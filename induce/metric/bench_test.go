package metric_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/metric"
)

func BenchmarkEvaluate(b *testing.B) {
	for _, c := range []struct{ leaves, classes int }{{100, 2}, {10_000, 2}, {100_000, 2}, {1000, 7}, {10_000, 26}} {
		b.Run(fmt.Sprintf("leaves=%d/classes=%d", c.leaves, c.classes), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			leaves := randomLeaves(r, c.leaves, c.classes, 1000)
			for i := range leaves {
				for k := range leaves[i].Probabilities {
					leaves[i].Probabilities[k] = r.Float64()
				}
			}
			class := names(c.classes)
			b.ReportAllocs()
			for b.Loop() {
				metric.Evaluate(leaves, class, 1)
			}
		})
	}
}

func BenchmarkArea(b *testing.B) {
	for _, c := range []struct{ leaves, classes int }{{100, 2}, {10_000, 2}, {1000, 7}, {10_000, 26}} {
		b.Run(fmt.Sprintf("leaves=%d/classes=%d", c.leaves, c.classes), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			leaves := randomLeaves(r, c.leaves, c.classes, 1000)
			for i := range leaves {
				for k := range leaves[i].Probabilities {
					leaves[i].Probabilities[k] = r.Float64()
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				metric.Area(leaves)
			}
		})
	}
}
