package distill

import (
	"cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Fitting is the input of fitting models to the leaves of trees.
type Fitting struct {
	Training *dataset.Objects // training objects in the order of leafmodel.Sorted
	Transfer *TransferSet     // nil if no tree is taught
	Features []dataset.Feature
	Trees    []*tree.Tree
	Options  leafmodel.Options // Scale is the number of units in the average weight of a row of Training
}

// Pick returns the fitting of some of the trees, given by their indexes.
func (f *Fitting) Pick(at []int) *Fitting {
	some := *f
	some.Trees = dataset.Pick(f.Trees, at)
	return &some
}

// Linear fits linear models with a regularisation strength, see leafmodel.Fit: models of taught
// trees to the objects of the transfer set, models of other trees to the training objects. It
// returns them by tree and node.
func (f *Fitting) Linear(ridge float64) [][]*leafmodel.Model {
	return f.each(func(objects *dataset.Objects, at []int, o leafmodel.Options) [][]*leafmodel.Model {
		o.Ridge = ridge
		return leafmodel.Fit(objects, f.Features, dataset.Pick(f.Trees, at), o)
	})
}

// Boost fits boosters on top of models, given by tree and node (see leafmodel.Boost), to the same
// objects as Linear.
func (f *Fitting) Boost(models [][]*leafmodel.Model) [][]*leafmodel.Model {
	return f.each(func(objects *dataset.Objects, at []int, o leafmodel.Options) [][]*leafmodel.Model {
		return leafmodel.Boost(objects, f.Features, dataset.Pick(f.Trees, at), dataset.Pick(models, at), o)
	})
}

// each calls fit for the trees without a teacher, then for the taught trees, with their objects and
// their indexes. It returns the models in the order of the trees.
func (f *Fitting) each(
	fit func(objects *dataset.Objects, at []int, o leafmodel.Options) [][]*leafmodel.Model,
) [][]*leafmodel.Model {
	var plain, taught []int
	for i, t := range f.Trees {
		if t.Algorithm.Teacher == "" {
			plain = append(plain, i)
		} else {
			taught = append(taught, i)
		}
	}
	models := make([][]*leafmodel.Model, len(f.Trees))
	take := func(objects *dataset.Objects, at []int, o leafmodel.Options) {
		for i, m := range fit(objects, at, o) {
			models[at[i]] = m
		}
	}
	if len(plain) > 0 {
		take(f.Training, plain, f.Options)
	}
	if len(taught) > 0 {
		o := f.Options
		o.Scale = cmp.Or(o.Scale, 1) * float64(Factor(o.Scale))
		take(f.Transfer.Objects, taught, o)
	}
	return models
}
