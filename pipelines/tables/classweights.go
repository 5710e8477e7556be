package tables

import (
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/weighing"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Classes are settings of the user about classes.
type Classes struct {
	settings.PerClass

	files map[string]*classFile // by flag
}

// Digests returns the digests of the files by flag; nil if there are no files.
func (s *Classes) Digests() map[string]string {
	var digests map[string]string
	for flag, f := range s.files {
		if f.digest != "" {
			if digests == nil {
				digests = make(map[string]string)
			}
			digests[flag] = f.digest
		}
	}
	return digests
}

// PriorsOf returns the priors of the classes, with a sum of 1; nil if absent.
func (s *Classes) PriorsOf(classes []string) ([]float64, error) {
	priors, err := s.PerClass.PriorsOf(classes)
	return priors, s.located(err, classes)
}

// ErrorCostsOf returns the costs by actual and predicted class; nil if absent.
func (s *Classes) ErrorCostsOf(classes []string) ([][]float64, error) {
	costs, err := s.PerClass.ErrorCostsOf(classes)
	return costs, s.located(err, classes)
}

// DecisionOf returns the decision rule that names the class of interest; nil if none is named.
func (s *Classes) DecisionOf(classes []string) (*tree.Decision, error) {
	decision, err := s.PerClass.DecisionOf(classes)
	return decision, s.located(err, classes)
}

// Weigh determines, from the encoded weight of the training rows by class, the factors of the
// weights of rows, and sets them in rule. It returns the total weight of all weighted rows.
func (s *Classes) Weigh(rule *weighing.Rule, encoded []byte, classes []string) (int64, error) {
	sum, _, err := binning.Decode(encoded)
	if err != nil {
		return 0, err
	}
	weight, err := rule.WeighClasses(&s.PerClass, sum, classes)
	return weight, s.located(err, classes)
}

// located adds the flag and the line of a value to an error.
func (s *Classes) located(err error, classes []string) error {
	var fault *settings.ClassError
	if !errors.As(err, &fault) {
		return err
	}
	hint := ""
	if fault.Unknown != "" {
		hint = setting.Hint(fault.Unknown, classes)
	}
	place := ""
	if f := s.files[fault.Setting]; f != nil && f.url != "" && fault.Key != nil {
		place = fmt.Sprintf(" %s, line %d", f.url, f.lines[keyOf(fault.Key)])
	}
	return usage.Errorf("--%s%s: %s%s", fault.Setting, place, fault.Problem, hint)
}
