package source

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// ScoringSpec says how rows are read for a tree: the columns that it tests, by their names,
// with a label and a weight unless these names are empty. All rows are of the part "test".
// Columns that do not fit the tree are a *dataset.DataError.
func ScoringSpec(in *Input, t *tree.Tree, label, weight string) (*jobs.RowSpec, error) {
	spec := &jobs.RowSpec{Label: label, Weight: weight, WeightScale: 1, Shares: dataset.Shares{dataset.Test: 1}}
	columns := make(map[string]int, len(in.Columns))
	for i := range in.Columns {
		columns[in.Columns[i].Name] = i
	}
	inputs := t.Scorer().Features()
	if err := in.checkInputs(inputs, columns); err != nil {
		return nil, err
	}
	for i := range inputs {
		f := &t.Features[inputs[i].Feature]
		column := &in.Columns[columns[f.Name]]
		if err := in.Check(column); err != nil {
			return nil, err
		}
		if err := in.checkKind(column, f); err != nil {
			return nil, err
		}
		spec.Features = append(spec.Features, jobs.FeatureColumn{Name: f.Name, Kind: f.Kind, Type: column.Type, Unit: f.Unit})
	}
	for _, use := range []struct{ flag, name string }{{"label", label}, {"weight", weight}} {
		if use.name == "" {
			continue
		}
		at, ok := columns[use.name]
		if !ok {
			return nil, UnknownColumn(use.flag, use.name, in.Names())
		}
		if err := in.Check(&in.Columns[at]); err != nil {
			return nil, err
		}
		if use.flag == "weight" && !in.Columns[at].Integer {
			spec.WeightScale = jobs.FractionScale
		}
	}
	return spec, nil
}
