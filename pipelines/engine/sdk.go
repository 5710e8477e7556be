package engine

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// running admits one pipeline of this process at a time, over all runs: two concurrent pipelines
// race in the SDK. The admitted pipeline may also read and set the SDK's flags and the fields of
// engines, which exist once per process.
var running = make(chan struct{}, 1) //nolint:gochecknoglobals // guards the SDK's own globals

// admit waits until no other pipeline of this process runs, or until the context ends, and sets the SDK's flags to
// the configuration. Call leave afterwards.
func admit(ctx context.Context, c *Config) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case running <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	restore, err := c.apply()
	if err != nil {
		<-running
		return nil, err
	}
	return func() { restore(); <-running }, nil
}

// checkInit returns an error if the SDK is not ready for a runner that starts workers, even
// if it starts them in this process.
func checkInit(runner string) error {
	if !beam.Initialized() {
		return usage.Errorf("--runner %s: beam.Init was not called: "+
			"main of a program that uses this runner calls it first", runner)
	}
	return nil
}

// setFlag sets a flag of the SDK, and returns a function that puts its former value back.
func setFlag(flag *string, value string) (restore func()) {
	before := *flag
	*flag = value
	return func() { *flag = before }
}

// setJobName sets the SDK's flag of a job's name, and returns a function that puts the
// former name back.
func setJobName(name string) (restore func()) { return setFlag(jobopts.JobName, name) }

// Build adds the steps of a job to a pipeline.
type Build func(s beam.Scope, tasks beam.PCollection)

// NewPipeline builds the pipeline of a job over its tasks; spread adds a Reshuffle, after
// which the tasks are spread over workers. The SDK panics on faults of construction, which
// become errors here.
func NewPipeline(tasks []jobs.Task, spread bool, build Build) (p *beam.Pipeline, err error) {
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
	if spread {
		list = beam.Reshuffle(s, list)
	}
	build(s, list)
	return p, nil
}
