package crossvalidate

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Limits of the decision to cross-validate (see Setting.Decide). By measurement on
// public data sets, rare classes and small data gain by cross-validation.
const (
	AutoFolds  = 5      // number of folds
	EnoughRows = 200    // validation rows of the rarest class that suffice without folds
	FewObjects = 20_000 // training objects up to which there are folds whatever the validation rows
	MostAuto   = 50_000 // training objects up to which folds are grown
)

// Auto is the text of the setting by which the data decide.
const Auto = "auto"

// MaxFolds is the greatest number of folds.
const MaxFolds = 100

// Setting is the number of folds that a user requests.
type Setting struct {
	Auto   bool // the data decide: see Decide
	Number int  // number of folds if Auto is false, at least 2; 0: no cross-validation
}

// ParseSetting reads a setting: "auto", 0, or a number of folds from 2 to MaxFolds.
func ParseSetting(s string) (Setting, error) {
	if s == Auto {
		return Setting{Auto: true}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n == 1 || n > MaxFolds {
		return Setting{}, fmt.Errorf("number of folds %q: want %s, 0 or 2 to %d", s, Auto, MaxFolds)
	}
	return Setting{Number: n}, nil
}

// Reason is what determined the number of folds.
type Reason uint8

// The reasons.
const (
	Asked    Reason = iota + 1 // the user named the number
	Few                        // there are at most FewObjects training objects
	RareRows                   // the rarest class has less than EnoughRows validation rows
	Enough                     // the rarest class has at least EnoughRows validation rows
	TooMany                    // there are more than MostAuto training objects
)

// Decision is a number of folds and what decided it.
type Decision struct {
	Folds  int // 0: no cross-validation
	Reason Reason
}

// Decide returns the number of folds for a run. rare is the number of validation rows
// of the rarest class, and objects is the number of training objects; both may be
// estimates.
func (s Setting) Decide(rare, objects float64) Decision {
	switch {
	case !s.Auto:
		return Decision{s.Number, Asked}
	case objects <= FewObjects:
		return Decision{AutoFolds, Few}
	case rare >= EnoughRows:
		return Decision{0, Enough}
	case objects > MostAuto:
		return Decision{0, TooMany}
	default:
		return Decision{AutoFolds, RareRows}
	}
}

// Rarest returns the number of rows of the rarest of the classes. If rows are weighted
// it is an estimate: all rows times the class's share of the weight.
func Rarest(counts *tree.LeafCounts, classes int) float64 {
	weights := judging.ClassWeights(counts, classes)
	all := portable.Sum(weights)
	return float64(counts.TotalRows()) * float64(slices.Min(weights)) / float64(max(1, all))
}

// String returns the setting as users write it.
func (s Setting) String() string {
	if s.Auto {
		return Auto
	}
	return strconv.Itoa(s.Number)
}
