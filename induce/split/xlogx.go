package split

import (
	"sync"

	"github.com/espalier-ml/espalier/induce/portable"
)

// xlogx computes m log2 m, from a table for small weights. Nearly all weights are
// small.
type xlogx struct{ table []float64 }

const xlogxTable = 1 << 14 // entries, 128 KiB: it stays in the second-level cache

// newXlogx returns the table of all criteria. Several criteria score the same node,
// and two tables would drive each other out of the cache.
var newXlogx = sync.OnceValue(func() xlogx { //nolint:gochecknoglobals // a constant table
	t := make([]float64, xlogxTable)
	for m := 2; m < len(t); m++ {
		t[m] = float64(m) * portable.Log2(float64(m))
	}
	return xlogx{t}
})

// at returns m log2 m, and 0 for m = 0.
func (x *xlogx) at(m int64) float64 {
	if uint64(m) < uint64(len(x.table)) {
		return x.table[m]
	}
	return untabled(m)
}

// untabled computes m log2 m. It is a function of its own so that the compiler inlines
// the look-up.
//
//go:noinline
func untabled(m int64) float64 {
	if m == 0 {
		return 0
	}
	return float64(m) * portable.Log2(float64(m))
}
