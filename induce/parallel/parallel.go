// Package parallel runs functions on goroutines of their own. A panic in one of
// them is raised again on the goroutine that waits: one that nobody recovers would
// end the process, and with it the work of all other callers.
package parallel

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// PanicError is a panic of another goroutine.
type PanicError struct {
	Value any
	Stack []byte // of that goroutine
}

// Error says what the panic was, and where.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Unwrap returns the value of the panic, if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Group is a group of goroutines. Its zero value is empty.
type Group struct {
	wg    sync.WaitGroup
	first atomic.Pointer[PanicError]
}

// Go calls f on a goroutine of its own.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		var p *PanicError
		if err := Guard(func() error { f(); return nil }); errors.As(err, &p) {
			g.first.CompareAndSwap(nil, p)
		}
	})
}

// Wait waits for all goroutines. Did one of them panic, then it panics with the
// first *PanicError.
func (g *Group) Wait() {
	g.wg.Wait()
	if p := g.first.Load(); p != nil {
		panic(p)
	}
}

// Guard returns the error of f, a *PanicError if it panics.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if p, ok := r.(*PanicError); ok { // of a goroutine of f
				err = p
				return
			}
			err = &PanicError{r, debug.Stack()}
		}
	}()
	return f()
}

// Run calls f on n goroutines, or on the caller's own if n is at most 1.
func Run(n int, f func()) {
	if n <= 1 {
		f()
		return
	}
	var g Group
	for range n {
		g.Go(f)
	}
	g.Wait()
}

// Each calls f(0), f(1), .. f(n-1) on at most so many goroutines.
func Each(n, workers int, f func(i int)) {
	var next atomic.Int64
	Run(min(n, workers), func() {
		for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
			f(i)
		}
	})
}
