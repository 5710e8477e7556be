package settings_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestPresetsAreValid: the settings that constructors return have no faults.
func TestPresetsAreValid(t *testing.T) {
	for name, s := range map[string]settings.Settings{
		"default": settings.Default(), "accurate": settings.Accurate(), "paper": settings.Paper(), "single": settings.Single(),
	} {
		if faults := s.Faults(settings.FlagName); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	var zero settings.Settings
	if len(zero.Faults(settings.FlagName)) == 0 {
		t.Error("the zero Settings, without a rule of choice, have no fault")
	}
}

// TestFaults: each fault names its setting and what is wanted, and has no further faults as consequences.
func TestFaults(t *testing.T) {
	for want, change := range map[string]func(s *settings.Settings){
		"Theta 1.5: want a number from 0 to 1":      func(s *settings.Settings) { s.Theta = []float64{0.1, 1.5} },
		"Lambda NaN: want a number":                 func(s *settings.Settings) { s.Lambda = []float64{math.NaN()} },
		"Tolerance -1: want":                        func(s *settings.Settings) { s.Tolerance = new(-1.0) },
		"MaxClasses 0: want a whole number from 1":  func(s *settings.Settings) { s.MaxClasses = 0 },
		"MaxCategories 65534: want a whole number":  func(s *settings.Settings) { s.MaxCategories = 65534 },
		"Bins 65535: want a number from 2 to 65534": func(s *settings.Settings) { s.Bins = 65535 },
		"Bins 1: want a number from 2":              func(s *settings.Settings) { s.Bins = 1 },
		"Folds 1: want auto, 0 or 2 to 100":         func(s *settings.Settings) { s.Folds = crossvalidate.Setting{Number: 1} },
		"Alpha 0.1 is of one currency": func(s *settings.Settings) {
			s.Alpha, s.Prune = new(0.1), []prune.Currency{prune.Leaves, prune.Cost}
		},
		"Algorithm: algorithm":                  func(s *settings.Settings) { s.Algorithm = []split.Algorithm{0} },
		`Teacher "": want one of`:               func(s *settings.Settings) { s.Teacher = "" },
		"MadeUpRows are for a teacher":          func(s *settings.Settings) { s.MadeUpRows = new(int64(5)) },
		"Select total adds the cost of errors":  func(s *settings.Settings) { s.Select = frontier.Total },
		"Lambda auto is a choice":               func(s *settings.Settings) { s.Select, s.Lambda = frontier.First, nil },
		"MaxCost 3 is a budget":                 func(s *settings.Settings) { s.Select, s.MaxCost = frontier.First, 3 },
		`First: the feature "a" is named twice`: func(s *settings.Settings) { s.First = []string{"a", "", "a"} },
		`Costs: the cost of "a" 1e-40: want 0`:  func(s *settings.Settings) { s.Costs = map[string]float64{"a": 1e-40} },
		`Priors: "a" 0: want a number above 0`:  func(s *settings.Settings) { s.Priors = map[string]float64{"a": 0} },
		"MinSensitivity a=1: want a share from 0 to 0.99999": func(s *settings.Settings) {
			s.MinSensitivity = settings.LeastShare{Class: "a", Share: 1}
		},
		`MinSensitivity is about the class "a", and another share about "b"`: func(s *settings.Settings) {
			s.MinSensitivity = settings.LeastShare{Class: "a", Share: .9}
			s.MinPrecision = settings.LeastShare{Class: "b", Share: .9}
		},
		"Confidence 0.2: want a number from 0.5": func(s *settings.Settings) {
			s.MinSensitivity, s.Confidence = settings.LeastShare{Class: "a", Share: .9}, .2
		},
		"LeafModel auto: where leaves have models, a threshold keeps a sensitivity or a specificity alone: demand a sensitivity or a specificity, not a precision": func(s *settings.Settings) {
			s.MinPrecision, s.LeafModel = settings.LeastShare{Class: "a", Share: .9}, selection.Auto
		},
		"MinPrecision: a threshold is chosen on validation rows, and Split 80/0/20 has none": func(s *settings.Settings) {
			s.MinPrecision, s.Split = settings.LeastShare{Class: "a", Share: .9}, dataset.Shares{80, 0, 20}
		},
		"MinPrecision: a precision is shown by the classes' frequencies among the rows, not by Priors: demand": func(s *settings.Settings) {
			s.MinPrecision, s.Priors = settings.LeastShare{Class: "a", Share: .9}, map[string]float64{"a": .5, "b": .5}
		},
		"MinPrecision: a precision is shown by the classes' frequencies among the rows, not by ClassWeights: demand": func(s *settings.Settings) {
			s.MinPrecision, s.BalanceClasses = settings.LeastShare{Class: "a", Share: .9}, true
		},
		"ClassWeights and BalanceClasses say two": func(s *settings.Settings) {
			s.ClassWeights, s.BalanceClasses = map[string]float64{"a": 1}, true
		},
	} {
		s := settings.Default()
		change(&s)
		var texts []string
		for _, fault := range s.Faults(settings.FieldName) {
			texts = append(texts, fault.Error())
		}
		if text := strings.Join(texts, "\n"); !strings.Contains(text, want) || len(texts) != 1 {
			t.Errorf("%q: want %q alone", text, want)
		}
	}
}

// TestTolerance: a limit on each path alone leaves none, a limit on the average as well leaves it; a number that is given holds.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		name   string
		preset settings.Settings
		change func(s *settings.Settings)
		want   float64
	}{
		{"default", settings.Default(), func(*settings.Settings) {}, .001},
		{"accurate", settings.Accurate(), func(*settings.Settings) {}, .0035},
		{"maximum", settings.Accurate(), func(s *settings.Settings) { s.MaxCost = 3 }, 0},
		{"tests", settings.Default(), func(s *settings.Settings) { s.MaxTests = 2 }, 0},
		{"both", settings.Default(), func(s *settings.Settings) { s.MaxTests, s.MaxExpectedCost = 2, 1 }, .001},
		{"minutes", settings.Default(), func(s *settings.Settings) { s.MaxFurther = map[string]float64{"minutes": 2} }, 0},
		{"minutes on average", settings.Default(), func(s *settings.Settings) {
			s.MaxFurther, s.MaxExpectedFurther = map[string]float64{"minutes": 2}, map[string]float64{"minutes": 1}
		}, .001},
		{"given", settings.Default(), func(s *settings.Settings) { s.MaxTests, s.Tolerance = 2, new(.01) }, .01},
	} {
		if c.change(&c.preset); c.preset.Selection().Tolerance != c.want {
			t.Errorf("%s: tolerance %v, want %v", c.name, c.preset.Selection().Tolerance, c.want)
		}
	}
}

