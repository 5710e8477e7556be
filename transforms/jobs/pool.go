package jobs

import (
	"context"
	"io"
	"sync"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// pool runs the tasks of a bundle on a fixed number of goroutines, its workers, in order of
// arrival. A task gets the index of its worker, so that it can use memory that no other task uses
// at the same time.
type pool struct {
	slots chan struct{} // one element for each running or waiting task
	wg    sync.WaitGroup

	mu    sync.Mutex
	idle  []int // indexes of idle workers
	queue []poolTask
	err   error // error of the first task that failed
}

// poolTask is a task that waits for a worker.
type poolTask struct {
	ctx context.Context //nolint:containedctx // the task may run after do has returned
	run func(worker int) error
	end io.Closer // to close after run; may be nil
}

// rowGroupsAhead is how many opened row groups may wait for a worker. The Storage bounds the bytes
// that it fetches ahead for them.
const rowGroupsAhead = 64

// newPool returns a pool with this many workers, in which waiting tasks may wait.
func newPool(workers, waiting int) *pool {
	workers = max(1, workers)
	p := &pool{slots: make(chan struct{}, workers+waiting)}
	for i := range workers {
		p.idle = append(p.idle, workers-1-i)
	}
	return p
}

// do queues f for a worker, and blocks while the queue is full. It returns the first error of
// earlier tasks. After an error, or once the context has ended, f does not run.
func (p *pool) do(ctx context.Context, f func(worker int) error) error { return p.doWith(ctx, nil, f) }

// doWith is do with a Closer, which is closed after f, even if f does not run.
func (p *pool) doWith(ctx context.Context, c io.Closer, f func(worker int) error) error {
	p.slots <- struct{}{}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, poolTask{ctx, f, c})
	if n := len(p.idle); n > 0 {
		worker := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.wg.Add(1)
		end := countWorker(ctx)
		go func() {
			defer end()
			p.work(worker)
		}()
	}
	return p.err
}

// countWorker counts a goroutine of a bundle for Run.Wait, until end is called.
func countWorker(ctx context.Context) (end func()) {
	r, err := runOf(ctx)
	if err != nil { // the run has ended, so its tasks also fail
		return func() {}
	}
	r.workers.begin()
	return r.workers.end
}

// work runs tasks until the queue is empty.
func (p *pool) work(worker int) {
	defer p.wg.Done()
	for {
		t, failed, ok := p.next(worker)
		if !ok {
			return
		}
		switch {
		case failed:
		case t.ctx.Err() != nil:
			p.fail(context.Cause(t.ctx))
		default:
			// A panic in a goroutine other than the runner's own would end the process.
			p.fail(parallel.Guard(func() error { return t.run(worker) }))
		}
		if t.end != nil {
			_ = t.end.Close() // reading has already returned its errors
		}
		<-p.slots
	}
}

// next takes the first task of the queue, or makes the worker idle if the queue is empty. failed means
// that an earlier task failed, so that this task must not run.
func (p *pool) next(worker int) (t poolTask, failed, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.idle = append(p.idle, worker)
		return t, false, false
	}
	t = p.queue[0]
	p.queue[0] = poolTask{} // frees the row group, because the array of the slice stays
	p.queue = p.queue[1:]
	return t, p.err != nil, true
}

// wait waits for all tasks and returns the first error.
func (p *pool) wait() error {
	p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// fail records the error of a task, if it is the first.
func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
