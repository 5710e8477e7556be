// Package rowweights finds the units in which the weights of rows are counted.
// It is not meant for other programs.
package rowweights

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Count sets spec.Units by a pass over the column of weights, and the columns that decide which
// rows have a part. A specification without weights stays as it is. folder takes what the pass
// leaves for a moment.
func Count(ctx context.Context, d *engine.Driver, tasks []jobs.Task, folder string, spec *jobs.RowSpec) error {
	if spec.Weight == "" || len(tasks) == 0 {
		return nil
	}
	rows := *spec.OfLabels()
	rows.Features, rows.Groups = nil, [dataset.Parts]int64{}
	c := jobs.SummariseConfig{
		Config: d.JobConfig(folder + "/weigh"), Rows: rows.Encode(), Limits: binning.DefaultLimits(), Weigh: true,
	}
	what := engine.Job{Name: "weigh", Total: int64(len(tasks)), Unit: "row groups", Done: engine.TasksDone}
	err := d.Run(ctx, what, tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, c) })
	if err != nil {
		return err
	}
	stats, _, err := jobs.ReadSummaries(ctx, c.Out, c.Columns(0))
	if err != nil {
		return err
	}
	units := [dataset.Parts]dataset.WeightUnit{}
	if stats.Weights != nil {
		units = dataset.WeightUnits(stats.Weights)
	}
	spec.Units = &units
	return d.Files.Store.RemoveAll(ctx, c.Out)
}
