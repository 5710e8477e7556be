package parallel

import (
	"cmp"
	"context"
	"runtime"
	"sync/atomic"
)

// Steps counts how much of a phase is done, and how much there is in total. The work of the phase
// may set the total.
type Steps struct{ Done, Total atomic.Int64 }

// EachUntil calls f(0), f(1), .. f(n-1) on as many goroutines as there are processors, and counts
// the calls that have returned. It starts no call after the end of the context, and then returns
// the cause. A panic in a call is raised again here, where the caller can recover it.
func EachUntil(ctx context.Context, n int, done *atomic.Int64, f func(i int)) error {
	var next atomic.Int64
	Run(min(n, runtime.GOMAXPROCS(0)), func() {
		for i := int(next.Add(1) - 1); i < n && ctx.Err() == nil; i = int(next.Add(1) - 1) {
			f(i)
			done.Add(1)
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// AtOnce calls do(0), .. do(n-1), several at a time, because object stores take a while for each.
// It returns the error of the lowest index.
func AtOnce(n int, do func(i int) error) error {
	const most = 32
	faults := make([]error, n)
	slots := make(chan struct{}, most)
	var wg Group
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			faults[i] = do(i)
			<-slots
		})
	}
	wg.Wait()
	return cmp.Or(faults...)
}
