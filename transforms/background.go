package transforms

import (
	"runtime"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// background works on several elements of a bundle at once, for DoFns in the global window: the direct runner has one
// goroutine.
type background struct{ running []*work }

// work is the work on an element, and its results.
type work struct {
	group  parallel.Group
	values []keyedValue
	err    error
}

type keyedValue struct {
	key   int64
	value []byte
}

// StartBundle forgets the elements of a bundle that has failed.
func (b *background) StartBundle(func(int64, []byte)) { b.running = nil }

// do calls f on a new goroutine, which emits its results later. It emits the results of earlier elements if many are
// running.
func (b *background) do(f func(emit func(int64, []byte)) error, emit func(int64, []byte)) error {
	w := new(work)
	w.group.Go(func() {
		w.err = f(func(key int64, value []byte) { w.values = append(w.values, keyedValue{key, value}) })
	})
	b.running = append(b.running, w)
	return b.finish(runtime.GOMAXPROCS(0), emit)
}

// FinishBundle emits the results of all elements.
func (b *background) FinishBundle(emit func(int64, []byte)) error { return b.finish(0, emit) }

// finish emits the results of the earliest elements until at most the given number of elements are running.
func (b *background) finish(most int, emit func(int64, []byte)) error {
	for len(b.running) > most {
		w := b.running[0]
		b.running = b.running[1:]
		w.group.Wait()
		if w.err != nil {
			return w.err
		}
		for _, v := range w.values {
			emit(v.key, v.value)
		}
	}
	return nil
}
