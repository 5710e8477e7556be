// Package parallel runs functions on new goroutines. The waiting goroutine raises
// their panics again: an unrecovered panic of another goroutine would end the
// process, and with it the work of all other callers.
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
	Value any    // argument of panic
	Stack []byte // stack of the goroutine
}

// Error returns the panic's value and stack.
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

// Go calls f on a new goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		var p *PanicError
		if err := Guard(func() error { f(); return nil }); errors.As(err, &p) {
			g.first.CompareAndSwap(nil, p)
		}
	})
}

// Wait waits for all goroutines. If one of them panicked, Wait panics with the first
// *PanicError.
func (g *Group) Wait() {
	g.wg.Wait()
	if p := g.first.Load(); p != nil {
		panic(p)
	}
}

// Guard calls f and returns its error. If f panics, the error is a *PanicError.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if p, ok := r.(*PanicError); ok { // raised again by Wait inside f
				err = p
				return
			}
			err = &PanicError{r, debug.Stack()}
		}
	}()
	return f()
}

// Run calls f on each of n new goroutines, or once on the caller's if n is at most 1.
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

// Each calls f(0), f(1), .. f(n-1) on at most the given number of goroutines.
func Each(n, workers int, f func(i int)) {
	var next atomic.Int64
	Run(min(n, workers), func() {
		for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
			f(i)
		}
	})
}
