package settings

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Faults returns what is wrong with the settings: numbers out of range, and settings that exclude
// each other. It does not know the columns or the classes of the rows.
func (s *Settings) Faults(name Namer) []error {
	var faults []error
	for _, n := range s.numbers() {
		if r := RangeOf(n.setting); !r.Has(n.value) {
			value := Spelled(n.value)
			if n.unit != "" {
				value = n.unit + "=" + value
			}
			faults = append(faults, fmt.Errorf("%s %s: want %s %s", name(n.setting), value, n.noun, r))
		}
	}
	return slices.Concat(faults, s.kindFaults(name), s.binFaults(name), s.columnFaults(name), s.Prices.faults(name),
		s.PerClass.faults(name), s.teacherFaults(name), s.choiceFaults(name), s.demandFaults(name))
}

// binFaults checks how many bins there are, because a code for missing is left in two bytes.
func (s *Settings) binFaults(name Namer) []error {
	if s.Bins != 0 && (s.Bins < 2 || s.Bins > MaxBins) {
		return []error{fmt.Errorf("%s %d: want a number from 2 to %d, or auto", name("bins"), s.Bins, MaxBins)}
	}
	return nil
}

// columnFaults checks the parts of the rows, and the names of columns.
func (s *Settings) columnFaults(name Namer) []error {
	faults := twice(name("first"), "feature", s.First)
	if s.SplitColumn == "" && s.Split[dataset.Train] == 0 {
		faults = append(faults, fmt.Errorf("%s %s: the training part, the first number, must be positive", name("split"), s.Split))
	}
	for _, column := range s.Categorical {
		if slices.Contains(s.Numeric, column) {
			faults = append(faults, fmt.Errorf("column %q is named in both %s and %s", column, name("categorical"),
				name("numeric")))
		}
	}
	for _, feature := range slices.Sorted(maps.Keys(s.Ordered)) {
		switch values := s.Ordered[feature]; {
		case slices.Contains(s.Categorical, feature) || slices.Contains(s.Numeric, feature):
			faults = append(faults, fmt.Errorf("column %q is named in %s, and in %s or %s", feature, name("ordered"), name("categorical"),
				name("numeric")))
		case len(values) < 2:
			faults = append(faults, fmt.Errorf("%s %s: want two values or more, from the least to the greatest", name("ordered"), feature))
		default:
			faults = append(faults, twice(name("ordered")+" "+feature, "value", values)...)
		}
	}
	for _, feature := range slices.Sorted(maps.Keys(s.Cuts)) {
		cuts := s.Cuts[feature]
		finite := !slices.ContainsFunc(cuts, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		rises := slices.IsSorted(cuts) && len(slices.Compact(slices.Clone(cuts))) == len(cuts)
		switch {
		case slices.Contains(s.Categorical, feature) || s.Ordered[feature] != nil:
			faults = append(faults, fmt.Errorf("column %q is named in %s, and in %s or %s", feature, name("cuts"), name("categorical"),
				name("ordered")))
		case len(cuts) == 0 || !finite || !rises:
			faults = append(faults, fmt.Errorf("%s %s: want finite numbers, each above the one before it", name("cuts"), feature))
		}
	}
	for _, feature := range slices.Sorted(maps.Keys(s.Monotone)) {
		if sign := s.Monotone[feature]; sign != 1 && sign != -1 {
			faults = append(faults, fmt.Errorf("%s: %q %d: want +1 or -1", name("monotone"), feature, sign))
		}
	}
	if len(s.Monotone) == 0 {
		return faults
	}
	if slices.Contains(s.Tests, split.OneHot) {
		faults = append(faults, fmt.Errorf("%s needs threshold tests, which %s onehot lacks: choose threshold or both",
			name("monotone"), name("tests")))
	}
	if s.LeafModel == selection.Linear || s.LeafModel == selection.Boosted {
		faults = append(faults, fmt.Errorf("%s %s does not keep %s: a model in a leaf may rise and fall with a value; leave "+
			"out one of the two", name("leaf_model"), s.LeafModel, name("monotone")))
	}
	if s.Teacher == distill.Boosted {
		faults = append(faults, fmt.Errorf("%s %s does not keep %s: leave out one of the two", name("teacher"), s.Teacher,
			name("monotone")))
	}
	return faults
}

// kindFaults checks that enumerated values are known.
func (s *Settings) kindFaults(name Namer) []error {
	var faults []error
	add := func(setting string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name(setting), err))
		}
	}
	for _, a := range s.Algorithm {
		add("algorithm", unknown(a, split.ParseAlgorithm))
	}
	for _, f := range s.Tests {
		add("tests", unknown(f, split.ParseFamily))
	}
	for _, c := range s.Prune {
		add("prune", unknown(c, prune.ParseCurrency))
	}
	add("select", unknown(s.Select, frontier.ParseRule))
	add("merit", unknown(s.Merit, frontier.ParseCriterion))
	add("binning", unknown(s.Binning, binning.ParseMethod))
	add("leaf_estimate", unknown(s.LeafEstimate, tree.ParseEstimate))
	add("classes", unknown(s.Classes, split.ParseClasses))
	if kinds := selection.Kinds(); !slices.Contains(kinds, string(s.LeafModel)) {
		faults = append(faults, fmt.Errorf("%s %q: want one of %q", name("leaf_model"), s.LeafModel, kinds))
	}
	if err := s.Teacher.Check(); err != nil {
		faults = append(faults, fmt.Errorf("%s %q: %w", name("teacher"), s.Teacher, err))
	}
	return faults
}

