package inmemory

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// drawn draws objects of some numeric features, of which the class depends on the first.
func drawn(n, features, bins int) (*dataset.Objects, []split.Column) {
	r := rand.New(rand.NewPCG(7, 7))
	list := make([]dataset.Feature, features)
	for f := range list {
		list[f] = dataset.Feature{Name: strconv.Itoa(f), Kind: dataset.Numeric, Cost: 1}
		for b := 1; b < bins; b++ {
			list[f].Cuts = append(list[f].Cuts, float64(b))
		}
	}
	o := dataset.NewObjects(dataset.NewLayout(list), 2, false, n)
	codes := make([]int, features)
	for range n {
		for f := range codes {
			codes[f] = r.IntN(bins)
		}
		class := uint16(0)
		if r.IntN(bins) < codes[0]^codes[1] {
			class = 1
		}
		o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	return o, split.Columns(list)
}

// TestBytes: what the open nodes hold stays below the estimate, and below a bound unless
// a single tree needs more.
func TestBytes(t *testing.T) {
	const n = 30_000
	o, columns := drawn(n, 12, 40)
	var ps []induce.Params
	for _, lambda := range []float64{1, 3, 10, 100, 1000} {
		for _, family := range []split.Family{split.Thresholds, split.Both} {
			ps = append(ps, induce.Params{Algorithm: split.EC45, Family: family, Lambda: lambda, Theta: 0.0005})
		}
	}
	for _, test := range []struct {
		trees, workers int
		memory         int64
	}{{1, 1, 0}, {10, 1, 0}, {10, 3, 0}, {10, 3, 1 << 20}, {1, 2, 1}} {
		opts := Options{Workers: test.workers, Memory: test.memory}
		var g *grower
		var most atomic.Int64
		opts.Stop = func() bool {
			for held := g.held.Load(); ; {
				if seen := most.Load(); held <= seen || most.CompareAndSwap(seen, held) {
					return false
				}
			}
		}
		g = newGrower(o, columns, newTraits(o, split.OfObjects), ps[:test.trees], n, opts)
		g.grow(induce.Place{}, newWorkspaces(columns, 2, test.workers))
		estimate := Bytes(n, columns, 2, test.trees, test.workers)
		if test.memory > 0 {
			estimate = max(test.memory, least(n, columns, 2, test.trees))
		}
		if held := most.Load(); held > estimate || held == 0 {
			t.Errorf("%+v: %d bytes are held, more than the estimate of %d", test, held, estimate)
		}
		if g.held.Load() != 0 {
			t.Errorf("%+v: %d bytes are still held at the end", test, g.held.Load())
		}
	}
}
