package pipelines

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// graph is a job as it is built for an engine.
type graph struct {
	name  string
	tasks []jobs.Task
	build func(s beam.Scope, tasks beam.PCollection)
}

// graphs returns the jobs of a training of which rows and objects were seen, or
// a sample of them: one of each kind.
func (t *training) graphs() []graph {
	summarise, coalesce, level, small, evaluate := t.summariseConfig(), t.coalesceConfig(), t.levelConfig(t.config.LevelsPerJob), t.smallConfig(), t.evaluateConfig(nil)
	rows, train, test := t.input.tasks, t.blockTasks(dataset.Train), t.blockTasks(dataset.Test)
	return []graph{
		{"summarise", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, summarise) }},
		{"coalesce", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, coalesce) }},
		{"level", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, level) }},
		{"grow", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, small) }},
		{"evaluate", test, func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, evaluate) }},
	}
}

// newPipeline builds a job over its tasks. The SDK panics on faults of
// construction.
func newPipeline(tasks []jobs.Task, spread bool, build func(s beam.Scope, tasks beam.PCollection)) (p *beam.Pipeline, err error) {
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
