package pipelines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //nolint:staticcheck // deprecated upstream, yet the only runner without a listener: the embedded default, DESIGN section 3
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"  // serialises as real engines do

	"github.com/espalier-ml/espalier/transforms"
)

// Reporter shows progress. Its methods are called from one goroutine at a time.
type Reporter interface {
	// Job starts a job of total steps; unit names them.
	Job(name string, total int64, unit string)
	// Step says how many steps of the job are done, and a note on them.
	Step(done int64, note string)
	// Warn shows a warning to the user.
	Warn(text string)
	// Note tells the user what is worth knowing before a run.
	Note(text string)
}

// running serialises the pipelines of a process: two at once race in the SDK.
var running sync.Mutex //nolint:gochecknoglobals // guards the SDK's own globals

// reportEvery is the time between two looks at the progress of a job.
const reportEvery = 100 * time.Millisecond

// jobs runs jobs on one runner, one after the other.
type jobs struct {
	runner   string
	reporter Reporter
	timings  []Timing
	figures  figures // of all jobs so far
}

// Timing is how long a job took.
type Timing struct {
	Job     string  `json:"job"`
	Seconds float64 `json:"seconds"`
}

// workers returns the goroutines that a bundle may use: the local runners run
// one bundle at a time, engines as many as they have slots.
func (j *jobs) workers() int {
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
	done  func(p *transforms.Progress) (int64, string)
}

func tasksDone(p *transforms.Progress) (int64, string) { return p.Tasks.Load(), "" }

// run builds and runs one pipeline over tasks.
func (j *jobs) run(ctx context.Context, what job, tasks []transforms.Task, build func(s beam.Scope, tasks beam.PCollection)) error {
	running.Lock()
	defer running.Unlock()
	start := time.Now()
	transforms.LocalProgress().Reset()
	j.reporter.Job(what.name, what.total, what.unit)
	finished := make(chan error, 1)
	go func() { finished <- j.pipeline(ctx, tasks, build) }()
	err := j.watch(ctx, what, finished)
	j.timings = append(j.timings, Timing{what.name, time.Since(start).Seconds()})
	j.figures.add(transforms.LocalProgress())
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := asDataError(err); ok {
		return e
	}
	return &RunnerError{Job: what.name, Runner: j.runner, Err: err}
}

// watch reports progress until the pipeline has finished or the context ends.
// A pipeline that goes on after its context has ended is left behind: the
// process is about to end.
func (j *jobs) watch(ctx context.Context, what job, finished <-chan error) error {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-finished:
			if err == nil {
				_, note := what.done(transforms.LocalProgress())
				j.reporter.Step(what.total, note)
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if done, note := what.done(transforms.LocalProgress()); done < what.total { // the last step is told when the job has ended
				j.reporter.Step(done, note)
			}
		}
	}
}

// pipeline builds and runs a pipeline. The SDK panics on faults of
// construction.
func (j *jobs) pipeline(ctx context.Context, tasks []transforms.Task, build func(s beam.Scope, tasks beam.PCollection)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	p, s := beam.NewPipelineWithRoot()
	elements := make([][]byte, len(tasks))
	for i, t := range tasks {
		elements[i] = t.Encode()
	}
	list := beam.CreateList(s, elements)
	if j.runner != "direct" { // spreads the tasks over workers; the direct runner has one
		list = beam.Reshuffle(s, list)
	}
	build(s, list)
	_, err = beam.Run(ctx, j.runner, p)
	return err
}
