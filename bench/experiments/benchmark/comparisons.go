package benchmark

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
	"github.com/espalier-ml/espalier/bench/experiments/significance"
	"github.com/espalier-ml/espalier/io/setting"
	"github.com/espalier-ml/espalier/io/usage"
)

// Comparison compares methods by their mean ranks over the data sets, by one measure.
type Comparison struct {
	Costs   string `json:"costs"`
	Measure string `json:"measure"`
	Of      string `json:"of"` // PlainTrees, PrunedTrees or AllTrees
	Sets    int    `json:"sets"`

	Methods  []RankedMethod        `json:"methods"` // the best first
	Friedman significance.Friedman `json:"friedman"`
	Level    float64               `json:"level"` // of significance, of the critical differences
	Nemenyi  float64               `json:"nemenyi_critical_difference"`
	Dunn     float64               `json:"bonferroni_dunn_critical_difference"`
	Control  string                `json:"control,omitempty"` // of Bonferroni and Dunn's test
}

// The trees that are compared.
const (
	PlainTrees  = "plain"
	PrunedTrees = "pruned"
	AllTrees    = "all" // as the paper compares: plain ones, and pruned ones of c45, ec45, cart and ecart
)

// RankedMethod is a method with its mean rank.
type RankedMethod struct {
	Name     string    `json:"name"`
	Rank     float64   `json:"rank"`
	NemenyiP []float64 `json:"nemenyi_p"`                   // p value of the pair with each method, in the order of methods
	DunnP    *float64  `json:"bonferroni_dunn_p,omitempty"` // p value of the pair with the control
}

// method is an algorithm whose trees are pruned or not.
type method struct {
	algorithm string
	pruned    bool
}

// prunedPrefix stands before the name of an algorithm whose trees are pruned.
const prunedPrefix = "p-"

func (m method) String() string {
	if m.pruned {
		return prunedPrefix + m.algorithm
	}
	return m.algorithm
}

// paperMethods returns the methods that the paper compares, of some algorithms.
func paperMethods(algorithms []string) []method {
	var list []method
	for _, a := range algorithms {
		list = append(list, method{a, false})
		if slices.Contains([]string{"c45", "ec45", "cart", "ecart"}, a) {
			list = append(list, method{a, true})
		}
	}
	return list
}

// checkControl refuses a control that is no method. The default one need not be there.
func checkControl(c *Config) error {
	var names []string
	for _, m := range paperMethods(c.Algorithm) {
		names = append(names, m.String())
	}
	if slices.Contains(names, c.Control) || c.Control == DefaultConfig().Control {
		return nil
	}
	return usage.Errorf("--control %s: want %s%s", c.Control, setting.Alternatives(names), setting.Hint(c.Control, names))
}

// compareAll compares the methods of each variant with each other, and the methods of the paper.
// With one data set or one method there is nothing to compare.
func compareAll(all []Summary, c *Config) []Comparison {
	var list []Comparison
	for _, costs := range []string{UnitCosts, RandomCosts} {
		for _, m := range measures() {
			for _, of := range []string{PlainTrees, PrunedTrees, AllTrees} {
				methods := methodsOf(of, c.Algorithm)
				rows := valuesOf(all, costs, methods, m.name)
				if len(rows) < 2 || len(methods) < 2 || m.shared && of != PlainTrees {
					continue
				}
				one := compare(rows, methods, m.high, c)
				one.Costs = costs
				one.Measure = m.name
				one.Of = of
				list = append(list, one)
			}
		}
	}
	return list
}

func methodsOf(trees string, algorithms []string) []method {
	if trees == AllTrees {
		return paperMethods(algorithms)
	}
	var list []method
	for _, a := range algorithms {
		list = append(list, method{a, trees == PrunedTrees})
	}
	return list
}

// valuesOf returns the means of a measure by data set, then by method.
func valuesOf(all []Summary, costs string, methods []method, measure string) [][]float64 {
	var rows [][]float64
	for _, set := range setsOf(all) {
		row := make([]float64, len(methods))
		for i, m := range methods {
			row[i] = meanOf(all, costs, set, m).Of[measure].Mean
		}
		rows = append(rows, row)
	}
	return rows
}

// meanOf returns the means of a method on a data set.
func meanOf(all []Summary, costs, set string, m method) *Summary {
	return &all[slices.IndexFunc(all, func(s Summary) bool {
		return s.Set == set && s.Costs == costs && s.Algorithm == m.algorithm && s.Pruned == m.pruned
	})]
}

// setsOf returns the names of the data sets, in their order.
func setsOf(all []Summary) []string {
	var sets []string
	for i := range all {
		if !slices.Contains(sets, all[i].Set) {
			sets = append(sets, all[i].Set)
		}
	}
	return sets
}

// compare compares methods by their values, one row for each data set.
func compare(rows [][]float64, methods []method, high bool, c *Config) Comparison {
	ranks := make([][]float64, len(rows))
	for i, row := range rows {
		ranks[i] = ranking.Ranks(row, high)
	}
	sets := len(rows)
	count := len(methods)
	one := Comparison{
		Sets: sets, Friedman: significance.NewFriedman(ranks), Level: c.Level,
		Nemenyi: significance.Nemenyi(count, sets, c.Level), Dunn: significance.BonferroniDunn(count, sets, c.Level),
	}
	for i, rank := range ranking.MeanRanks(rows, high) {
		one.Methods = append(one.Methods, RankedMethod{Name: methods[i].String(), Rank: rank})
	}
	slices.SortStableFunc(one.Methods, func(a, b RankedMethod) int { return cmp.Compare(a.Rank, b.Rank) })
	control := slices.IndexFunc(one.Methods, func(m RankedMethod) bool { return m.Name == c.Control })
	for i := range one.Methods {
		m := &one.Methods[i]
		for _, other := range one.Methods {
			m.NemenyiP = append(m.NemenyiP, significance.NemenyiP(count, sets, distance(m.Rank, other.Rank)))
		}
		if control >= 0 && control != i {
			m.DunnP = new(significance.BonferroniDunnP(count, sets, distance(m.Rank, one.Methods[control].Rank)))
		}
	}
	if control >= 0 {
		one.Control = c.Control
	}
	return one
}

func distance(a, b float64) float64 { return max(a-b, b-a) }
