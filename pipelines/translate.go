package pipelines

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/espalier-ml/espalier/pipelines/engine"
)

// translate translates all jobs of a run for Dataflow without submitting any of
// them, and returns their names.
func (t *training) translate(ctx context.Context) ([]string, error) {
	if err := engine.Admit(ctx); err != nil {
		return nil, err
	}
	defer engine.Leave()
	dry := flag.Lookup("dry_run")
	before := dry.Value.String()
	if err := dry.Value.Set("true"); err != nil {
		return nil, err
	}
	defer dry.Value.Set(before) //nolint:errcheck // it was one before
	defer engine.SetJobName("")()
	var names []string
	for _, g := range t.graphs() {
		p, err := engine.NewPipeline(g.tasks, true, g.build)
		if err == nil {
			*jobopts.JobName = engine.JobName("dry-run", g.name)
			_, err = beam.Run(ctx, engine.Dataflow, p)
		}
		if err != nil {
			return nil, &engine.RunnerError{Job: g.name, Runner: engine.Dataflow, Err: err}
		}
		names = append(names, g.name)
	}
	return names, nil
}
