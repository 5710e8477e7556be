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

// ended is the outcome of the work of a phase.
type ended struct {
	err      error
	panicked any // what the work has panicked with; nil: it has not
}

// Phase does work of a run between its pipelines, in this process, and shows its progress in
// steps; unit names them. A phase that ends before the first look at it is not shown. When
// the context ends Phase returns at once: the work goes on until it notices the end, and its
// results are dropped.
func (j *Driver) Phase(
	ctx context.Context, name string, total int64, unit string, work func(s *parallel.Steps) error,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	start := time.Now()
	s := new(parallel.Steps)
	s.Total.Store(total)
	finished := make(chan ended, 1)
	go func() {
		var e ended
		defer func() {
			e.panicked = recover()
			finished <- e
		}()
		e.err = work(s)
	}()
	err := j.look(ctx, name, unit, s, finished)
	j.Timings = append(j.Timings, runfolder.Timing{Job: name, Seconds: time.Since(start).Seconds()})
	return err
}

// look shows the progress of a phase until the phase has finished or the context has ended.
// A panic of the work is raised again here, where the caller of Phase can recover it.
func (j *Driver) look(ctx context.Context, name, unit string, s *parallel.Steps, finished <-chan ended) error {
	tick := time.NewTicker(ReportEvery)
	defer tick.Stop()
	told := int64(0)
	for {
		select {
		case e := <-finished:
			if e.panicked != nil {
				panic(e.panicked)
			}
			if e.err == nil && told > 0 {
				j.Reporter.Step(told, "")
			}
			return e.err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if total := max(1, s.Total.Load()); total != told {
				j.Reporter.Job(name, total, unit)
				told = total
			}
			j.Reporter.Step(min(s.Done.Load(), told-1), "") // the last step is shown at the end
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
