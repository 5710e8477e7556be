package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/split"
)

// Prices are the costs of tests.
type Prices struct {
	Costs map[string]float64 // cost of a test by feature; 0 is free; 1 without an entry
	// ValueCosts are the costs of tests for single values, by categorical feature and value.
	ValueCosts map[string]map[string]float64
	Groups     []CostGroup // features that share a price
	// Further are the costs of tests in further currencies, such as minutes in addition to euros, by currency and feature; 1 without
	// an entry. Trees are chosen by Costs; further currencies only have limits.
	Further     map[string]map[string]float64
	FreeRepeats bool   // whether repeated tests of a feature on a path are free, unless its values have costs
	CostUnit    string // unit of the costs, for reports
	// Absent is how absent values are read, by feature; by an empty name for all other features.
	Absent map[string]Absence
}

// Absence is how absent values of a feature are read.
type Absence string

// The ways to read absent values.
const (
	AbsentValue     Absence = "value"     // as a value: tests may separate rows without a value from rows with one
	AbsentUnordered Absence = "unordered" // nobody ordered it: see dataset.Feature.Unordered
	AbsentAuto      Absence = "auto"      // unordered if a price list gives a price above 0 and many rows lack the value
)

// Absences returns the names of the ways to read absent values.
func Absences() []string {
	return []string{string(AbsentValue), string(AbsentUnordered), string(AbsentAuto)}
}

// absence returns how absent values of a feature are read.
func (p *Prices) absence(feature string) Absence {
	return cmp.Or(p.Absent[feature], p.Absent[""], AbsentAuto)
}

// unordered reports whether the values of a feature are absent because nobody ordered them. weight is the weight of the
// training rows. A feature of an earlier run stays as it was, unless it is named.
func (p *Prices) unordered(f *dataset.Feature, weight int64) bool {
	switch p.absence(f.Name) {
	case AbsentUnordered:
		return true
	case AbsentValue:
		return false
	default:
		return f.Unordered || p.charges(f) && f.OftenMissing(weight)
	}
}

// charges reports whether a price list gives a feature a price above 0.
func (p *Prices) charges(f *dataset.Feature) bool {
	charged := p.Costs[f.Name] > 0 || f.GroupCost > 0
	for _, costs := range p.Further {
		charged = charged || costs[f.Name] > 0
	}
	for _, cost := range f.GroupFurther {
		charged = charged || cost > 0
	}
	for _, cost := range p.ValueCosts[f.Name] {
		charged = charged || cost > 0
	}
	return charged
}

// CostGroup is a group of features that share a price, which is paid once on a path, at the first
// test of a feature in the group.
type CostGroup struct {
	Name     string
	Features []string
	Cost     float64
	Further  map[string]float64 `json:",omitempty"` // costs in further currencies, see Prices.Further; 0 without an entry
}

// Limits of costs above 0.
const (
	LeastCost    = 1e-30
	GreatestCost = 1e30
)

// CostHeaders are the first lines that a costs file may have.
func CostHeaders() []string {
	return []string{"feature,cost", "feature,cost,group,group_cost", "feature,value,cost"}
}

// FurtherUnits returns the further currencies of the prices, in the order of dataset.FurtherUnits.
func (p *Prices) FurtherUnits() []string { return slices.Sorted(maps.Keys(p.Further)) }

// applyFurther sets the prices of a feature in further currencies. at is the index of its group; negative: it has none.
func (p *Prices) applyFurther(f *dataset.Feature, at int) {
	f.FurtherCosts = nil
	f.GroupFurther = nil
	if len(p.Further) == 0 {
		return
	}
	f.FurtherCosts = make(map[string]float64)
	if at >= 0 {
		f.GroupFurther = make(map[string]float64)
	}
	for unit, costs := range p.Further {
		f.FurtherCosts[unit] = entryOr1(costs, f.Name)
		if at >= 0 {
			f.GroupFurther[unit] = p.Groups[at].Further[unit]
		}
	}
}

// Tables returns the prices by their keys in a configuration.
func (p *Prices) Tables() map[string]any {
	return map[string]any{"costs": &p.Costs, "values": &p.ValueCosts, "groups": &p.Groups, "further": &p.Further}
}

// Apply sets the prices of the features, and whether their values are unordered. Prices of values that no training row has
// are left out: see Unseen. weight is the weight of the training rows, as of dataset.Feature.Missing. An error is a
// *dataset.DataError.
func (p *Prices) Apply(features []dataset.Feature, weight int64) error {
	for i := range features {
		f := &features[i]
		f.Cost = entryOr1(p.Costs, f.Name)
		at := slices.IndexFunc(p.Groups, func(g CostGroup) bool { return slices.Contains(g.Features, f.Name) })
		if at >= 0 {
			f.Group = p.Groups[at].Name
			f.GroupCost = p.Groups[at].Cost
		}
		p.applyFurther(f, at)
		f.Unordered = p.unordered(f, weight)
		costs := p.ValueCosts[f.Name]
		for _, value := range slices.Sorted(maps.Keys(costs)) {
			problem := ""
			switch {
			case f.Kind != dataset.Categorical:
				problem = fmt.Sprintf("feature %q is numeric, only the values of categorical features have tests of their own", f.Name)
			case f.Ordered:
				problem = fmt.Sprintf("the values of feature %q are ordered, and cut at one price", f.Name)
			default:
				continue
			}
			return &dataset.DataError{Column: f.Name, Value: value, Problem: problem}
		}
		if len(costs) > 0 {
			f.ValueCosts = maps.Clone(costs)
			maps.DeleteFunc(f.ValueCosts, func(value string, _ float64) bool { return !slices.Contains(f.Values, value) })
		}
	}
	return nil
}

