package transforms

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// This file has what a TrainConfig says of prices, of the order of tests, and of classes.

// price sets the prices of a feature.
func (c *TrainConfig) price(f *dataset.Feature) error {
	f.Cost = 1
	if cost, given := c.Costs[f.Name]; given {
		f.Cost = cost
	}
	for i := range c.Groups {
		if g := &c.Groups[i]; slices.Contains(g.Features, f.Name) {
			f.Group, f.GroupCost = g.Name, g.Cost
		}
	}
	for _, value := range slices.Sorted(maps.Keys(c.ValueCosts[f.Name])) {
		problem := ""
		switch {
		case f.Kind != dataset.Categorical:
			problem = "the feature is numeric, only the values of categorical features have tests of their own"
		case !slices.Contains(f.Values, value):
			problem = "the feature has no such value among the training rows"
		}
		if problem != "" {
			return &dataset.DataError{Column: f.Name, Value: value, Problem: problem, Hint: "correct the ValueCosts"}
		}
		if f.ValueCosts == nil {
			f.ValueCosts = make(map[string]float64)
		}
		f.ValueCosts[value] = c.ValueCosts[f.Name][value]
	}
	return nil
}

// constraints returns Monotone as tree.json has it; nil: there are none.
func (c *TrainConfig) constraints() map[string]int8 {
	if len(c.Monotone) == 0 {
		return nil
	}
	list := make(map[string]int8, len(c.Monotone))
	for name, sign := range c.Monotone {
		list[name] = int8(sign)
	}
	return list
}

// splitColumns returns the features as the scan for tests needs them.
func (s *trainSpec) splitColumns(features []dataset.Feature) []split.Column {
	c := &s.Config
	columns := split.Columns(features)
	for i := range columns {
		columns[i].FreeRepeats = c.FreeRepeats
		columns[i].First = slices.Index(c.First, features[i].Name) + 1
		columns[i].Monotone = int8(c.Monotone[features[i].Name])
	}
	return columns
}

// checkWishes checks the groups, First and Monotone against the features.
func (s *trainSpec) checkWishes() error {
	c := &s.Config
	var features, first []string
	for i := range s.Columns {
		features = append(features, s.Columns[i].Name)
	}
	for _, name := range c.First {
		if name != "" {
			first = append(first, name)
		}
	}
	faults := []error{
		s.checkAreFeatures("First", first, features),
		s.checkAreFeatures("Monotone", slices.Sorted(maps.Keys(c.Monotone)), features),
	}
	var grouped, names []string
	for i := range c.Groups {
		if c.Groups[i].Name == "" {
			faults = append(faults, errors.New("the Groups: a group has no Name, want one"))
		}
		grouped, names = append(grouped, c.Groups[i].Features...), append(names, c.Groups[i].Name)
	}
	faults = append(faults, s.checkAreFeatures("Groups", grouped, features), repeated("Groups", names))
	for _, name := range slices.Sorted(maps.Keys(c.Monotone)) {
		if sign := c.Monotone[name]; sign != 1 && sign != -1 {
			faults = append(faults, fmt.Errorf("the Monotone: %q %d: want +1 or -1", name, sign))
		}
	}
	if len(c.Monotone) > 0 && slices.Contains(listOr(c.Grid.Tests, c.Tests), split.OneHot.String()) {
		faults = append(faults, errors.New("the Monotone: it needs threshold tests, which the Tests onehot lack: "+
			"choose threshold or both"))
	}
	return errors.Join(faults...)
}

// maxClassValue is the greatest prior and error cost, as for `espalier train`.
const maxClassValue = 1e6

// checkClasses checks the numbers of Priors and ErrorCosts. The rows have the classes.
func (s *trainSpec) checkClasses() error {
	c := &s.Config
	var faults []error
	for _, class := range slices.Sorted(maps.Keys(c.Priors)) {
		if p := c.Priors[class]; !(p > 0 && p <= maxClassValue) {
			faults = append(faults, fmt.Errorf("the Priors: %q %v: want a number above 0 and up to %d", class, p,
				int(maxClassValue)))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(c.ClassWeights)) {
		if w := c.ClassWeights[class]; !(w >= 0 && w <= maxClassValue) {
			faults = append(faults, fmt.Errorf("the ClassWeights: %q %v: want a number from 0 to %d", class, w, int(maxClassValue)))
		}
	}
	var pairs []string
	for _, e := range c.ErrorCosts {
		if !(e.Cost >= 0 && e.Cost <= maxClassValue) {
			faults = append(faults, fmt.Errorf("the ErrorCosts of %q as %q: the Cost %v: want a number from 0 to %d", e.Actual,
				e.Predicted, e.Cost, int(maxClassValue)))
		}
		pairs = append(pairs, fmt.Sprintf("%q as %q", e.Actual, e.Predicted))
	}
	return errors.Join(append(faults, repeated("ErrorCosts", pairs))...)
}

// describeLabel describes the class column of the tree, with priors and error costs.
func (s *trainSpec) describeLabel(classes []string) (tree.Label, error) {
	c := &s.Config
	l := tree.Label{Column: c.Label, Classes: classes}
	if len(c.Monotone) > 0 && len(classes) != 2 {
		return l, s.classFault(fmt.Sprintf("the label has %d classes, and Monotone wants two", len(classes)))
	}
	if err := s.setPriors(&l); err != nil {
		return l, err
	}
	return l, s.setErrorCosts(&l)
}

// classFault returns the error of settings that do not fit the classes of the rows.
func (s *trainSpec) classFault(problem string) error {
	return &dataset.DataError{Column: s.Config.Label, Problem: problem, Hint: "correct the configuration of the training"}
}

// setPriors sets the priors of the classes, of sum 1.
func (s *trainSpec) setPriors(l *tree.Label) error {
	given := s.Config.Priors
	if len(given) == 0 {
		return nil
	}
	for _, class := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(l.Classes, class) {
			return s.classFault(fmt.Sprintf("Priors: there is no class %q, only %q", class, l.Classes))
		}
	}
	sum := 0.0
	for _, class := range l.Classes {
		p, ok := given[class]
		if !ok {
			return s.classFault(fmt.Sprintf("Priors: the class %q has none: give one to each of %q", class, l.Classes))
		}
		l.Priors = append(l.Priors, p)
		sum += p
	}
	for k := range l.Priors {
		l.Priors[k] /= sum
	}
	return nil
}

// setErrorCosts sets the costs by actual and predicted class.
func (s *trainSpec) setErrorCosts(l *tree.Label) error {
	if len(s.Config.ErrorCosts) == 0 {
		return nil
	}
	for actual := range l.Classes {
		l.ErrorCosts = append(l.ErrorCosts, slices.Repeat([]float64{1}, len(l.Classes)))
		l.ErrorCosts[actual][actual] = 0
	}
	for _, e := range s.Config.ErrorCosts {
		actual, predicted := slices.Index(l.Classes, e.Actual), slices.Index(l.Classes, e.Predicted)
		if actual < 0 || predicted < 0 {
			return s.classFault(fmt.Sprintf("ErrorCosts of %q as %q: want two of the classes %q", e.Actual, e.Predicted,
				l.Classes))
		}
		l.ErrorCosts[actual][predicted] = e.Cost
	}
	return nil
}
