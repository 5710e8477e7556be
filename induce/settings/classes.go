package settings

import (
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/tree"
)

// PerClass holds settings for single classes.
type PerClass struct {
	// ClassWeights are factors of the weights of training rows, by class; 1 for a class without an
	// entry.
	ClassWeights   map[string]float64
	BalanceClasses bool // all classes have the same total weight

	// Priors are the frequencies of the classes where the tree will be used. Empty: as in training.
	Priors map[string]float64
	// ErrorCosts are the costs of wrong predictions. A wrong prediction without an entry costs 1, a
	// correct prediction 0.
	ErrorCosts []ErrorCost

	Positive string // the class of interest, which tree.json then names; empty: none
}

// ErrorCost is the cost of predicting a class for rows of another class.
type ErrorCost struct {
	Actual, Predicted string
	Cost              float64
}

// GreatestClassValue bounds weights and priors, so that their products with the weights of rows do not overflow. Error
// costs are bounded by GreatestCost, as the costs of tests to which they are added.
const GreatestClassValue = 1e6

// Weighs reports whether classes change the weights of training rows.
func (p *PerClass) Weighs() bool { return len(p.ClassWeights) > 0 || p.BalanceClasses }

// ClassError is the error for a value that does not fit the classes of the label.
type ClassError struct {
	Setting string   // such as priors
	Key     []string // classes of the value; nil if a value is missing
	Unknown string   // class of the key that the label does not have
	Problem string
}

// Error implements error.
func (e *ClassError) Error() string { return e.Problem }

func unknownClass(setting, class string, key ...string) error {
	return &ClassError{Setting: setting, Key: key, Unknown: class, Problem: fmt.Sprintf("the label has no class %q", class)}
}

// WeightsOf returns the factor of each class. A factor of a class that the label does not have is
// an error.
func (p *PerClass) WeightsOf(classes []string) ([]float64, error) {
	weights := slices.Repeat([]float64{1}, len(classes))
	for _, class := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		k := slices.Index(classes, class)
		if k < 0 {
			return nil, unknownClass("class_weights", class, class)
		}
		weights[k] = p.ClassWeights[class]
	}
	return weights, nil
}

// PriorsOf returns the prior of each class, with a sum of 1; nil if no priors are set.
func (p *PerClass) PriorsOf(classes []string) ([]float64, error) {
	if p.Priors == nil {
		return nil, nil
	}
	for _, class := range slices.Sorted(maps.Keys(p.Priors)) {
		if !slices.Contains(classes, class) {
			return nil, unknownClass("priors", class, class)
		}
	}
	priors := make([]float64, len(classes))
	sum := 0.0
	for k, class := range classes {
		x, given := p.Priors[class]
		if !given {
			return nil, &ClassError{Setting: "priors", Problem: fmt.Sprintf("the class %q has none: give one to each of the %d "+
				"classes", class, len(classes))}
		}
		priors[k] = x
		sum += x
	}
	for k := range priors {
		priors[k] /= sum
	}
	return priors, nil
}

// ErrorCostsOf returns the costs by actual and predicted class; nil if no error costs are set.
func (p *PerClass) ErrorCostsOf(classes []string) ([][]float64, error) {
	if p.ErrorCosts == nil {
		return nil, nil
	}
	costs := make([][]float64, len(classes))
	for actual := range costs {
		costs[actual] = slices.Repeat([]float64{1}, len(classes))
		costs[actual][actual] = 0
	}
	for _, e := range p.ErrorCosts {
		actual := slices.Index(classes, e.Actual)
		predicted := slices.Index(classes, e.Predicted)
		switch {
		case actual < 0:
			return nil, unknownClass("error_costs", e.Actual, e.Actual, e.Predicted)
		case predicted < 0:
			return nil, unknownClass("error_costs", e.Predicted, e.Actual, e.Predicted)
		}
		costs[actual][predicted] = e.Cost
	}
	return costs, nil
}

// DecisionOf returns the decision rule that names the class of interest; nil if none is named.
func (p *PerClass) DecisionOf(classes []string) (*tree.Decision, error) {
	if p.Positive == "" {
		return nil, nil //nolint:nilnil // a tree need not name it
	}
	if !slices.Contains(classes, p.Positive) {
		return nil, unknownClass("positive", p.Positive)
	}
	return &tree.Decision{Positive: p.Positive}, nil
}

// faults returns what is wrong with weights, priors and error costs, without knowing the classes of
// the rows.
func (p *PerClass) faults(name Namer) []error {
	var faults []error
	check := func(what string, x float64, r Range) {
		if !r.Has(x) {
			faults = append(faults, fmt.Errorf("%s %v: want a number %s", what, x, r))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(p.ClassWeights)) {
		check(fmt.Sprintf("%s: %q", name("class_weights"), class), p.ClassWeights[class], Between(0, GreatestClassValue))
	}
	for _, class := range slices.Sorted(maps.Keys(p.Priors)) {
		check(fmt.Sprintf("%s: %q", name("priors"), class), p.Priors[class], Above(0, GreatestClassValue))
	}
	var pairs []string
	for _, e := range p.ErrorCosts {
		pair := fmt.Sprintf("%s as %s", e.Actual, e.Predicted)
		check(fmt.Sprintf("%s: %q", name("error_costs"), pair), e.Cost, Between(0, GreatestCost))
		pairs = append(pairs, pair)
	}
	faults = append(faults, twice(name("error_costs"), "pair", pairs)...)
	if p.BalanceClasses && len(p.ClassWeights) > 0 {
		faults = append(faults, fmt.Errorf("%s and %s say two things: leave out one of the two", name("class_weights"),
			name("balance_classes")))
	}
	return faults
}
