package jobs

import (
	"context"
	"io"
	"sync"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// pool runs the tasks of one bundle on a fixed number of workers, in the order
// in which they came. A worker has a number, by which tasks find memory that no
// other task uses meanwhile.
type pool struct {
	slots chan struct{} // one per task that is under way or waits
	wg    sync.WaitGroup

	mu    sync.Mutex
	free  []int // workers
	queue []poolTask
	err   error
}

type poolTask struct {
	ctx context.Context //nolint:containedctx // the task's, which may wait
	run func(worker int) error
	end io.Closer // may be nil
}

// rowGroupsAhead is the number of row groups that wait, opened, for a worker.
// What an object store sends of them meanwhile is bounded by the bytes that
// the Storage fetches ahead.
const rowGroupsAhead = 64

// newPool returns a pool of so many workers, at which so many tasks may wait.
func newPool(workers, waiting int) *pool {
	workers = max(1, workers)
	p := &pool{slots: make(chan struct{}, workers+waiting)}
	for i := range workers {
		p.free = append(p.free, workers-1-i)
	}
	return p
}

// do runs f on a worker. It waits while as many tasks wait as may, and returns
// the first error of any task before; then f does not run, nor once the context has
// ended.
func (p *pool) do(ctx context.Context, f func(worker int) error) error { return p.doWith(ctx, nil, f) }

// doWith is do, and closes c once f has run or is not going to.
func (p *pool) doWith(ctx context.Context, c io.Closer, f func(worker int) error) error {
	p.slots <- struct{}{}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, poolTask{ctx, f, c})
	if n := len(p.free); n > 0 {
		worker := p.free[n-1]
		p.free = p.free[:n-1]
		p.wg.Add(1)
		go p.work(worker)
	}
	return p.err
}

// work runs tasks until none waits.
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
			_ = t.end.Close() // what was read has been looked at
		}
		<-p.slots
	}
}

func (p *pool) next(worker int) (t poolTask, failed, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.free = append(p.free, worker)
		return t, false, false
	}
	t = p.queue[0]
	p.queue[0] = poolTask{} // lets go of the row group: the slice's array stays
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

func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// guard turns a panic into an error: outside of a runner's own goroutine it
// would end the process.
func guard(worker int, f func(worker int) error) error {
	return parallel.Guard(func() error { return f(worker) })
}
