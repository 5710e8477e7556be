package textview_test

import (
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestFolds: by hand.
func TestFolds(t *testing.T) {
	area, deviation, feature, test, optimism := .91234, .02, .834, .5, .03
	splits := []tree.SplitStability{{Node: 0, Feature: "x", SameFeature: 1, SameTest: .8}}
	mean, spread := runfolder.FoldMeans{AUCOvRMacro: &area}, runfolder.FoldMeans{AUCOvRMacro: &deviation}
	for want, f := range map[string]runfolder.Folds{
		"5 folds: AUC 0.9123 +- 0.0200; the root has the same test in 4 of 5 trees, a split has the same " +
			"feature in 83 % of them and the same test in 50 % (means by weight)": {
			Count: 5, Mean: mean, StandardDeviation: spread,
			Stability: &tree.Stability{SameFeature: &feature, SameTest: &test, Splits: splits},
		},
		"5 folds: AUC 0.8823 +- 0.0200 (measured: 0.9123; the folds also chose the tree)": {
			Count: 5, Mean: mean, StandardDeviation: spread, Optimism: &optimism, Stability: &tree.Stability{},
		},
		"3 folds: AUC 0.9123":                     {Count: 3, Mean: mean, Stability: &tree.Stability{}}, // a bare leaf
		"3 folds without leaf models: AUC 0.9123": {Count: 3, Mean: mean, Stability: &tree.Stability{}},
		"2 folds: AUC -":                          {Count: 2, Stability: &tree.Stability{}}, // of one class
	} {
		if got := textview.Folds(&f, strings.Contains(want, "without leaf models")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
