package engine

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Build adds the steps of a job to a pipeline.
type Build func(s beam.Scope, tasks beam.PCollection)

// NewPipeline builds a job over its tasks. The SDK panics on faults of
// construction.
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
	if spread { // over workers; the direct runner has one
		list = beam.Reshuffle(s, list)
	}
	build(s, list)
	return p, nil
}