// unknown returns the error for a value that has no name.
func unknown[T fmt.Stringer](value T, parse func(string) (T, error)) error {
	_, err := parse(value.String())
	return err
}

// Teaches reports whether trees may learn from a teacher, see selection.Chooser.Regrow.
func (s *Settings) Teaches() bool {
	return s.Teacher == distill.Boosted || s.Teacher == distill.Auto && s.LeafModel != selection.None
}

// teacherFaults checks the settings of teachers.
func (s *Settings) teacherFaults(name Namer) []error {
	var faults []error
	if s.Teacher == distill.Boosted && s.Select == frontier.First {
		faults = append(faults, fmt.Errorf("%s %s makes trees to choose among: %s first chooses nothing; "+
			"name a rule that does, such as %s best", name("teacher"), s.Teacher, name("select"), name("select")))
	}
	if !s.Teaches() && s.MadeUpRows != nil {
		faults = append(faults, fmt.Errorf("%s are for a teacher: add %s boosted", name("made_up_rows"), name("teacher")))
	}
	return faults
}

// choiceFaults checks the settings of the choice. The rule First takes the first tree of the grid,
// whatever it costs.
func (s *Settings) choiceFaults(name Namer) []error {
	var faults []error
	if s.Alpha != nil && len(s.Prune) > 1 {
		faults = append(faults, fmt.Errorf("%s %v is of one currency: name it with %s, such as %s leaves", name("alpha"),
			*s.Alpha, name("prune"), name("prune")))
	}
	if n := s.Folds; n.Number < 0 || n.Number == 1 || n.Number > crossvalidate.MaxFolds {
		faults = append(faults, fmt.Errorf("%s %d: want auto, 0 or 2 to %d", name("folds"), n.Number, crossvalidate.MaxFolds))
	}
	if s.Select == frontier.Total && s.ErrorCosts == nil {
		faults = append(faults, fmt.Errorf("%s total adds the cost of errors to the cost of tests: give %s, costs by actual and "+
			"predicted class in the unit of %s", name("select"), name("error_costs"), name("costs")))
	}
	if slices.Equal(s.Prune, []prune.Currency{prune.Total}) && s.ErrorCosts == nil {
		faults = append(faults, fmt.Errorf("%s total prunes by the cost of errors: give %s, or another currency as well", name("prune"),
			name("error_costs")))
	}
	if (s.Select == frontier.OneSE || s.Select == frontier.Paper) && s.Merit > frontier.AUC {
		faults = append(faults, fmt.Errorf("%s %s compares AUCs: give %s auc, not %s, or choose by another rule, such as %s best",
			name("select"), s.Select, name("merit"), s.Merit, name("select")))
	}
	if units := s.limitedUnits(); len(units) > dataset.MostFurther {
		faults = append(faults, fmt.Errorf("limits in %q: want at most %d further currencies", units, dataset.MostFurther))
	}
	if s.Select != frontier.First {
		return faults
	}
	if s.Merit > frontier.Auto {
		faults = append(faults, fmt.Errorf("%s %s compares trees: %s first compares none", name("merit"), s.Merit, name("select")))
	}
	if len(s.Lambda) == 0 {
		faults = append(faults, fmt.Errorf("%s auto is a choice among the paper's lambdas: %s first makes none, %s paper does",
			name("lambda"), name("select"), name("select")))
	}
	if units := s.limitedUnits(); len(units) > 0 {
		faults = append(faults, fmt.Errorf("limits in %q are budgets to choose by: %s first chooses nothing; name a rule that "+
			"does, such as %s best", units, name("select"), name("select")))
	}
	for _, budget := range []struct {
		setting string
		cost    float64
	}{{"max_expected_cost", s.MaxExpectedCost}, {"max_cost", s.MaxCost}, {"max_tests", float64(s.MaxTests)}} {
		if budget.cost != 0 {
			faults = append(faults, fmt.Errorf("%s %v is a budget to choose by: %s first chooses nothing; name a rule that "+
				"does, such as %s best", name(budget.setting), budget.cost, name("select"), name("select")))
		}
	}
	return faults
}
