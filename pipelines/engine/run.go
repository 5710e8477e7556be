package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // deprecated upstream, yet the only runner without a listener: the embedded default
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"  // serialises as real engines do
	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// running admits one pipeline of this process at a time, whatever run it is of:
// two pipelines at once race in the SDK. Who holds it may also read and set the
// SDK's flags, of which there is one set in a process.
var running = make(chan struct{}, 1) //nolint:gochecknoglobals // guards the SDK's own globals

// Admit waits for the SDK, or for the end of the context. Call leave after it.
func Admit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave ends the use of the SDK that Admit began.
func Leave() { <-running }

// ReportEvery is the time between two looks at the progress of a job.
const ReportEvery = 100 * time.Millisecond

// Driver runs jobs on one runner, one after the other.
type Driver struct {
	Runner   string
	Reporter Reporter
	Files    *source.Files // of the run
	RunID    string        // in the names of an engine's jobs; empty: any
	Scratch  string        // folder that an engine's workers see; empty: they can neither be ended nor show progress
	Engine   Config        // the zero value: the defaults
	Timings  []runfolder.Timing
	Figures  figures // of all jobs so far
}

// Workers returns the goroutines that a bundle may use: the local runners run
// one bundle at a time, engines as many as they have slots.
func (j *Driver) Workers() int {
	if IsLocal(j.Runner) {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Job describes a job for the reporter: its number of steps, their unit, and
// how to read off what is done.
type Job struct {
	Name  string
	Total int64
	Unit  string
	Done  func(p *jobs.Progress) (int64, string)
}

// TasksDone counts the tasks that are done, with a note on rows and objects.
func TasksDone(p *jobs.Progress) (int64, string) {
	var notes []string
	for _, n := range []struct {
		count int64
		of    string
	}{{p.Rows.Load(), "rows"}, {p.Objects.Load(), "objects"}} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n.count, n.of))
		}
	}
	return p.Tasks.Load(), strings.Join(notes, ", ")
}

// Run builds and runs one pipeline over tasks.
func (j *Driver) Run(ctx context.Context, what Job, tasks []jobs.Task, build func(s beam.Scope, tasks beam.PCollection)) error {
	j.Reporter.Job(what.Name, what.Total, what.Unit)
	if err := Admit(ctx); err != nil {
		return err
	}
	start := time.Now()
	progress := j.progress()
	progress.Reset()
	finished := make(chan error, 1)
	go func() {
		defer Leave() // when it has ended, which may be after run has
		finished <- parallel.Guard(func() error { return j.pipeline(ctx, what.Name, progress, tasks, build) })
	}()
	err := j.watch(ctx, what, progress, finished)
	j.Timings = append(j.Timings, runfolder.Timing{Job: what.Name, Seconds: time.Since(start).Seconds()})
	if left := (*leftError)(nil); errors.As(err, &left) {
		j.Reporter.Warn(left.warning())
		err = left.err
	}
	j.Figures.add(progress)
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := asDataError(err); ok {
		return e
	}
	if e, ok := usage.MarkedOutput(err); ok {
		return e
	}
	return &RunnerError{Job: what.Name, Runner: j.Runner, Err: err}
}

// progress returns what the DoFns of a job count on: that of this process if
// they run here, else one that an engine's counters fill.
func (j *Driver) progress() *jobs.Progress {
	if IsLocal(j.Runner) || jobopts.IsLoopback() {
		return j.Files.Run.Progress()
	}
	return new(jobs.Progress)
}

// watch reports progress until the pipeline has finished or the context ends. A
// local pipeline notices the end of its context a little later: it is left behind,
// and the next one waits for it. That of an engine would go on by itself, and is
// waited for until it is cancelled.
func (j *Driver) watch(ctx context.Context, what Job, progress *jobs.Progress, finished <-chan error) error {
	tick := time.NewTicker(ReportEvery)
	defer tick.Stop()
	over := ctx.Done()
	if !IsLocal(j.Runner) {
		over = nil
	}
	for {
		select {
		case err := <-finished:
			if err == nil {
				_, note := what.Done(progress)
				j.Reporter.Step(what.Total, note)
			}
			return err
		case <-over:
			awaitEnd(finished)
			return context.Cause(ctx)
		case <-tick.C:
			if done, note := what.Done(progress); done < what.Total { // the last step is told when the job has ended
				j.Reporter.Step(done, note)
			}
		}
	}
}

// pipeline builds and runs a pipeline. The SDK panics on faults of
// construction.
func (j *Driver) pipeline(ctx context.Context, name string, progress *jobs.Progress, tasks []jobs.Task, build func(s beam.Scope, tasks beam.PCollection)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	p, err := NewPipeline(tasks, j.Runner != "direct", build)
	switch {
	case err != nil:
		return err
	case j.Runner == Prism:
		return onPrism(ctx, p)
	case IsLocal(j.Runner):
		_, err = beam.Run(ctx, j.Runner, p)
		return err
	case j.Runner == Dataflow:
		return j.onDataflow(ctx, name, p)
	default:
		return j.onEngine(ctx, name, p, progress)
	}
}

// onEngine runs a pipeline as an engine's job, within the time that it has.
func (j *Driver) onEngine(ctx context.Context, name string, p *beam.Pipeline, progress *jobs.Progress) error {
	ctx, cancel := j.timeout(ctx)
	defer cancel()
	s, err := openJobService(ctx, *jobopts.Endpoint, defaultPatience())
	if err != nil {
		return err
	}
	defer s.close()
	job := submission{name: JobName(j.ID(), name), pipeline: p}
	if jobopts.IsLoopback() { // the DoFns are here, count on it themselves and end with the process
		return s.run(ctx, job)
	}
	job.progress = progress
	if j.Scratch != "" {
		l, err := grantLease(ctx, j.Files, j.Scratch, progress)
		if err != nil {
			return err
		}
		defer l.revoke(ctx)
		job.lease = l.folder
	}
	return s.run(ctx, job)
}

// timeout limits the time of a job on an engine.
func (j *Driver) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := j.Engine.jobTimeout()
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it was cancelled after %v: raise --job_timeout if the engine was still at work, and go on with --resume", timeout))
}

// ID returns the run's id.
func (j *Driver) ID() string {
	if j.RunID == "" {
		j.RunID = uuid.NewString()
	}
	return j.RunID
}

// CancelLeftovers cancels what an earlier process, which was killed, has left
// running on the engine for this run, and waits until it has ended.
func (j *Driver) CancelLeftovers(ctx context.Context) error {
	if IsLocal(j.Runner) {
		return nil
	}
	if j.Runner == Dataflow {
		return cancelOnDataflow(ctx, JobName(j.ID(), ""))
	}
	if err := Admit(ctx); err != nil {
		return err
	}
	defer Leave()
	s, err := openJobService(ctx, *jobopts.Endpoint, defaultPatience())
	if err == nil {
		defer s.close()
		err = s.cancelLeftovers(ctx, j.ID())
	}
	if err != nil {
		return engineError(ctx, "cancel leftovers", j.Runner, err)
	}
	return nil
}
