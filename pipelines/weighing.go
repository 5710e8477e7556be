package pipelines

import (
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// describeLabel describes the class column once the classes are known, with priors
// and error costs.
func (t *training) describeLabel() error {
	l := tree.Label{Column: t.config.Label, Classes: t.classes}
	var err error
	if l.Priors, err = t.perClass.PriorsOf(t.classes); err != nil {
		return err
	}
	if l.ErrorCosts, err = t.perClass.ErrorCostsOf(t.classes); err != nil {
		return err
	}
	t.label = l
	return nil
}

// describeWeights says in a tree what its weights are.
func (t *training) describeWeights(d *tree.Training) {
	if len(t.spec.ClassWeights) == 0 {
		return
	}
	d.Weights = runfolder.WeightsByClass
	for _, f := range t.spec.ClassWeights {
		d.ClassWeights = append(d.ClassWeights, float64(f)/jobs.FractionScale)
	}
	d.LeftOutRows = t.rowStats.Train - d.Rows
}
