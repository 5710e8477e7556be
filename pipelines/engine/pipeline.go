package engine

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms/jobs"
)

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
