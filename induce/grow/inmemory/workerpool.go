package inmemory

import (
	"slices"
	"sync"
	"sync/atomic"
)

// workerPool is the workers of one growth. Each worker grows subtrees, depth-first. A worker
// without a subtree takes over a node that another worker hands over, or helps another
// worker with the features of a large node.
type workerPool struct {
	size int
	idle atomic.Int32 // workers that wait for work

	mu    sync.Mutex
	wake  *sync.Cond
	nodes []*openNode // nodes that were handed over
	loops []*loop     // loops that idle workers may join
	busy  int         // number of workers that grow a subtree
}

func newWorkerPool(workers int) *workerPool {
	c := &workerPool{size: max(1, workers)}
	c.wake = sync.NewCond(&c.mu)
	return c
}

// loop is a loop over the numbers in [0, n) that several workers share.
type loop struct {
	n       int
	begun   atomic.Int64
	body    func(w *workspace, next func() int)
	helpers int // workers that have joined
}

// next returns the next number, or -1.
func (l *loop) next() int {
	if i := int(l.begun.Add(1) - 1); i < l.n {
		return i
	}
	return -1
}

// share calls body with a function that returns the next number in [0, n), or -1 after the last
// one. Idle workers call body as well, each with its own workspace. When share returns, all
// numbers are done.
func (c *workerPool) share(w *workspace, n int, body func(w *workspace, next func() int)) {
	l := &loop{n: n, body: body}
	if c.size == 1 {
		body(w, l.next)
		return
	}
	c.mu.Lock()
	c.loops = append(c.loops, l)
	c.mu.Unlock()
	c.wake.Broadcast()
	body(w, l.next)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loops = slices.DeleteFunc(c.loops, func(other *loop) bool { return other == l })
	for l.helpers > 0 {
		c.wake.Wait()
	}
}

// hand hands a node over to an idle worker, and reports whether there is one for it.
func (c *workerPool) hand(o *openNode) bool {
	if c.idle.Load() == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if int(c.idle.Load()) <= len(c.nodes) {
		return false
	}
	c.nodes = append(c.nodes, o)
	c.wake.Broadcast()
	return true
}

// work grows nodes with one worker until all workers are idle.
func (c *workerPool) work(w *workspace, grow func(*openNode, *workspace)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		joined := slices.IndexFunc(c.loops, func(l *loop) bool { return l.begun.Load() < int64(l.n) })
		switch {
		case len(c.nodes) > 0:
			o := c.nodes[len(c.nodes)-1]
			c.nodes = c.nodes[:len(c.nodes)-1]
			c.unlocked(&c.busy, func() { grow(o, w) })
		case joined >= 0:
			l := c.loops[joined]
			c.unlocked(&l.helpers, func() { l.body(w, l.next) })
		case c.busy == 0:
			return
		default:
			c.idle.Add(1)
			c.wake.Wait()
			c.idle.Add(-1)
		}
	}
}

// unlocked calls f without the lock. During the call, calls is higher by 1.
func (c *workerPool) unlocked(calls *int, f func()) {
	*calls++
	c.mu.Unlock()
	defer func() { // a panic must not leave the other workers waiting
		c.mu.Lock()
		*calls--
		c.wake.Broadcast()
	}()
	f()
}
