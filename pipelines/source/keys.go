package source

import (
	"context"
	"math"

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
	follows, err := in.followsRows(ctx, f, column.Name)
	if err == nil && !follows {
		return binning.MaybeKey, nil
	}
	return identity, err
}

// leastSteps is how many steps from row to row are looked at: a rank rises in all of 16 by chance in one of 10^14 columns.
const leastSteps = 16

// followsRows reports whether the numbers of a column rise, or fall, from row to row in the first rows of the first tasks.
func (in *Input) followsRows(ctx context.Context, f *Files, column string) (bool, error) {
	steps := 0
	rises := true
	falls := true
	for _, task := range in.Tasks {
		numbers, err := firstNumbers(ctx, f, task, column)
		if err != nil {
			return false, err
		}
		for row := 1; row < len(numbers); row++ {
			rises = rises && numbers[row] > numbers[row-1]
			falls = falls && numbers[row] < numbers[row-1]
			steps++
		}
		if steps >= leastSteps || !rises && !falls {
			break
		}
	}
	return steps >= leastSteps && (rises || falls), ctx.Err()
}

// firstNumbers returns the numbers of a column in the first rows of a task, without missing ones.
func firstNumbers(ctx context.Context, f *Files, task jobs.Task, column string) ([]float64, error) {
	g, err := f.RowGroup(ctx, task, []string{column})
	if err != nil {
		return nil, err
	}
	defer g.Close() //nolint:errcheck // reading has returned its errors already
	var v dataset.Vector
	if err := g.ReadRows(0, 0, min(g.Rows(), sampledRows), &v); err != nil {
		return nil, err
	}
	var numbers []float64
	for row := range v.Rows() {
		at := row
		if v.Index != nil {
			at = int(v.Index[row])
		}
		if x := v.Numbers[at]; !math.IsNaN(x) {
			numbers = append(numbers, x)
		}
	}
	return numbers, nil
}
