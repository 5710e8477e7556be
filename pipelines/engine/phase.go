package engine

import (
	"context"
	"time"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// PatienceAfterEnd is the time that a pipeline has to notice that its context has
// ended, and to clear away what it was writing. After it the pipeline is left behind:
// a user who interrupts a run waits for no kernel of it.
const PatienceAfterEnd = 300 * time.Millisecond

// ended is how work has ended.
type ended struct {
	err      error
	panicked any
}

// Phase does work of a run between its pipelines, in this process, and shows its
// progress in steps of the unit. A phase that is over before the
// first look at it is not shown. When the context ends, phase returns: the work is
// left behind until it notices, and nobody looks at what it makes.
func (j *Driver) Phase(ctx context.Context, name string, total int64, unit string, work func(s *parallel.Steps) error) error {
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

// look shows how far a phase is until it has finished or the context has ended. A
// panic of its work is raised again here, where the caller can recover it.
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
			j.Reporter.Step(min(s.Done.Load(), told-1), "") // the last step is told in the end
		}
	}
}

// awaitEnd waits for a pipeline whose context has ended, but not long.
func awaitEnd(finished <-chan error) {
	select {
	case <-finished: //nolint:errcheck // the context's own error says why it ended
	case <-time.After(PatienceAfterEnd):
	}
}
