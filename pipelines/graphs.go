package pipelines

import (
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
	rows, train, test := t.input.Tasks, t.blockTasks(dataset.Train), t.blockTasks(dataset.Test)
	return []graph{
		{"summarise", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, summarise) }},
		{"coalesce", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, coalesce) }},
		{"level", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, level) }},
		{"grow", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, small) }},
		{"evaluate", test, func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, evaluate) }},
	}
}
