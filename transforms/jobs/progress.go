package jobs

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
)

// report adds the counts of the DoFn's run to Beam's counters: see elements.Progress.
func report(ctx context.Context) { progressOf(ctx).Report(ctx) }

// reportEvery is the interval of reports while a bundle waits for its goroutines.
const reportEvery = time.Second

// reportUntil waits for the goroutines of a bundle. It reports meanwhile and at the end.
func reportUntil(ctx context.Context, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- parallel.Guard(wait) }()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			report(ctx)
			return err
		case <-tick.C:
			report(ctx)
		}
	}
}

// atLeast raises a count to a value, unless it is higher already.
func atLeast(count *atomic.Int64, value int64) {
	for {
		old := count.Load()
		if old >= value || count.CompareAndSwap(old, value) {
			return
		}
	}
}
