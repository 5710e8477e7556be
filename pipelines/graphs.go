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

// graphs returns the jobs of a run that has grown so far, or whose rehearsal has: one of
// each kind.
func (r *run) graphs(done *grown) []graph {
	g := &grower{run: r, objects: done.objects, members: done.members, progress: progress{roots: done.roots}}
	summarise, coalesce, evaluate := r.summariseConfig(), r.coalesceConfig(done.fitted), r.evaluateConfig(done.objects, nil)
	level, small := g.levelConfig(r.config.LevelsPerJob), g.smallConfig()
	rows, train, test := r.input.Tasks, done.tasks(dataset.Train), done.tasks(dataset.Test)
	return []graph{
		{"summarise", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, summarise) }},
		{"coalesce", rows, func(s beam.Scope, tasks beam.PCollection) { jobs.Coalesce(s, tasks, coalesce) }},
		{"level", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Level(s, tasks, level) }},
		{"grow", train, func(s beam.Scope, tasks beam.PCollection) { jobs.Grow(s, tasks, small) }},
		{"evaluate", test, func(s beam.Scope, tasks beam.PCollection) { jobs.Evaluate(s, tasks, evaluate) }},
	}
}