// TestApply: by hand. A feature without a cost costs 1; values of numeric features have no costs.
func TestApply(t *testing.T) {
	p := settings.Prices{
		Costs: map[string]float64{"a": 2, "b": 0}, ValueCosts: map[string]map[string]float64{"color": {"red": 5}},
		Groups: []settings.CostGroup{{Name: "lab", Features: []string{"a", "c"}, Cost: 9}},
	}
	got := []dataset.Feature{
		{Name: "a", Kind: dataset.Numeric},
		{Name: "b", Kind: dataset.Numeric},
		{Name: "c", Kind: dataset.Numeric},
		{Name: "color", Kind: dataset.Categorical, Values: []string{"blue", "red"}},
	}
	want := []dataset.Feature{
		{Name: "a", Kind: dataset.Numeric, Cost: 2, Group: "lab", GroupCost: 9},
		{Name: "b", Kind: dataset.Numeric},
		{Name: "c", Kind: dataset.Numeric, Cost: 1, Group: "lab", GroupCost: 9},
		{Name: "color", Kind: dataset.Categorical, Values: []string{"blue", "red"}, Cost: 1, ValueCosts: map[string]float64{"red": 5}},
	}
	if err := p.Apply(got, 100); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.ValueCosts["a"] = map[string]float64{"1": 1}
	if err := p.Apply(got, 100); err == nil || !strings.Contains(err.Error(), `feature "a" is numeric`) {
		t.Errorf("a cost of a value of a numeric feature: %v", err)
	}
}

