package engine

import (
	"context"
	"fmt"

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

// mostRows is the greatest number of rows: readers of JSON keep whole numbers exact up to 2^53.
const mostRows = 1 << 53

// CountRows returns how many rows the lines of tasks represent by a column of counts. It refuses counts that add up to
// 0, or to more rows than all further jobs can count, and so it comes before them. folder takes what the pass leaves for a
// moment. Without a column it returns 0.
func (j *Driver) CountRows(ctx context.Context, tasks []jobs.Task, folder, column string) (int64, error) {
	if column == "" || len(tasks) == 0 {
		return 0, nil
	}
	rows := jobs.RowSpec{Count: column, Parting: dataset.Parting{Shares: dataset.Shares{dataset.Train: 1}}}
	stats, _, err := j.Summarise(ctx, "count", tasks, 0, jobs.SummariseConfig{
		Config: j.JobConfig(folder + "/count"), Rows: rows.Encode(), Limits: binning.DefaultLimits(),
	})
	switch {
	case err != nil:
		return 0, err
	case stats.Rows == 0:
		return 0, &dataset.DataError{
			Column: column, Problem: "the counts of all lines are 0, so there is no row", Hint: "name another column as the counts",
		}
	case stats.Rows > mostRows:
		return 0, &dataset.DataError{
			Column: column, Problem: "the counts add up to more than 2^53 rows (9.0e15)",
			Hint: "divide them by a constant, or use a part of the lines",
		}
	}
	return stats.Rows, nil
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
		for _, s := range stats.Weights {
			if !s.Countable() {
				return &dataset.DataError{
					Column: spec.Weight, Problem: fmt.Sprintf("the weights of %d rows are too fine to be added up, at most %d rows can have such weights",
						s.Rows, int64(dataset.MostWeighted)),
					Hint: fmt.Sprintf("divide the counts in column %q by a constant, or round the weights to multiples of a number", spec.Count),
				}
			}
		}
		units = dataset.WeightUnits(stats.Weights)
		j.warnOfCounts(spec, stats.Weights)
	}
	spec.Units = &units
	return nil
}

// warnOfCounts says that weights look like numbers of rows, for which there is another setting.
func (j *Driver) warnOfCounts(spec *jobs.RowSpec, parts *[dataset.Parts]*dataset.WeightSums) {
	all := new(dataset.WeightSums)
	for _, s := range parts {
		all.Merge(s)
	}
	if least, greatest, like := all.LikeCounts(); like && spec.Count == "" {
		j.Reporter.Warn(fmt.Sprintf("the weights in column %q are whole numbers from %v to %v: if a line stands for that number of rows in a "+
			"table of counts, name the column by --count, which deals them to training and test one by one", spec.Weight, least, greatest))
	}
}
