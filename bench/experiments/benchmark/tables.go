package benchmark

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
)

// Summary has the means of an algorithm's figures over the splits of a data set.
type Summary struct {
	Costs     string           `json:"costs"`
	Pruned    bool             `json:"pruned"`
	Set       string           `json:"set"`
	Algorithm string           `json:"algorithm"`
	Splits    int              `json:"splits"`
	Of        map[string]Value `json:"of"` // by measure
}

// Value is a mean with its deviation over the splits, and its rank among the algorithms.
type Value struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Rank      float64 `json:"rank"`
}

// measure is a figure that is compared.
type measure struct {
	name, title string
	high        bool // the highest is the best
	shared      bool // by plain and pruned trees
	digits      int  // behind the point, in tables
	of          func(f *Figures) float64
}

func measures() []measure {
	return []measure{
		{name: "auc", title: "AUC on test rows", high: true, digits: 4, of: func(f *Figures) float64 { return f.AUC }},
		{name: "cost", title: "Expected cost", digits: 3, of: func(f *Figures) float64 { return f.Cost }},
		{name: "leaves", title: "Leaves", digits: 1, of: func(f *Figures) float64 { return float64(f.Leaves) }},
		{
			name: "seconds", title: "Seconds for all trees of the algorithm", shared: true, digits: 3,
			of: func(f *Figures) float64 { return f.Seconds },
		},
	}
}

// measureOf returns the measure of a name.
func measureOf(name string) measure {
	all := measures()
	return all[slices.IndexFunc(all, func(m measure) bool { return m.name == name })]
}

// keep leaves out the figures of other algorithms, which an earlier run may have left.
func (s *Split) keep(algorithms []string) {
	s.Figures = slices.DeleteFunc(s.Figures, func(f Figures) bool { return !slices.Contains(algorithms, f.Algorithm) })
}

// variant is a table's law of costs and pruning.
type variant struct {
	costs  string
	pruned bool
}

func variants() []variant {
	return []variant{{UnitCosts, false}, {UnitCosts, true}, {RandomCosts, false}, {RandomCosts, true}}
}

func (v variant) String() string {
	if v.pruned {
		return v.law() + ", pruned"
	}
	return v.law() + ", not pruned"
}

// law says what tests cost.
func (v variant) law() string {
	if v.costs == RandomCosts {
		return "random costs, 1 to 10 by feature"
	}
	return "each test costs 1"
}

// summarise returns means of all splits: by variant, then by data set, then by algorithm.
func summarise(splits []*Split, algorithms []string) []Summary {
	var sets []string
	for _, s := range splits {
		if !slices.Contains(sets, s.Set) {
			sets = append(sets, s.Set)
		}
	}
	var all []Summary
	for _, v := range variants() {
		for _, set := range sets {
			var row []Summary
			for _, a := range algorithms {
				row = append(row, summaryOf(splits, v, set, a))
			}
			rank(row)
			all = append(all, row...)
		}
	}
	return all
}

// summaryOf returns the means of one algorithm on one data set.
func summaryOf(splits []*Split, v variant, set, algorithm string) Summary {
	values := make(map[string][]float64)
	for _, s := range splits {
		for i := range s.Figures {
			f := &s.Figures[i]
			if s.Set != set || f.Algorithm != algorithm || f.Costs != v.costs || f.Pruned != v.pruned {
				continue
			}
			for _, m := range measures() {
				values[m.name] = append(values[m.name], m.of(f))
			}
		}
	}
	summary := Summary{Costs: v.costs, Pruned: v.pruned, Set: set, Algorithm: algorithm, Of: make(map[string]Value)}
	for name, list := range values {
		summary.Splits = len(list)
		summary.Of[name] = Value{Mean: ranking.Mean(list), Deviation: ranking.Deviation(list)}
	}
	return summary
}

// rank ranks the algorithms on one data set.
func rank(row []Summary) {
	for _, m := range measures() {
		means := make([]float64, len(row))
		for i := range row {
			means[i] = row[i].Of[m.name].Mean
		}
		for i, r := range ranking.Ranks(means, m.high) {
			value := row[i].Of[m.name]
			value.Rank = r
			row[i].Of[m.name] = value
		}
	}
}

// meansCSV returns the summaries as a table with a line for each.
func meansCSV(all []Summary) []byte {
	b := new(bytes.Buffer)
	w := csv.NewWriter(b)
	header := []string{"costs", "pruned", "set", "algorithm", "splits"}
	for _, m := range measures() {
		header = append(header, m.name, m.name+"_deviation", m.name+"_rank")
	}
	_ = w.Write(header)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, s := range all {
		line := []string{s.Costs, strconv.FormatBool(s.Pruned), s.Set, s.Algorithm, strconv.Itoa(s.Splits)}
		for _, m := range measures() {
			value := s.Of[m.name]
			line = append(line, number(value.Mean), number(value.Deviation), number(value.Rank))
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes()
}
