package engine

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Summarise runs the job of a name that summarises the columns of the tasks' rows. It returns the statistics of the
// rows and the encoded summaries: the features, the label, and the class weights if classes are weighed. It
// removes the files of the job.
func (j *Driver) Summarise(
	ctx context.Context, name string, tasks []jobs.Task, features int, c jobs.SummariseConfig,
) (*jobs.RowStats, [][]byte, error) {
	err := j.RunGroups(ctx, name, tasks, func(s beam.Scope, tasks beam.PCollection) { jobs.Summarise(s, tasks, c) })
	if err != nil {
		return nil, nil, err
	}
	stats, columns, err := jobs.ReadSummaries(ctx, c.Out, c.Columns(features))
	if err != nil {
		return nil, nil, err
	}
	return stats, columns, j.Files.Store.RemoveAll(ctx, c.Out) // frees the memory
}

// CountWeights sets spec.Units, the units in which the weights of rows are counted, by a pass over the column of
// weights, and the columns that decide which
// rows have a part. A specification without weights stays as it is. folder takes what the pass
// leaves for a moment.
func (j *Driver) CountWeights(ctx context.Context, tasks []jobs.Task, folder string, spec *jobs.RowSpec) error {
	if spec.Weight == "" || len(tasks) == 0 {
		return nil
	}
	rows := *spec.OfLabels()
	rows.Features = nil
	rows.Groups = [dataset.Parts]int64{}
	stats, _, err := j.Summarise(ctx, "weigh", tasks, 0, jobs.SummariseConfig{
		Config: j.JobConfig(folder + "/weigh"), Rows: rows.Encode(), Limits: binning.DefaultLimits(), Weigh: true,
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
