package parallel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// TestEachUntil: each call is made once and counted; after the end of the context no call
// begins, and the cause of the end is returned.
func TestEachUntil(t *testing.T) {
	var s parallel.Steps
	var sum atomic.Int64
	if err := parallel.EachUntil(t.Context(), 100, &s.Done, func(i int) { sum.Add(int64(i)) }); err != nil {
		t.Fatal(err)
	}
	if s.Done.Load() != 100 || sum.Load() != 4950 {
		t.Errorf("%d calls of the sum %d, want 100 of the sum 4950", s.Done.Load(), sum.Load())
	}
	over := errors.New("the user ended it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if err := parallel.EachUntil(ctx, 10, &s.Done, func(int) { t.Error("a call after the end") }); !errors.Is(err, over) {
		t.Errorf("got %v, want the cause of the end", err)
	}
}

// TestAtOnce: all calls are made, also after an error; the first error by number is
// returned.
func TestAtOnce(t *testing.T) {
	seven, nine := errors.New("seven"), errors.New("nine")
	var calls atomic.Int64
	err := parallel.AtOnce(50, func(i int) error {
		calls.Add(1)
		return map[int]error{7: seven, 9: nine}[i]
	})
	if !errors.Is(err, seven) || calls.Load() != 50 {
		t.Errorf("%v after %d calls, want %v after 50", err, calls.Load(), seven)
	}
}

// TestGuardKeepsErrors: an error that a function panics with can be found in the error of
// Guard, whose text has the stack.
func TestGuardKeepsErrors(t *testing.T) {
	fault := errors.New("of a kernel")
	err := parallel.Guard(func() error { panic(fault) })
	if !errors.Is(err, fault) || !strings.Contains(err.Error(), "steps_test.go") {
		t.Errorf("got %v, want %v with its stack", err, fault)
	}
}
