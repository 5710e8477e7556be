package forest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/forest"
)

// BenchmarkGrow grows ten trees on one goroutine.
func BenchmarkGrow(b *testing.B) {
	for _, classes := range []int{2, 7} {
		for _, n := range []int{1000, 30_000} {
			b.Run(fmt.Sprintf("classes=%d/objects=%d", classes, n), func(b *testing.B) {
				features, o := rings(rand.New(rand.NewPCG(1, 2)), classes, n, 128)
				for b.Loop() {
					forest.Grow(o, features, forest.Options{Trees: 10, Features: 2, Workers: 1})
				}
			})
		}
	}
}

// BenchmarkOutOfBag rates objects by twenty trees.
func BenchmarkOutOfBag(b *testing.B) {
	for _, classes := range []int{2, 7} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			features, o := rings(rand.New(rand.NewPCG(1, 2)), classes, 30_000, 128)
			f := forest.Grow(o, features, forest.Options{Trees: 20, Features: 2, Workers: 1})
			for b.Loop() {
				f.OutOfBag()
			}
		})
	}
}

// BenchmarkMakeUp makes up as many objects as there are.
func BenchmarkMakeUp(b *testing.B) {
	features, o := rings(rand.New(rand.NewPCG(1, 2)), 2, 30_000, 128)
	for b.Loop() {
		forest.MakeUp(o, features, o.Len(), forest.Options{Seed: 1})
	}
}
