package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/transforms/elements"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// ReportEvery is the time between two looks at the progress of a job.
const ReportEvery = 100 * time.Millisecond

// Driver runs jobs on an engine, one after another.
type Driver struct {
	Engine   Engine
	Reporter Reporter
	Files    *source.Files // files of the run
	RunID    string        // part of the names of the run's jobs; if empty, ID generates it
	Scratch  string        // folder that all workers can reach; empty: they hold no lease and report no progress
	Config   Config        // zero value: the defaults
	Timings  []runfolder.Timing
	Figures  figures // figures of all jobs so far
}

// Local reports whether DoFns run in this process and see its memory.
func (j *Driver) Local() bool { return j.Engine.Traits().Local }

// JobConfig returns what all jobs need, for a job whose results go to the folder out. The job hands
// over results as Go values on a local engine.
func (j *Driver) JobConfig(out string) jobs.Config {
	c := jobs.Config{Workers: j.Workers(), Out: out, Run: j.Files.Run.Name()}
	if j.Local() {
		c.Handover = new(jobs.Handover)
	}
	return c
}

// Trees returns trees for the DoFns of a job. On an engine that encodes DoFns it writes the
// trees to the folder.
func (j *Driver) Trees(ctx context.Context, folder string, trees ...*tree.Tree) (jobs.Trees, error) {
	list := jobs.Trees{Decoded: trees}
	if j.Local() {
		return list, nil
	}
	for i, t := range trees {
		list.URLs = append(list.URLs, fmt.Sprintf("%s/tree-%03d.json", folder, i))
		if err := j.Files.Write(ctx, list.URLs[i], t.Encode()); err != nil {
			return list, err
		}
	}
	return list, nil
}

// Workers returns how many goroutines a bundle may use: all processors on a local engine, which
// runs a single bundle at a time, and 1 on other engines, which run one bundle per slot.
func (j *Driver) Workers() int {
	if j.Local() {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Pieces returns the number of pieces to cut each row group into, so that all workers have work.
func Pieces(workers, rowGroups int) int { return (workers + rowGroups - 1) / max(1, rowGroups) }

// Processes returns the number of worker processes, at least 1: --parallelism on engines that have
// their own processes.
func (j *Driver) Processes() int {
	if j.Local() {
		return 1
	}
	if j.Config.Parallelism > 0 {
		return j.Config.Parallelism
	}
	return max(1, *jobopts.Parallelism)
}

// Job describes a job for the reporter.
type Job struct {
	Name  string
	Total int64                                      // steps
	Unit  string                                     // unit of the steps, in the plural
	Done  func(p *elements.Progress) (int64, string) // returns the finished steps, with a note
}

// TasksDone counts the tasks that are done, with a note on rows and objects.
func TasksDone(p *elements.Progress) (int64, string) {
	var notes []string
	for _, n := range []struct {
		count int64
		unit  string
	}{{p.Rows.Load(), "rows"}, {p.Objects.Load(), "objects"}} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n.count, n.unit))
		}
	}
	return p.Tasks.Load(), strings.Join(notes, ", ")
}

// remote is whether this process has started a job on an external engine.
var remote atomic.Bool //nolint:gochecknoglobals // of the process, as its signals are

// IsRemote reports whether this process has started a job on an external engine. Cancelling such a
// job takes a while.
func IsRemote() bool { return remote.Load() }

// Run builds a pipeline over tasks, runs it and waits for its end. It returns a dataset.DataError
// if the data are at fault, a usage.Error if the output cannot be written, the cause of the
// context's end if that ended the job, and otherwise a RunnerError.
func (j *Driver) Run(ctx context.Context, what Job, tasks []jobs.Task, build Build) error {
	j.Reporter.Job(what.Name, what.Total, what.Unit)
	leave, err := admit(ctx, &j.Config)
	if err != nil {
		return err
	}
	if !j.Local() {
		remote.Store(true)
	}
	start := time.Now()
	progress := j.progress()
	progress.Reset()
	job := Submission{Name: jobName(j.ID(), what.Name), Progress: progress, Files: j.Files, Scratch: j.Scratch}
	finished := make(chan error, 1)
	go func() {
		labelPhase(ctx, what.Name)
		defer leave() // when the pipeline has ended, which may be after Run has returned
		err := parallel.Guard(func() error { return j.pipeline(ctx, job, tasks, build) })
		if j.Local() {
			j.Files.Run.Wait() // the caller may remove files written by the job
		}
		finished <- err
	}()
	err = j.watch(ctx, what, progress, finished)
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
	if e, ok := usage.Marked(err); ok {
		return e
	}
	return &RunnerError{Job: what.Name, Runner: j.name(), Err: err}
}

