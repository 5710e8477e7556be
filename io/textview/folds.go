package textview

import (
	"math"
	"strings"

	"github.com/espalier-ml/espalier/io/runfolder"
)

// leastOptimism is the optimism, in area, below which nothing is said of it.
const leastOptimism = 0.0001

// Folds describes the main figures of a cross-validation. modelled means that the chosen tree has
// leaf models, which the trees of the folds do not have.
func Folds(f *runfolder.Folds, modelled bool) string {
	var b strings.Builder
	printf(&b, "%s%s: AUC %s", plural(int64(f.Count), "fold"), withoutModels(modelled), Figure(f.Expected()))
	if d := f.StandardDeviation.AUCOvRMacro; d != nil {
		printf(&b, " +- %.4f", *d)
	}
	if f.Optimism != nil && *f.Optimism >= leastOptimism {
		printf(&b, " (measured: %s; the folds also chose the tree)", Figure(f.Mean.AUCOvRMacro))
	}
	if s := f.Stability; len(s.Splits) > 0 {
		root := math.Round(s.Splits[0].SameTest * float64(f.Count))
		printf(&b, "; the root has the same test in %.0f of %d trees", root, f.Count)
		if s.SameFeature != nil {
			printf(&b, ", a split has the same feature in %.0f %% of them and the same test in %.0f %% (means by "+
				"weight)", 100**s.SameFeature, 100**s.SameTest)
		}
	}
	return b.String()
}

// withoutModels returns words for the trees of the folds of a tree with leaf models.
func withoutModels(modelled bool) string {
	if modelled {
		return " without leaf models"
	}
	return ""
}
