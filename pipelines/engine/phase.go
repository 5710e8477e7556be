package engine

import (
	"context"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// PatienceAfterEnd is the time for a pipeline to notice the end of its context, and to remove
// the files that it was writing. After this time the run leaves the pipeline behind: a user
// who interrupts a run waits for no kernel.
const PatienceAfterEnd = 300 * time.Millisecond

// outcome is what the work of a phase has ended with.
type outcome[T any] struct {
	result   T
	err      error
	panicked any // what the work has panicked with; nil: it has not
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

// Compute does work of a run between its pipelines, in this process, and returns what the work
// returns. It shows the progress of the work in steps; unit names them. A phase that ends
// before the first look at it is not shown. When the context ends Compute returns at once, the
// zero T and the cause: the work goes on until it notices the end, and its result is dropped.
// So the work must set nothing that the caller reads after an error.
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
		var o outcome[T]
		defer func() {
			o.panicked = recover()
			finished <- o
		}()
		o.result, o.err = work(s)
	}()
	o := look(ctx, j.Reporter, name, unit, s, finished)
	if o.panicked != nil {
		panic(o.panicked) // here the caller of Compute can recover it
	}
	j.Timings = append(j.Timings, runfolder.Timing{Job: name, Seconds: time.Since(start).Seconds()})
	return o.result, o.err
}

// look shows the progress of a phase until the phase has finished or the context has ended. Of
// a context that has ended the outcome is its cause.
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
			r.Step(min(s.Done.Load(), told-1), "") // the last step is shown at the end
		}
	}
}

// awaitEnd waits for the end of a pipeline after the end of its context, at most
// PatienceAfterEnd.
func awaitEnd(finished <-chan error) {
	select {
	case <-finished: //nolint:errcheck // the caller returns the cause of the context's end
	case <-time.After(PatienceAfterEnd):
	}
}
