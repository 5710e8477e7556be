package source

import (
	"context"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Identity returns whether the values of a column are keys of the rows. s summarises the given number of rows. Ranks are whole
// numbers without gaps as the numbers of rows are; only the latter follow the order of the rows.
func (in *Input) Identity(
	ctx context.Context, f *Files, column *dataset.FeatureColumn, s *binning.Summary, rows int64,
) (binning.Identity, error) {
	if column.Unit != dataset.Plain {
		return binning.NoKey, nil
	}
	identity := s.Identity(column.Name, rows, in.Rows)
	if identity != binning.Numbering {
		return identity, nil
	}
	follows, err := followsRows(ctx, f, in.Tasks[0], column.Name)
	if err == nil && !follows {
		return binning.MaybeKey, nil
	}
	return identity, err
}

// followsRows reports whether the numbers of a column rise, or fall, from row to row in the first rows of a task.
func followsRows(ctx context.Context, f *Files, task jobs.Task, column string) (bool, error) {
	g, err := f.RowGroup(ctx, task, []string{column})
	if err != nil {
		return false, err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	var v dataset.Vector
	if err := g.ReadRows(0, 0, min(g.Rows(), sampledRows), &v); err != nil {
		return false, err
	}
	number := func(row int) float64 {
		if v.Index != nil {
			row = int(v.Index[row])
		}
		return v.Numbers[row]
	}
	rises, falls := true, true
	for row := 1; row < v.Rows() && (rises || falls); row++ {
		rises = rises && number(row) > number(row-1)
		falls = falls && number(row) < number(row-1)
	}
	return rises || falls, ctx.Err()
}
