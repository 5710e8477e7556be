package split

import (
	"math"
	"sync"
)

// xlogx tables m log2 m for small weights, where nearly all look-ups fall.
type xlogx struct{ table []float64 }

const xlogxTable = 1 << 14 // 128 KiB, so that it stays in the second-level cache

// newXlogx returns the table, which all criteria share: several score the same
// node, and two tables would drive each other out of the cache.
var newXlogx = sync.OnceValue(func() xlogx { //nolint:gochecknoglobals // a constant table
	t := make([]float64, xlogxTable)
	for m := 2; m < len(t); m++ {
		t[m] = float64(m) * log2(float64(m))
	}
	return xlogx{t}
})

func (x *xlogx) of(m int64) float64 {
	if uint64(m) < uint64(len(x.table)) {
		return x.table[m]
	}
	return float64(m) * log2(float64(m))
}

// log2 returns the binary logarithm of x >= 1, the same bits on all machines:
// math.Log2 is compiled to fused operations on some. The significand f lies in
// [sqrt(1/2), sqrt(2)), and log f = 2 atanh(s), s = (f-1)/(f+1), is a series
// in s of which the first term left out is below 2^-57 of the sum.
func log2(x float64) float64 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f *= 2
		e--
	}
	s := (f - 1) / (f + 1)
	z := s * s
	p := 1.0 / 23
	for k := 21; k >= 3; k -= 2 {
		p = float64(p*z) + 1/float64(k)
	}
	p = float64(p*z) * s // the series without its first term
	return float64(e) + float64((2/math.Ln2)*float64(s+p))
}
