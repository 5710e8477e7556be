package certify_test

import (
	"fmt"
	"testing"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/split"
)

// BenchmarkBudget bounds trees within the budget of a run: over many
// objects and few features, and over few objects and many features.
func BenchmarkBudget(b *testing.B) {
	for _, shape := range []struct{ objects, features int }{{200_000, 20}, {2_000, 2_000}} {
		b.Run(fmt.Sprintf("objects=%d/features=%d", shape.objects, shape.features), func(b *testing.B) {
			d := someRows(shape.objects, shape.features)
			run := certify.Run{
				Trees: 20, Objects: int64(shape.objects), Rows: int64(shape.objects), Features: int64(shape.features),
			}
			opts := certify.Options{
				Algorithm: split.EC45, Family: split.Both, Theta: 0.0005, Lambda: 1, Seed: 1,
				Budget: run.Budget(),
			}
			b.ReportAllocs()
			for b.Loop() {
				certify.Certify(d, opts)
			}
		})
	}
}
