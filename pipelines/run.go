package pipelines

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

// admit waits for the SDK, or for the end of the context. Call leave after it.
func admit(ctx context.Context) error {
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

func leave() { <-running }

// reportEvery is the time between two looks at the progress of a job.
const reportEvery = 100 * time.Millisecond

// driver runs jobs on one runner, one after the other.
type driver struct {
	runner   string
	reporter Reporter
	files    *source.Files // of the run
	runID    string        // in the names of an engine's jobs; empty: any
	scratch  string        // folder that an engine's workers see; empty: they can neither be ended nor show progress
	engine   EngineConfig  // the zero value: the defaults
	timings  []runfolder.Timing
	figures  figures // of all jobs so far
}

// workers returns the goroutines that a bundle may use: the local runners run
// one bundle at a time, engines as many as they have slots.
func (j *driver) workers() int {
	if isLocal(j.runner) {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// job describes a job for the reporter: its number of steps, their unit, and
// how to read off what is done.
type job struct {
	name  string
	total int64
	unit  string
	done  func(p *jobs.Progress) (int64, string)
}

func tasksDone(p *jobs.Progress) (int64, string) {
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

// run builds and runs one pipeline over tasks.
func (j *driver) run(ctx context.Context, what job, tasks []jobs.Task, build func(s beam.Scope, tasks beam.PCollection)) error {
	j.reporter.Job(what.name, what.total, what.unit)
	if err := admit(ctx); err != nil {
		return err
	}
	start := time.Now()
	progress := j.progress()
	progress.Reset()
	finished := make(chan error, 1)
	go func() {
		defer leave() // when it has ended, which may be after run has
		finished <- parallel.Guard(func() error { return j.pipeline(ctx, what.name, progress, tasks, build) })
	}()
	err := j.watch(ctx, what, progress, finished)
	j.timings = append(j.timings, runfolder.Timing{Job: what.name, Seconds: time.Since(start).Seconds()})
	if left := (*leftError)(nil); errors.As(err, &left) {
		j.reporter.Warn(left.warning())
		err = left.err
	}
	j.figures.add(progress)
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := asDataError(err); ok {
		return e
	}
	if e, ok := usage.MarkedOutput(err); ok {
		return e
	}
	return &RunnerError{Job: what.name, Runner: j.runner, Err: err}
}

// progress returns what the DoFns of a job count on: that of this process if
// they run here, else one that an engine's counters fill.
func (j *driver) progress() *jobs.Progress {
	if isLocal(j.runner) || jobopts.IsLoopback() {
		return j.files.Run.Progress()
	}
	return new(jobs.Progress)
}

// watch reports progress until the pipeline has finished or the context ends. A
// local pipeline notices the end of its context a little later: it is left behind,
// and the next one waits for it. That of an engine would go on by itself, and is
// waited for until it is cancelled.
func (j *driver) watch(ctx context.Context, what job, progress *jobs.Progress, finished <-chan error) error {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	over := ctx.Done()
	if !isLocal(j.runner) {
		over = nil
	}
	for {
		select {
		case err := <-finished:
			if err == nil {
				_, note := what.done(progress)
				j.reporter.Step(what.total, note)
			}
			return err
		case <-over:
			awaitEnd(finished)
			return context.Cause(ctx)
		case <-tick.C:
			if done, note := what.done(progress); done < what.total { // the last step is told when the job has ended
				j.reporter.Step(done, note)
			}
		}
	}
}

// pipeline builds and runs a pipeline. The SDK panics on faults of
// construction.
func (j *driver) pipeline(ctx context.Context, name string, progress *jobs.Progress, tasks []jobs.Task, build func(s beam.Scope, tasks beam.PCollection)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	p, err := newPipeline(tasks, j.runner != "direct", build)
	switch {
	case err != nil:
		return err
	case j.runner == prismRunner:
		return onPrism(ctx, p)
	case isLocal(j.runner):
		_, err = beam.Run(ctx, j.runner, p)
		return err
	case j.runner == dataflowRunner:
		return j.onDataflow(ctx, name, p)
	default:
		return j.onEngine(ctx, name, p, progress)
	}
}

// onEngine runs a pipeline as an engine's job, within the time that it has.
func (j *driver) onEngine(ctx context.Context, name string, p *beam.Pipeline, progress *jobs.Progress) error {
	ctx, cancel := j.timeout(ctx)
	defer cancel()
	s, err := openJobService(ctx, *jobopts.Endpoint, defaultPatience())
	if err != nil {
		return err
	}
	defer s.close()
	job := submission{name: jobName(j.id(), name), pipeline: p}
	if jobopts.IsLoopback() { // the DoFns are here, count on it themselves and end with the process
		return s.run(ctx, job)
	}
	job.progress = progress
	if j.scratch != "" {
		l, err := grantLease(ctx, j.files, j.scratch, progress)
		if err != nil {
			return err
		}
		defer l.revoke(ctx)
		job.lease = l.folder
	}
	return s.run(ctx, job)
}

// timeout limits the time of a job on an engine.
func (j *driver) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := j.engine.jobTimeout()
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it was cancelled after %v: raise --job_timeout if the engine was still at work, and go on with --resume", timeout))
}

// id returns the run's id.
func (j *driver) id() string {
	if j.runID == "" {
		j.runID = uuid.NewString()
	}
	return j.runID
}

// cancelLeftovers cancels what an earlier process, which was killed, has left
// running on the engine for this run, and waits until it has ended.
func (j *driver) cancelLeftovers(ctx context.Context) error {
	if isLocal(j.runner) {
		return nil
	}
	if j.runner == dataflowRunner {
		return cancelOnDataflow(ctx, jobName(j.id(), ""))
	}
	if err := admit(ctx); err != nil {
		return err
	}
	defer leave()
	s, err := openJobService(ctx, *jobopts.Endpoint, defaultPatience())
	if err == nil {
		defer s.close()
		err = s.cancelLeftovers(ctx, j.id())
	}
	if err != nil {
		return engineError(ctx, "cancel leftovers", j.runner, err)
	}
	return nil
}
