// Package summaries passes over the rows to summarise columns, and to find the units in which the weights of
// rows are counted. It is not meant for other programs.
package summaries

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Read runs the job of a name that summarises the columns of the tasks' rows. It returns the statistics of the
// rows and the encoded summaries: the features, the label, and the class weights if classes are weighed. It
// removes the files of the job.
func Read(
	ctx context.Context, d *engine.Driver, name string, tasks []jobs.Task, features int, c jobs.SummariseConfig,
) (*jobs.RowStats, [][]byte, error) {
	err := d.RunGroups(ctx, name, tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, c) })
	if err != nil {
		return nil, nil, err
	}
	stats, columns, err := jobs.ReadSummaries(ctx, c.Out, c.Columns(features))
	if err != nil {
		return nil, nil, err
	}
	return stats, columns, d.Files.Store.RemoveAll(ctx, c.Out) // frees the memory
}

// CountWeights sets spec.Units by a pass over the column of weights, and the columns that decide which
// rows have a part. A specification without weights stays as it is. folder takes what the pass
// leaves for a moment.
func CountWeights(ctx context.Context, d *engine.Driver, tasks []jobs.Task, folder string, spec *jobs.RowSpec) error {
	if spec.Weight == "" || len(tasks) == 0 {
		return nil
	}
	rows := *spec.OfLabels()
	rows.Features = nil
	rows.Groups = [dataset.Parts]int64{}
	stats, _, err := Read(ctx, d, "weigh", tasks, 0, jobs.SummariseConfig{
		Config: d.JobConfig(folder + "/weigh"), Rows: rows.Encode(), Limits: binning.DefaultLimits(), Weigh: true,
	})
	if err != nil {
		return err
	}
	units := [dataset.Parts]dataset.WeightUnit{}
	if stats.Weights != nil {
		units = dataset.WeightUnits(stats.Weights)
	}
	spec.Units = &units
	return nil
}
