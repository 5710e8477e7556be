package pipelines

import (
	"context"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// translate translates all jobs of a run for Dataflow without submitting any of
// them, and returns their names.
func (t *training) translate(ctx context.Context) ([]string, error) {
	if err := admit(ctx); err != nil {
		return nil, err
	}
	defer leave()
	dry := flag.Lookup("dry_run")
	before := dry.Value.String()
	if err := dry.Value.Set("true"); err != nil {
		return nil, err
	}
	defer dry.Value.Set(before) //nolint:errcheck // it was one before
	defer setJobName("")()
	var names []string
	for _, g := range t.graphs() {
		p, err := newPipeline(g.tasks, true, g.build)
		if err == nil {
			*jobopts.JobName = jobName("dry-run", g.name)
			_, err = beam.Run(ctx, dataflowRunner, p)
		}
		if err != nil {
			return nil, &RunnerError{Job: g.name, Runner: dataflowRunner, Err: err}
		}
		names = append(names, g.name)
	}
	return names, nil
}
