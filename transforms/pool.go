package transforms

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// pool runs the tasks of one bundle on a fixed number of workers. A worker has
// a number, by which tasks find memory that no other task uses meanwhile.
type pool struct {
	free chan int
	wg   sync.WaitGroup
	mu   sync.Mutex
	err  error
}

func newPool(workers int) *pool {
	p := &pool{free: make(chan int, max(1, workers))}
	for i := range cap(p.free) {
		p.free <- i
	}
	return p
}

func (p *pool) workers() int { return cap(p.free) }

// do runs f on a worker as soon as one is free; it waits for that, so that no
// more tasks are under way than there are workers. It returns the first error
// of any task. With one worker f has run when do returns.
func (p *pool) do(f func(worker int) error) error {
	worker := <-p.free
	if err := p.failed(); err != nil {
		p.free <- worker
		return err
	}
	if p.workers() == 1 {
		defer func() { p.free <- worker }()
		p.fail(guard(worker, f))
		return p.failed()
	}
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		defer func() { p.free <- worker }()
		p.fail(guard(worker, f))
	}()
	return nil
}

// wait waits for all tasks and returns the first error.
func (p *pool) wait() error {
	p.wg.Wait()
	return p.failed()
}

func (p *pool) fail(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pool) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// guard turns a panic into an error: outside of a runner's own goroutine it
// would end the process.
func guard(worker int, f func(worker int) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f(worker)
}
