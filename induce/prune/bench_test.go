package prune_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
)

var benchTrees = []struct{ inner, classes int }{{500, 2}, {5000, 7}, {50_000, 7}}

func BenchmarkNewSequence(b *testing.B) {
	for _, c := range benchTrees {
		grown := randomTree(rand.New(rand.NewPCG(1, 1)), c.inner, c.classes, 1000)
		for _, currency := range currencies() {
			b.Run(fmt.Sprintf("%v/nodes=%d/classes=%d", currency, len(grown.Nodes), c.classes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					prune.NewSequence(grown, currency, split.Entropy)
				}
			})
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	for _, c := range benchTrees {
		r := rand.New(rand.NewPCG(1, 1))
		grown := randomTree(r, c.inner, c.classes, 1000)
		counts := randomCounts(r, grown, 1000)
		s := prune.NewSequence(grown, prune.Cost, split.Entropy)
		b.Run(fmt.Sprintf("nodes=%d/classes=%d/steps=%d", len(grown.Nodes), c.classes, len(s.Steps)),
			func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Sweep(counts)
				}
			})
	}
}
