package pipelines

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// sampleObjects reads the objects of a part for leaf models.
func (r *run) sampleObjects(ctx context.Context, o *objects, part dataset.Part) (*dataset.Objects, error) {
	layout, most := o.layout(), selection.Most(part)
	all := o.newObjects(int(min(o.parts[part].Objects, int64(2*most))))
	err := r.eachBlock(ctx, o, part, func(b []byte) error {
		err := all.AppendFrom(b, layout)
		if err == nil && all.Len() > 2*most {
			all = leafmodel.Sorted(all, most)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return leafmodel.Sorted(all, most), nil
}

// countModels counts the predictions of a tree with models for the rows of each part: unlike the
// objects, the rows have the values that the models use. It returns a function that computes the
// metrics: this takes no pipeline, so other work of the run may go on beside it.
func (r *run) countModels(
	ctx context.Context, o *objects, t *tree.Tree,
) (metrics func() (*runfolder.Metrics, error), err error) {
	out := r.newFolder("evaluate_rows")
	trees, err := r.driver.Trees(ctx, out, t)
	if err != nil {
		return nil, err
	}
	c := jobs.EvaluateRowsConfig{
		ScoreConfig: jobs.ScoreConfig{Config: r.driver.JobConfig(out), Trees: trees, Rows: o.spec.OfLabels().Encode()},
		Parts:       []dataset.Part{dataset.Train, dataset.Validation, dataset.Test},
	}
	if c.Handover != nil && o.parts != nil { // one process counts all rows; a promotion has no objects
		for part := range o.parts {
			c.Objects[part] = o.parts[part].Objects
		}
	}
	what := engine.Job{Name: "evaluate rows", Total: int64(len(r.input.Tasks)), Unit: "row groups", Done: engine.TasksDone}
	err = r.driver.Run(ctx, what, r.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
		jobs.EvaluateRows(s, tasks, c)
	})
	if err != nil {
		return nil, err
	}
	return func() (*runfolder.Metrics, error) { return readMetrics(ctx, &c, t, &o.spec) }, nil
}

// readMetrics computes the metrics of each part from the counts of a pipeline.
func readMetrics(
	ctx context.Context, c *jobs.EvaluateRowsConfig, t *tree.Tree, spec *jobs.RowSpec,
) (*runfolder.Metrics, error) {
	parts := make([]*metric.Metrics, len(c.Parts))
	err := parallel.AtOnce(len(parts), func(i int) error {
		counts, err := jobs.ReadScoreCounts(ctx, c, c.Parts[i], []*tree.Tree{t})
		if err == nil {
			parts[i] = measureLeaves(t, metric.Scores(t, counts[0]), spec.ScaleOf(c.Parts[i]))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m := &runfolder.Metrics{Format: runfolder.MetricsFormat, Version: 1}
	for i, part := range c.Parts {
		if parts[i].Rows > 0 {
			m.Set(part, parts[i])
		}
	}
	return m, nil
}
