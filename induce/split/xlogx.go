package split

import (
	"sync"

	"github.com/espalier-ml/espalier/induce/portable"
)

// xlogx tables m log2 m for small weights, where nearly all look-ups fall.
type xlogx struct{ table []float64 }

const xlogxTable = 1 << 14 // 128 KiB, so that it stays in the second-level cache

// newXlogx returns the table, which all criteria share: several score the same
// node, and two tables would drive each other out of the cache.
var newXlogx = sync.OnceValue(func() xlogx { //nolint:gochecknoglobals // a constant table
	t := make([]float64, xlogxTable)
	for m := 2; m < len(t); m++ {
		t[m] = float64(m) * portable.Log2(float64(m))
	}
	return xlogx{t}
})

func (x *xlogx) of(m int64) float64 {
	if uint64(m) < uint64(len(x.table)) {
		return x.table[m]
	}
	return untabled(m)
}

// untabled is kept apart so that the look-up is inlined.
//
//go:noinline
func untabled(m int64) float64 {
	if m == 0 {
		return 0
	}
	return float64(m) * portable.Log2(float64(m))
}
