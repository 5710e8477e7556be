package tables

import (
	"cmp"
	"context"

	"github.com/espalier-ml/espalier/pipelines/source"
)

// WeighsClasses reports whether a value of --class_weights weighs training rows by their
// classes.
func WeighsClasses(setting string) bool { return setting != "" && setting != NoClassWeights }

// ReadClasses reads --class_weights, --priors and --error_costs. An empty value stands for a
// flag that is not given. Errors are usage errors.
func ReadClasses(ctx context.Context, from *source.Files, weights, priors, errorCosts string) (Classes, error) {
	var s Classes
	var err [3]error
	if WeighsClasses(weights) && weights != balancedClassWeights {
		f := classWeightsFile()
		s.weights, err[0] = f.read(ctx, from, weights)
	}
	if priors != "" {
		s.priors, err[1] = readPriors(ctx, from, priors)
	}
	if errorCosts != "" {
		f := errorCostsFile()
		s.errorCosts, err[2] = f.read(ctx, from, errorCosts)
	}
	return s, cmp.Or(err[:]...)
}
