package memory

import (
	"math/bits"
	"slices"
)

// slicePool hands out slices and takes them back. Fresh memory costs more than its use, as
// the system clears it page by page.
type slicePool[T any] struct {
	idle [64][][]T // by the logarithm of their capacity
}

// get returns a slice of n elements of any values. Where the idle slices of its size are
// all too short, it drops one of them: so few are kept in all.
func (p *slicePool[T]) get(n int) []T {
	at := bits.Len(uint(n))
	for _, class := range []int{at, at + 1} {
		idle := p.idle[class]
		for i := len(idle) - 1; i >= 0; i-- {
			if cap(idle[i]) >= n {
				s := idle[i]
				p.idle[class] = slices.Delete(idle, i, i+1)
				return s[:n]
			}
		}
	}
	if idle := p.idle[at]; len(idle) > 0 {
		p.idle[at] = slices.Delete(idle, 0, 1)
	}
	return make([]T, n)
}

// put takes a slice back.
func (p *slicePool[T]) put(s []T) {
	if cap(s) > 0 {
		at := bits.Len(uint(cap(s)))
		p.idle[at] = append(p.idle[at], s)
	}
}
