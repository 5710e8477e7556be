package source

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Row reads one row of Parquet files and returns its values of the features that a tree tests, in
// the order of Scorer.Features, as predict reads them. Rows are numbered from 0, over all files that
// the pattern matches. Only the pages with the row are decoded. A row that does not exist is a usage
// error; columns that do not fit the tree are a *dataset.DataError.
func Row(ctx context.Context, f *Files, pattern string, row int64, t *tree.Tree) ([]tree.Value, error) {
	if _, err := f.Store.List(ctx, pattern); err != nil {
		return nil, usage.Errorf("--row: %v", err)
	}
	in, err := OpenInput(ctx, f, []string{pattern}, &parallel.Steps{})
	if err != nil {
		return nil, err
	}
	if row < 0 || row >= in.Rows {
		if in.Rows == 0 {
			return nil, usage.Errorf("--row %s:%d: the file has no row", pattern, row)
		}
		return nil, usage.Errorf("--row %s:%d: there are rows 0 to %d", pattern, row, in.Rows-1)
	}
	spec, err := ScoringSpec(in, t, "", "", "")
	if err != nil {
		return nil, err
	}
	task, at, err := in.taskOf(row)
	if err != nil {
		return nil, err
	}
	vectors, err := jobs.ReadRow(f.Run.Context(ctx), spec, task, at)
	if err != nil {
		return nil, err
	}
	values := make([]tree.Value, len(vectors))
	for i := range vectors {
		v := &vectors[i]
		switch {
		case v.Missing(0):
		case v.Type != dataset.Number:
			values[i] = tree.Text(v.Spell(0))
		case v.Index != nil:
			values[i] = tree.Number(v.Numbers[v.Index[0]])
		default:
			values[i] = tree.Number(v.Numbers[0])
		}
	}
	return values, nil
}

// EachRowGroup reads the values of all rows of Parquet files that a tree tests, in the order of
// Scorer.Features, and calls visit for each row group in the order of the input.
func EachRowGroup(
	ctx context.Context, f *Files, patterns []string, t *tree.Tree,
	visit func(values []dataset.Vector, rows int) error,
) error {
	in, err := OpenInput(ctx, f, patterns, &parallel.Steps{})
	if err != nil {
		return err
	}
	spec, err := ScoringSpec(in, t, "", "", "")
	if err != nil {
		return err
	}
	for _, task := range in.Tasks {
		values, rows, err := jobs.ReadRows(f.Run.Context(ctx), spec, task)
		if err != nil {
			return err
		}
		if err := visit(values, rows); err != nil {
			return err
		}
	}
	return nil
}

// taskOf returns the row group of a row, and the row's position in it.
func (in *Input) taskOf(row int64) (task jobs.Task, at int, err error) {
	files := make(map[string]int, len(in.Files))
	for i, file := range in.Files {
		files[file.URL] = i
	}
	for _, task := range in.Tasks {
		rows := in.Files[files[task.File]].RowGroupRows(task.RowGroup)
		if row < rows {
			return task, int(row), nil
		}
		row -= rows
	}
	return jobs.Task{}, 0, fmt.Errorf("no row group has row %d", row)
}
