package jobs

import (
	"context"
	"io"
	"sync"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// pool runs the tasks of one bundle on a fixed number of goroutines, its workers, in the
// order of their arrival. A task gets the number of its worker, to use memory that no
// other task uses at the same time.
type pool struct {
	slots chan struct{} // one element for each task that runs or waits
	wg    sync.WaitGroup

	mu    sync.Mutex
	idle  []int // numbers of the workers without a task
	queue []poolTask
	err   error // of the first task that failed
}

// poolTask is a task that waits for a worker.
type poolTask struct {
	ctx context.Context //nolint:containedctx // the task may run after do has returned
	run func(worker int) error
	end io.Closer // to close after run; may be nil
}

// rowGroupsAhead is the number of opened row groups that may wait for a worker. The
// Storage bounds the bytes that it fetches ahead for them.
const rowGroupsAhead = 64

// newPool returns a pool with a number of workers and of tasks that may wait.
func newPool(workers, waiting int) *pool {
	workers = max(1, workers)
	p := &pool{slots: make(chan struct{}, workers+waiting)}
	for i := range workers {
		p.idle = append(p.idle, workers-1-i)
	}
	return p
}

// do queues f for a worker. It blocks while the queue is full. It returns the first error
// of earlier tasks. After an error, or once the context has ended, f does not run.
func (p *pool) do(ctx context.Context, f func(worker int) error) error { return p.doWith(ctx, nil, f) }

// doWith is do with a Closer. It closes c after f, and also if f does not run.
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

// countWorker counts a goroutine of a bundle for Run.Wait. end ends the count.
func countWorker(ctx context.Context) (end func()) {
	r, err := runOf(ctx)
	if err != nil { // the run is over: its tasks fail, too
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
			p.fail(guard(worker, t.run))
		}
		if t.end != nil {
			_ = t.end.Close() // reading has returned its errors already
		}
		<-p.slots
	}
}

// next takes the first task of the queue; without one the worker becomes idle. failed: an
// earlier task failed, and this one must not run.
func (p *pool) next(worker int) (t poolTask, failed, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.idle = append(p.idle, worker)
		return t, false, false
	}
	t = p.queue[0]
	p.queue[0] = poolTask{} // frees the row group: the slice's array stays
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

// fail records the error of a task; the first one counts.
func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// guard turns a panic of a task into an error. In a goroutine other than the runner's own
// a panic would end the process.
func guard(worker int, f func(worker int) error) error {
	return parallel.Guard(func() error { return f(worker) })
}
