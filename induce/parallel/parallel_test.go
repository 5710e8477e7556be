package parallel_test

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// TestPanics: the waiting goroutine gets the panic of any other goroutine, with its value and
// stack, after all goroutines have ended.
func TestPanics(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		var calls atomic.Int64
		err := parallel.Guard(func() error {
			parallel.Each(100, workers, func(i int) {
				if calls.Add(1); i == 3 {
					panic(io.ErrUnexpectedEOF)
				}
			})
			return nil
		})
		var p *parallel.PanicError
		if !errors.As(err, &p) || !errors.Is(err, io.ErrUnexpectedEOF) ||
			!strings.Contains(err.Error(), "parallel_test.go") {
			t.Errorf("%d workers: %v", workers, err)
		}
		if workers == 1 && calls.Load() != 4 {
			t.Errorf("%d calls", calls.Load())
		}
	}
	if err := parallel.Guard(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000} {
		seen := make([]atomic.Int64, n)
		parallel.Each(n, 4, func(i int) { seen[i].Add(1) })
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Errorf("%d of %d: %d calls", i, n, seen[i].Load())
			}
		}
	}
}
