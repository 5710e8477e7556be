package memory

import "math/bits"

// pool hands out slices and takes them back. Fresh memory costs more than its use, as
// the system clears it page by page.
type pool[T any] struct {
	idle [64][][]T // by the logarithm of their capacity
}

// get returns a slice of n elements of any values.
func (p *pool[T]) get(n int) []T {
	at := bits.Len(uint(n))
	for _, class := range []int{at, at + 1} { // the first may be too short, the second is not
		idle := p.idle[class]
		if last := len(idle) - 1; last >= 0 && cap(idle[last]) >= n {
			s := idle[last]
			idle[last] = nil
			p.idle[class] = idle[:last]
			return s[:n]
		}
	}
	return make([]T, n)
}

// put takes a slice back.
func (p *pool[T]) put(s []T) {
	if cap(s) > 0 {
		at := bits.Len(uint(cap(s)))
		p.idle[at] = append(p.idle[at], s)
	}
}
