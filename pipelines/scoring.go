package pipelines

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// scoringSpec reads the columns that a tree tests, by their names, and those of
// label and weight, which may be none; all rows are of the part "test".
func scoringSpec(in *input, t *tree.Tree, label, weight string) (*jobs.RowSpec, error) {
	spec := &jobs.RowSpec{Label: label, Weight: weight, WeightScale: 1, Shares: dataset.Shares{dataset.Test: 1}}
	columns := make(map[string]int, len(in.columns))
	for i := range in.columns {
		columns[in.columns[i].Name] = i
	}
	inputs := t.Scorer().Features()
	if err := in.checkInputs(inputs, columns); err != nil {
		return nil, err
	}
	for i := range inputs {
		f := &t.Features[inputs[i].Feature]
		column := &in.columns[columns[f.Name]]
		if err := in.check(column); err != nil {
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
			return nil, unknownColumn(use.flag, use.name, in.names())
		}
		if err := in.check(&in.columns[at]); err != nil {
			return nil, err
		}
		if use.flag == "weight" && !in.columns[at].Integer {
			spec.WeightScale = jobs.FractionScale
		}
	}
	return spec, nil
}
