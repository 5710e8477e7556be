package slicing

import (
	"errors"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/source"
)

// Columns finds the columns of --slice in the input; as determines how to read them. Names
// without a column, the label and duplicate names are usage errors; a column that cannot be read is
// a *dataset.DataError.
func Columns(
	in *source.Input, names []string, label string, as func(c *parquetio.Column) (dataset.Kind, dataset.Unit),
) ([]dataset.FeatureColumn, error) {
	var columns []dataset.FeatureColumn
	var faults []error
	for i, name := range names {
		at := slices.IndexFunc(in.Columns, func(c parquetio.Column) bool { return c.Name == name })
		switch {
		case slices.Contains(names[:i], name):
			faults = append(faults, usage.Errorf("--slice names the column %q twice", name))
			continue
		case at < 0:
			faults = append(faults, source.UnknownColumn("slice", name, in.Names()))
			continue
		case name == label:
			faults = append(faults, usage.Errorf("--slice: column %q is the label, whose classes have figures of their own "+
				"in metrics.json: leave it out of --slice", name))
			continue
		}
		column := &in.Columns[at]
		if err := readable(in, column); err != nil {
			return nil, err
		}
		kind, unit := as(column)
		columns = append(columns, dataset.FeatureColumn{Name: name, Kind: kind, Type: column.Type, Unit: unit})
	}
	if len(faults) > 0 {
		return nil, usage.All(faults)
	}
	return columns, nil
}

// readable refuses a column that some file lacks, and an unreadable one.
func readable(in *source.Input, c *parquetio.Column) error {
	const remedy = "leave it out of --slice"
	e := &dataset.DataError{
		File: in.Files[in.FileWith(c.Name)].URL, Column: c.Name, Problem: c.Unsupported,
		Hint: remedy + ", or write it as numbers or texts",
	}
	switch {
	case c.Nested:
		e.Problem = "a nested column, expected a flat one of numbers, texts or booleans"
		return e
	case c.Unsupported != "":
		return e
	}
	err := in.Check(c)
	if errors.As(err, &e) {
		e.Hint = remedy + ", or make the files agree"
	}
	return err
}

// KindFor returns how to read columns for a tree: as its features of the same names, and others
// by their type.
func KindFor(t *tree.Tree) func(c *parquetio.Column) (dataset.Kind, dataset.Unit) {
	return func(c *parquetio.Column) (dataset.Kind, dataset.Unit) {
		at := slices.IndexFunc(t.Features, func(f dataset.Feature) bool { return f.Name == c.Name })
		switch {
		case at >= 0:
			return t.Features[at].Kind, t.Features[at].Unit
		case c.Type == dataset.Text:
			return dataset.Categorical, c.Unit
		default:
			return dataset.Numeric, c.Unit
		}
	}
}
