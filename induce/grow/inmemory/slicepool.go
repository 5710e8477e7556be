package inmemory

import (
	"math/bits"
	"slices"
)

// slicePool keeps slices for reuse. New memory is expensive, as the system clears it page by
// page.
type slicePool[T any] struct {
	idle [64][][]T // by the bit length of their capacity
}

// get returns a slice of n elements with arbitrary values. If all idle slices of its size class are
// too short, one of them is dropped, which limits the size of the pool.
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

// put adds a slice to the pool.
func (p *slicePool[T]) put(s []T) {
	if cap(s) > 0 {
		at := bits.Len(uint(cap(s)))
		p.idle[at] = append(p.idle[at], s)
	}
}
