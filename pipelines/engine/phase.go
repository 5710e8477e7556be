package engine

import (
	"context"
	"runtime/pprof"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// PatienceAfterEnd is how long a pipeline may take to notice the end of its context, and to remove
// the files that it was writing. After this time the run does not wait any longer, so that a user
// who interrupts a run need not wait for a computation.
const PatienceAfterEnd = 300 * time.Millisecond

// The names of phases of several verbs.
const (
	Footers = "footers" // reads the footers of the input
	Write   = "write"   // writes the documents of a folder
)

// outcome is the result of the work of a phase.
type outcome[T any] struct {
	result   T
	err      error
	panicked any // value of the panic that ended the work; nil if it did not panic
}

// Phase is Compute for work without a result.
func (j *Driver) Phase(
	ctx context.Context, name string, total int64, unit string, work func(s *parallel.Steps) error,
) error {
	_, err := Compute(ctx, j, name, total, unit, func(s *parallel.Steps) (struct{}, error) {
		return struct{}{}, work(s)
	})
	return err
}

// Compute does work of a run between its pipelines, in this process, and returns the results of the
// work. It reports the progress of the work in steps, whose unit is unit. A phase that ends before
// the first report is not shown. When the context ends, Compute immediately returns the zero T and
// the cause: the work continues until it notices the end, and its result is dropped. So the work
// must not set anything that the caller reads after an error.
func Compute[T any](
	ctx context.Context, j *Driver, name string, total int64, unit string, work func(s *parallel.Steps) (T, error),
) (T, error) {
	if ctx.Err() != nil {
		var none T
		return none, context.Cause(ctx)
	}
	start := time.Now()
	s := new(parallel.Steps)
	s.Total.Store(total)
	finished := make(chan outcome[T], 1)
	go func() {
		labelPhase(ctx, name)
		var o outcome[T]
		defer func() {
			o.panicked = recover()
			finished <- o
		}()
		o.result, o.err = work(s)
	}()
	o := look(ctx, j.Reporter, name, unit, s, finished)
	if o.panicked != nil {
		panic(o.panicked) // so that the caller of Compute can recover it
	}
	j.Timings = append(j.Timings, runfolder.Timing{Job: name, Seconds: time.Since(start).Seconds()})
	return o.result, o.err
}

// labelPhase labels the samples of this goroutine and of the goroutines that it starts, in profiles: see
// ESPALIER_PROFILE in CONTRIBUTING.md.
func labelPhase(ctx context.Context, name string) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("phase", name)))
}

// look reports the progress of a phase until the phase has finished or the context has ended. If
// the context has ended, the outcome is its cause.
func look[T any](
	ctx context.Context, r Reporter, name, unit string, s *parallel.Steps, finished <-chan outcome[T],
) outcome[T] {
	tick := time.NewTicker(ReportEvery)
	defer tick.Stop()
	told := int64(0)
	for {
		select {
		case o := <-finished:
			if o.panicked == nil && o.err == nil && told > 0 {
				r.Step(told, "")
			}
			return o
		case <-ctx.Done():
			return outcome[T]{err: context.Cause(ctx)}
		case <-tick.C:
			if total := max(1, s.Total.Load()); total != told {
				r.Job(name, total, unit)
				told = total
			}
			r.Step(min(s.Done.Load(), told-1), "") // the last step is reported at the end
		}
	}
}

// awaitEnd waits for the end of a pipeline after the end of its context, for at most
// PatienceAfterEnd.
func awaitEnd(finished <-chan error) {
	select {
	case <-finished: //nolint:errcheck // the caller returns the cause of the context's end
	case <-time.After(PatienceAfterEnd):
	}
}