// Unseen describes the values of the features that have prices, and that no training row has or that are put together as
// "other": no test asks for them alone.
func (p *Prices) Unseen(features []dataset.Feature) []string {
	var unseen []string
	for i := range features {
		for _, value := range slices.Sorted(maps.Keys(p.ValueCosts[features[i].Name])) {
			if !slices.Contains(features[i].Values, value) {
				unseen = append(unseen, fmt.Sprintf("%q of %q", value, features[i].Name))
			}
		}
	}
	return unseen
}

// Unpriced returns the features that have no price while others have one. They cost 1.
func (p *Prices) Unpriced(features []dataset.Feature) []string {
	given := slices.Concat(slices.Collect(maps.Keys(p.Costs)), slices.Collect(maps.Keys(p.ValueCosts)))
	for _, g := range p.Groups {
		given = append(given, g.Features...)
	}
	var names []string
	for i := range features {
		if len(given) > 0 && !slices.Contains(given, features[i].Name) {
			names = append(names, features[i].Name)
		}
	}
	return names
}

// UnpricedValues describes the values without a price of the features that have prices of values, but none of their own.
func (p *Prices) UnpricedValues(features []dataset.Feature) []string {
	var names []string
	for i := range features {
		f := &features[i]
		if _, priced := p.Costs[f.Name]; priced || len(p.ValueCosts[f.Name]) == 0 {
			continue
		}
		for _, value := range f.Values {
			if _, priced := p.ValueCosts[f.Name][value]; !priced {
				names = append(names, fmt.Sprintf("%q of %q", value, f.Name))
			}
		}
	}
	return names
}

// TestOrder returns the order of the features, which decides ties between their tests: see dataset.TestOrder. By the
// rule of the paper it is the order of the columns.
func (s *Settings) TestOrder(columns []dataset.FeatureColumn, contents []uint64) []int {
	if s.Classes == split.OfObjects {
		order := make([]int, len(columns))
		for i := range order {
			order[i] = i
		}
		return order
	}
	return dataset.TestOrder(columns, contents)
}

// frequent reports whether a value of a categorical feature of this many codes needs more than one row for a test: if the
// codes suffice for all families with sets to have sets of them, and no tree has one-hot tests, as in the paper. A single tree
// and the same tree of a grid agree.
func (s *Settings) frequent(codes int) bool {
	return split.All.Sets(codes) && !slices.Contains(s.Tests, split.OneHot)
}

// SplitColumns returns the features in the form that the scan for tests takes, each with all that decides the price of a
// test at a node. The rules First and Paper compare no ways of growing, so their trees grow as if each test was paid:
// otherwise any test of a known feature, however little it tells, would come before a test that is paid.
func (s *Settings) SplitColumns(features []dataset.Feature) []split.Column {
	columns := split.Columns(features)
	for i := range columns {
		columns[i].FreeRepeats = s.FreeRepeats && s.Select != frontier.First && s.Select != frontier.Paper
		columns[i].First = slices.Index(s.First, features[i].Name) + 1
		columns[i].Monotone = s.Monotone[features[i].Name]
		columns[i].Frequent = !columns[i].Numeric && s.frequent(columns[i].Codes)
	}
	return columns
}

func entryOr1(costs map[string]float64, feature string) float64 {
	if cost, given := costs[feature]; given {
		return cost
	}
	return 1
}

// WithPricing returns the members of the grid, with variants for prices if the tests have different
// prices or repeats are free: see grid.WithPricing. q chooses among the trees; its limits in further currencies hold for
// the paths of all members.
func (p *Prices) WithPricing(members []grid.Member, q *frontier.Query, features []string) []grid.Member {
	rule := q.Rule
	if rule != frontier.First && rule != frontier.Paper { // which leave growth to the paper's algorithm
		members = grid.WithFurther(members, q.Limits.PathFurther(p.FurtherUnits()), p.FurtherUnits())
	}
	if !p.FreeRepeats && len(p.ValueCosts) == 0 && !p.Grouped() && !grid.Differ(p.Costs, features) {
		return members
	}
	return grid.WithPricing(members, rule, p.Grouped(), p.FreeRepeats)
}