// TestApplyFurther: by hand. Features without a cost in a further currency cost 1 there, groups nothing.
func TestApplyFurther(t *testing.T) {
	p := settings.Prices{
		Further: map[string]map[string]float64{"minutes": {"a": 5}, "visits": {"b": 2}},
		Groups:  []settings.CostGroup{{Name: "lab", Features: []string{"a"}, Cost: 9, Further: map[string]float64{"minutes": 8}}},
	}
	got := []dataset.Feature{{Name: "a", Kind: dataset.Numeric}, {Name: "b", Kind: dataset.Numeric}}
	want := []dataset.Feature{
		{
			Name: "a", Kind: dataset.Numeric, Cost: 1, Group: "lab", GroupCost: 9,
			FurtherCosts: map[string]float64{"minutes": 5, "visits": 1}, GroupFurther: map[string]float64{"minutes": 8, "visits": 0},
		},
		{Name: "b", Kind: dataset.Numeric, Cost: 1, FurtherCosts: map[string]float64{"minutes": 1, "visits": 2}},
	}
	if err := p.Apply(got, 100); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := settings.Default()
	s.Prices = p
	s.CostUnit = "visits"
	s.ValueCosts = map[string]map[string]float64{"c": {"red": 5}}
	s.Groups[0].Further["staff"] = -1
	s.MaxFurther = map[string]float64{"minutes": -1, "a": 1, "b": 1, "c": 1, "d": 1}
	faults := errors.Join(s.Faults(settings.FieldName)...).Error()
	for _, want := range []string{
		`Further: the currency "visits": want another name than the CostUnit`, "Further and ValueCosts do not go together",
		`the group "lab" has a cost in "staff", no feature has`, `the cost of "lab" in staff -1: want 0`, "MaxCost minutes=-1: want a number from 0",
		`limits in ["a" "b" "c" "d"]: want at most 3 further currencies`,
	} {
		if !strings.Contains(faults, want) {
			t.Errorf("%q is not among the faults: %s", want, faults)
		}
	}
}

// TestCheckUnits: a limit in a currency that no price list has is refused, also one of 0.
func TestCheckUnits(t *testing.T) {
	for _, x := range []struct {
		limits map[string]float64
		units  []string
		want   string
	}{
		{map[string]float64{"minutes": 0}, nil, "--max_cost minutes=0: no price list has the column minutes; further currencies: none"},
		{map[string]float64{"hours": 3}, []string{"minutes", "visits"}, "--max_cost hours=3: no price list has the column hours; further currencies: minutes, visits"},
		{map[string]float64{"EUR": 20}, []string{"minutes"}, "--max_cost EUR=20: a limit in the first currency has no name: write 20"},
		{map[string]float64{"minutes": 20}, []string{"minutes"}, ""},
	} {
		s := settings.Default()
		s.MaxFurther = x.limits
		got := ""
		if err := s.CheckUnits(x.units, "EUR", settings.FlagName); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%v: %q, want %q", x.limits, got, x.want)
		}
	}
}

// TestUnorderedByFurther: a group that costs minutes alone has a price.
func TestUnorderedByFurther(t *testing.T) {
	for minutes, want := range map[float64]bool{15: true, 0: false} {
		p := settings.Prices{
			Further: map[string]map[string]float64{"minutes": {"b": 2}},
			Groups:  []settings.CostGroup{{Name: "lab", Features: []string{"a"}, Further: map[string]float64{"minutes": minutes}}},
		}
		features := []dataset.Feature{{Name: "a", Kind: dataset.Numeric, Missing: 90}}
		if err := p.Apply(features, 100); err != nil || features[0].Unordered != want {
			t.Errorf("%v minutes: unordered is %v (%v)", minutes, features[0].Unordered, err)
		}
	}
}

// TestPerClass: by hand. Priors have the sum 1, and other errors cost 1.
func TestPerClass(t *testing.T) {
	classes := []string{"a", "b", "c"}
	p := settings.PerClass{
		ClassWeights: map[string]float64{"b": 3}, Priors: map[string]float64{"a": 1, "b": 1, "c": 2},
		ErrorCosts: []settings.ErrorCost{{Actual: "a", Predicted: "c", Cost: 7}},
	}
	weights, err := p.WeightsOf(classes)
	priors, err2 := p.PriorsOf(classes)
	costs, err3 := p.ErrorCostsOf(classes)
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	if diff := cmp.Diff([]any{[]float64{1, 3, 1}, []float64{.25, .25, .5}, [][]float64{{0, 1, 7}, {1, 0, 1}, {1, 1, 0}}},
		[]any{weights, priors, costs}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	few := classes[:1]
	_, err = p.WeightsOf(few)
	_, err2 = p.PriorsOf(few)
	_, err3 = p.ErrorCostsOf(few)
	for i, err := range []error{err, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "the label has no class") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := p.PriorsOf(append(classes, "d")); err == nil || !strings.Contains(err.Error(), `the class "d" has none`) {
		t.Errorf("a class without a prior: %v", err)
	}
}
