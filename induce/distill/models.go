package distill

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// FitModels fits models to the leaves of some trees, see leafmodel.Fit: those of taught trees to
// the objects of the transfer set, the others to the training objects. The training objects are in
// the order of leafmodel.Sorted. o.Scale is the fixed-point weight of one of their rows.
func FitModels(
	training *dataset.Objects, transfer *TransferSet, features []dataset.Feature, trees []*tree.Tree, o leafmodel.Options,
) [][]*leafmodel.Model {
	if transfer == nil {
		return leafmodel.Fit(training, features, trees, o)
	}
	var plain, taught []*tree.Tree
	for _, t := range trees {
		if t.Algorithm.Teacher == "" {
			plain = append(plain, t)
		} else {
			taught = append(taught, t)
		}
	}
	ofPlain := leafmodel.Fit(training, features, plain, o)
	o.Scale = max(1, o.Scale) * Factor(o.Scale)
	ofTaught := leafmodel.Fit(transfer.Objects, features, taught, o)
	models := make([][]*leafmodel.Model, len(trees))
	for i, t := range trees {
		if t.Algorithm.Teacher == "" {
			models[i], ofPlain = ofPlain[0], ofPlain[1:]
		} else {
			models[i], ofTaught = ofTaught[0], ofTaught[1:]
		}
	}
	return models
}