// Grouped reports whether a group of features has a price.
func (p *Prices) Grouped() bool {
	return slices.ContainsFunc(p.Groups, func(g CostGroup) bool { return g.Cost > 0 })
}

// Features returns the features that have prices, by the name of the setting that names them.
func (p *Prices) Features() map[string][]string {
	features := map[string][]string{"Costs": slices.Collect(maps.Keys(p.Costs)), "ValueCosts": slices.Collect(maps.Keys(p.ValueCosts))}
	var further []string
	for _, costs := range p.Further {
		further = slices.AppendSeq(further, maps.Keys(costs))
	}
	slices.Sort(further)
	features["Further"] = slices.Compact(further)
	for i := range p.Groups {
		features["Groups"] = append(features["Groups"], p.Groups[i].Features...)
	}
	return features
}

// Named reports whether any prices are set.
func (p *Prices) Named() bool { return len(p.Costs)+len(p.Groups)+len(p.ValueCosts)+len(p.Further) > 0 }

// faults returns what is wrong with prices.
func (p *Prices) faults(name Namer) []error {
	var faults []error
	check := func(what string, cost float64) {
		if r := (Range{low: 0, high: GreatestCost}); !r.Has(cost) || cost > 0 && cost < LeastCost {
			faults = append(faults, fmt.Errorf("%s %v: want 0, which is free, or a number from %v to %v", what, cost, LeastCost,
				GreatestCost))
		}
	}
	for _, feature := range slices.Sorted(maps.Keys(p.Costs)) {
		check(fmt.Sprintf("%s: the cost of %q", name("costs"), feature), p.Costs[feature])
	}
	for _, feature := range slices.Sorted(maps.Keys(p.ValueCosts)) {
		for _, value := range slices.Sorted(maps.Keys(p.ValueCosts[feature])) {
			check(fmt.Sprintf("%s: the cost of %q of %q", name("value_costs"), value, feature), p.ValueCosts[feature][value])
		}
	}
	var names, grouped []string
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.Name == "" {
			faults = append(faults, fmt.Errorf("%s: a group has no name, want one", name("groups")))
		}
		check(fmt.Sprintf("%s: the cost of %q", name("groups"), g.Name), g.Cost)
		names = append(names, g.Name)
		grouped = append(grouped, g.Features...)
	}
	for _, feature := range slices.Sorted(maps.Keys(p.Absent)) {
		if rule := p.Absent[feature]; !slices.Contains(Absences(), string(rule)) {
			faults = append(faults, fmt.Errorf("%s: %q of %q: want one of %s", name("absent"), rule, feature, strings.Join(Absences(), ", ")))
		}
	}
	further := p.furtherFaults(name, check)
	faults = append(faults, further...)
	faults = append(faults, twice(name("groups"), "group", names)...)
	faults = append(faults, twice(name("groups"), "feature", grouped)...)
	if len(p.ValueCosts) > 0 && len(p.Groups) > 0 {
		faults = append(faults, fmt.Errorf("%s and %s do not go together: leave out one of the two", name("value_costs"),
			name("groups")))
	}
	return faults
}

// furtherFaults returns what is wrong with prices in further currencies. check checks a cost.
func (p *Prices) furtherFaults(name Namer, check func(what string, cost float64)) []error {
	var faults []error
	units := p.FurtherUnits()
	if len(units) > dataset.MostFurther {
		faults = append(faults, fmt.Errorf("%s: %d currencies, %q: want at most %d", name("further"), len(units), units, dataset.MostFurther))
	}
	if len(units) > 0 && len(p.ValueCosts) > 0 {
		faults = append(faults, fmt.Errorf("%s and %s do not go together: values have no prices in further currencies", name("further"),
			name("value_costs")))
	}
	for _, unit := range units {
		if err := dataset.CheckUnit(unit); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name("further"), err))
		}
		if unit == p.CostUnit {
			faults = append(faults, fmt.Errorf("%s: the currency %q: want another name than the %s", name("further"), unit,
				name("cost_unit")))
		}
		for _, feature := range slices.Sorted(maps.Keys(p.Further[unit])) {
			check(fmt.Sprintf("%s: the cost of %q in %s", name("further"), feature, unit), p.Further[unit][feature])
		}
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		for _, unit := range slices.Sorted(maps.Keys(g.Further)) {
			if !slices.Contains(units, unit) {
				faults = append(faults, fmt.Errorf("%s: the group %q has a cost in %q, no feature has", name("groups"), g.Name, unit))
			}
			check(fmt.Sprintf("%s: the cost of %q in %s", name("groups"), g.Name, unit), g.Further[unit])
		}
	}
	return faults
}

// twice returns a fault for each name that is listed twice.
func twice(list, noun string, names []string) []error {
	var faults []error
	for i, name := range names {
		if at := slices.Index(names, name); name != "" && at < i && !slices.Contains(names[at+1:i], name) {
			faults = append(faults, fmt.Errorf("%s: the %s %q is named twice", list, noun, name))
		}
	}
	return faults
}
