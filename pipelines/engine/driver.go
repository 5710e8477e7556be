package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/google/uuid"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// ReportEvery is the time between two looks at the progress of a job.
const ReportEvery = 100 * time.Millisecond

// Driver runs jobs on one engine, one after the other.
type Driver struct {
	Engine   Engine
	Reporter Reporter
	Files    *source.Files // of the run
	RunID    string        // in the names of an engine's jobs; empty: any
	Scratch  string        // folder that an engine's workers see; empty: they can neither be ended nor show progress
	Config   Config        // the zero value: the defaults
	Timings  []runfolder.Timing
	Figures  figures // of all jobs so far
}

// Local reports whether DoFns run in this process and see its memory.
func (j *Driver) Local() bool { return j.Engine.Traits().Local }

// Serialises reports whether DoFns and elements are encoded, as for another process.
func (j *Driver) Serialises() bool { return j.Engine.Traits().Serialises }

// ShuffleCopies returns the number of copies of shuffled elements that a local engine
// holds in memory.
func (j *Driver) ShuffleCopies() int { return j.Engine.Traits().ShuffleCopies }

// Workers returns the goroutines that a bundle may use: local engines run one bundle at a
// time, others as many as they have slots.
func (j *Driver) Workers() int {
	if j.Local() {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Processes returns the number of worker processes.
func (j *Driver) Processes() int {
	if j.Local() {
		return 1
	}
	return max(1, *jobopts.Parallelism)
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
func (j *Driver) Run(ctx context.Context, what Job, tasks []jobs.Task, build Build) error {
	j.Reporter.Job(what.Name, what.Total, what.Unit)
	if err := admit(ctx); err != nil {
		return err
	}
	start := time.Now()
	progress := j.progress()
	progress.Reset()
	job := Submission{Name: JobName(j.ID(), what.Name), Progress: progress, Files: j.Files, Scratch: j.Scratch}
	finished := make(chan error, 1)
	go func() {
		defer leave() // when it has ended, which may be after run has
		finished <- parallel.Guard(func() error { return j.pipeline(ctx, job, tasks, build) })
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
	return &RunnerError{Job: what.Name, Runner: j.name(), Err: err}
}

// progress returns what the DoFns of a job count on: that of this process if
// they run here, else one that an engine's counters fill.
func (j *Driver) progress() *jobs.Progress {
	if j.Local() || jobopts.IsLoopback() {
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
	if !j.Local() {
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
func (j *Driver) pipeline(ctx context.Context, job Submission, tasks []jobs.Task, build Build) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if job.Pipeline, err = NewPipeline(tasks, j.Engine.Traits().Spreads, build); err != nil {
		return err
	}
	if !j.Local() {
		limited, cancel := j.timeout(ctx)
		defer cancel()
		ctx = limited
	}
	return j.Engine.Run(ctx, job)
}

// timeout limits the time of a job on an engine.
func (j *Driver) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := j.Config.jobTimeout()
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it was cancelled after %v: raise --job_timeout if the engine was still at work, and go on with --resume", timeout))
}

// name returns the name of the engine.
func (j *Driver) name() string { return j.Engine.Traits().Name }

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
	if j.Local() {
		return nil
	}
	if err := admit(ctx); err != nil {
		return err
	}
	defer leave()
	return j.Engine.Cancel(ctx, j.ID())
}

// Translates reports whether the engine can translate jobs without submitting them.
func (j *Driver) Translates() bool {
	_, ok := j.Engine.(Translator)
	return ok
}

// CheckTranslation makes sure that an engine that translates jobs has what it needs. It
// does nothing for other engines, on which a dry run submits and translates nothing.
func (j *Driver) CheckTranslation(ctx context.Context, urls ...string) error {
	if !j.Translates() {
		return nil
	}
	return check(ctx, j.Engine, urls)
}

// Translate builds a job and has the engine translate it without submitting it. Engines
// that do not translate only build it.
func (j *Driver) Translate(ctx context.Context, name string, tasks []jobs.Task, build Build) error {
	if err := admit(ctx); err != nil {
		return err
	}
	defer leave()
	p, err := NewPipeline(tasks, j.Engine.Traits().Spreads, build)
	if translator, ok := j.Engine.(Translator); ok && err == nil {
		err = translator.Translate(ctx, Submission{Name: JobName("dry-run", name), Pipeline: p})
	}
	if err != nil {
		return &RunnerError{Job: name, Runner: j.name(), Err: err}
	}
	return nil
}
