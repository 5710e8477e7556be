package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// TestWaitForBundles: Run.Wait waits for the tasks of bundles that no runner finishes.
func TestWaitForBundles(t *testing.T) {
	t.Parallel()
	r := NewRun(nil, FilesConfig{})
	defer r.Close()
	ctx, cancel := context.WithCancelCause(r.Context(t.Context()))
	started, release := make(chan struct{}, 2), make(chan struct{})
	var written atomic.Int64
	for range 2 { // bundles
		p := newPool(1, 1)
		for range 2 { // tasks, the second of which waits for the first one
			err := p.do(ctx, func(int) error {
				started <- struct{}{}
				<-release
				written.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	<-started
	<-started
	cancel(errors.New("interrupted"))
	waited := make(chan int64)
	for range 2 {
		go func() {
			r.Wait()
			waited <- written.Load()
		}()
	}
	close(release)
	for range 2 {
		if n := <-waited; n != 2 {
			t.Errorf("Wait returned after %d of the 2 tasks that ran", n)
		}
	}
	r.Wait() // nothing is at work
}