// RunGroups is Run for a job whose steps are its tasks: row groups.
func (j *Driver) RunGroups(ctx context.Context, name string, tasks []jobs.Task, build Build) error {
	return j.Run(ctx, Job{Name: name, Total: int64(len(tasks)), Unit: "row groups", Done: TasksDone}, tasks, build)
}

// progress returns the counts of a job's progress. DoFns in this process add to the counts of the
// run; otherwise the engine sets new counts.
func (j *Driver) progress() *elements.Progress {
	if j.Local() || jobopts.IsLoopback() {
		return j.Files.Run.Progress()
	}
	return new(elements.Progress)
}

// watch reports progress until the pipeline has finished or the context ends. A local pipeline
// notices the end of the context a little later: watch does not wait for it, but the next pipeline
// does. A job on another engine would continue to run, so watch waits until the job is cancelled.
func (j *Driver) watch(ctx context.Context, what Job, progress *elements.Progress, finished <-chan error) error {
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
			if done, note := what.Done(progress); done < what.Total { // the last step is reported when the job has ended
				j.Reporter.Step(done, note)
			}
		}
	}
}

// pipeline builds a job's pipeline and runs it on the engine. A panic of the SDK becomes an
// error.
func (j *Driver) pipeline(ctx context.Context, job Submission, tasks []jobs.Task, build Build) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if job.Pipeline, err = NewPipeline(tasks, !j.Local(), build); err != nil {
		return err
	}
	if !j.Local() {
		limited, cancel := j.timeout(ctx)
		defer cancel()
		ctx = limited
	}
	return j.Engine.Run(ctx, job)
}

// timeout returns a context that ends after the time limit of a job.
func (j *Driver) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := j.Config.jobTimeout()
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it was cancelled after %v: "+
		"raise --job_timeout if the engine was still at work, and go on with the same command, train with --resume", timeout))
}

// name returns the name of the engine.
func (j *Driver) name() string { return j.Engine.Traits().Name }

// ID returns the run's id, and generates it if the run has none.
func (j *Driver) ID() string {
	if j.RunID == "" {
		j.RunID = strings.ToLower(rand.Text()) // names of jobs on Dataflow must be in lower case
	}
	return j.RunID
}

// CancelLeftovers cancels the jobs of this run that a killed process has left running, and waits
// until they have ended. The jobs of a local engine have ended with their process.
func (j *Driver) CancelLeftovers(ctx context.Context) error {
	if j.Local() {
		return nil
	}
	leave, err := admit(ctx, &j.Config)
	if err != nil {
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

// CheckTranslation runs the engine's check before a dry run. It does nothing if the engine is not a
// Translator, because a dry run does not use such an engine.
func (j *Driver) CheckTranslation(ctx context.Context, urls ...string) error {
	if !j.Translates() {
		return nil
	}
	return check(ctx, &j.Config, j.Engine, urls)
}

// Translate builds a job and lets the engine translate it, without submitting it. An engine that is
// not a Translator accepts every job. Errors are RunnerErrors.
func (j *Driver) Translate(ctx context.Context, name string, tasks []jobs.Task, build Build) error {
	leave, err := admit(ctx, &j.Config)
	if err != nil {
		return err
	}
	defer leave()
	p, err := NewPipeline(tasks, !j.Local(), build)
	if translator, ok := j.Engine.(Translator); ok && err == nil {
		err = translator.Translate(ctx, Submission{Name: jobName("dry-run", name), Pipeline: p})
	}
	if err != nil {
		return &RunnerError{Job: name, Runner: j.name(), Err: err}
	}
	return nil
}

// figures are the bytes that jobs have read, exchanged and written in this process, and the
// bytes of the largest histograms.
type figures struct{ Read, Exchanged, Written, Histogram int64 }

func (f *figures) add(p *elements.Progress) {
	f.Read += p.Read.Load()
	f.Exchanged += p.Exchanged.Load()
	f.Written += p.Written.Load()
	f.Histogram = max(f.Histogram, p.Histogram.Load())
}
