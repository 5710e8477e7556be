package split

import (
	"math"
	"sync"

	"github.com/espalier-ml/espalier/induce/portable"
)

// xlogx computes m log2 m, from a table for small weights. Nearly all weights are
// small.
type xlogx struct {
	table []float64
	logs  *[1 << nearBits]nearLog // of near
}

const xlogxTable = 1 << 14 // entries, 128 KiB: it stays in the second-level cache

// newXlogx returns the table of all criteria. Several criteria score the same node,
// and two tables would drive each other out of the cache.
var newXlogx = sync.OnceValue(func() xlogx { //nolint:gochecknoglobals // a constant table
	t := make([]float64, xlogxTable)
	for m := 2; m < len(t); m++ {
		t[m] = float64(m) * portable.Log2(float64(m))
	}
	return xlogx{t, nearLogs()}
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

// nearBits is the binary logarithm of the length of the table of near.
const nearBits = 9

type nearLog struct{ inverse, log float64 }

// nearLogs is the table of near: the binary logarithms of numbers in [1, 2), and their
// inverses.
var nearLogs = sync.OnceValue(func() *[1 << nearBits]nearLog { //nolint:gochecknoglobals // a constant table
	var t [1 << nearBits]nearLog
	for i := range t {
		x := 1 + float64((float64(i)+0.5)/(1<<nearBits))
		t[i] = nearLog{1 / x, portable.Log2(x)}
	}
	return &t
})

// near returns m log2 m, within 4 units of the last place. It is quicker than at for
// large m.
func (x *xlogx) near(m int64) float64 {
	if uint64(m) < uint64(len(x.table)) {
		return x.table[m]
	}
	return x.nearLarge(m)
}

// nearLarge computes m log2 m for m >= 1. The relative distance r to the nearest number
// of the table is below 2^-9, so that the first omitted term of the series is below
// 2^-56.
//
//go:noinline
func (x *xlogx) nearLarge(m int64) float64 {
	if x.logs == nil {
		return untabled(m)
	}
	const (
		mantissa = 52
		bias     = 1023
	)
	f := float64(m)
	b := math.Float64bits(f)
	l := &x.logs[b>>(mantissa-nearBits)&(1<<nearBits-1)]
	r := float64(math.Float64frombits(b&(1<<mantissa-1)|bias<<mantissa)*l.inverse) - 1
	series := 1/math.Ln2 - float64(r*(1/(2*math.Ln2)-float64(r*(1/(3*math.Ln2)-float64(r*(1/(4*math.Ln2)-
		float64(r*(1/(5*math.Ln2)))))))))
	return float64(f * (float64(int64(b>>mantissa)-bias) + (l.log + float64(r*series))))
}
