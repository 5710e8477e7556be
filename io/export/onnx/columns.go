package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// columns are the columns of numbers that the ensembles test. Each is numbered at its first use;
// its position follows from its feature.
type columns struct {
	tree      *tree.Tree
	byFeature []featureColumns
	count     int
	at        map[int]int // position by number
}

// featureColumns are the columns of a feature, each with its number.
type featureColumns struct {
	known   map[string]int
	raw     []int       // the numbers of a numeric feature: at most one column
	missing []int       // whether a number is missing: at most one column
	bins    []int       // whether a number is in a bin
	low     []float64   // by bin
	high    []float64   // by bin
	coded   []int       // by code of a categorical feature: a number
	tables  [][]float64 // by coded
}

func newColumns(t *tree.Tree) *columns {
	c := &columns{tree: t, byFeature: make([]featureColumns, len(t.Features)), at: make(map[int]int)}
	for i := range c.byFeature {
		c.byFeature[i].known = make(map[string]int)
	}
	return c
}

// take returns the number of the column of a key, which add adds if it is absent.
func (c *columns) take(feature int, key string, add func(f *featureColumns, column int)) int {
	f := &c.byFeature[feature]
	if column, ok := f.known[key]; ok {
		return column
	}
	column := c.count
	c.count++
	f.known[key] = column
	add(f, column)
	return column
}

// raw returns the column of a feature's numbers.
func (c *columns) raw(feature int) int {
	return c.take(feature, "raw", func(f *featureColumns, column int) { f.raw = append(f.raw, column) })
}

// missing returns the column that is 1 if a numeric feature has no value, otherwise 0.
func (c *columns) missing(feature int) int {
	return c.take(feature, "missing", func(f *featureColumns, column int) { f.missing = append(f.missing, column) })
}

// bin returns the column that is 1 if a number is in [low, high), otherwise 0.
func (c *columns) bin(feature int, low, high float64) int {
	return c.take(feature, fmt.Sprint(low, " ", high), func(f *featureColumns, column int) {
		f.bins = append(f.bins, column)
		f.low = append(f.low, low)
		f.high = append(f.high, high)
	})
}

// coded returns the column that holds the entry of a table for the code of a text.
func (c *columns) coded(feature int, table []float64) int {
	return c.take(feature, fmt.Sprint(table), func(f *featureColumns, column int) {
		f.coded = append(f.coded, column)
		f.tables = append(f.tables, table)
	})
}

// is returns the column that is 1 for the given codes of a categorical feature, otherwise 0.
func (c *columns) is(feature int, codes ...int) int {
	table := make([]float64, c.tree.Features[feature].Codes())
	for _, code := range codes {
		table[code] = 1
	}
	return c.coded(feature, table)
}

// yes returns the column that is 1 for the codes of the yes branch of a test, otherwise 0.
func (c *columns) yes(t *split.Test, f *dataset.Feature) int {
	var codes []int
	for code := range f.Codes() {
		if t.Outcome(code, f.MissingCode()) == 1 {
			codes = append(codes, code)
		}
	}
	return c.is(t.Feature, codes...)
}

// ask adds the node of a test with two outcomes.
func (c *columns) ask(g *grower, t *split.Test, yes, no func() int) int {
	f := &c.tree.Features[t.Feature]
	if f.Kind == dataset.Categorical {
		return g.ask(c.yes(t, f), 1, false, yes, no)
	}
	low, high := math.Inf(-1), math.Inf(1)
	switch t.Kind {
	case split.Threshold:
		return g.ask(c.raw(t.Feature), f.Cuts[t.Code-1], false, yes, no)
	case split.Bin:
		if t.Code > 0 {
			low = f.Cuts[t.Code-1]
		}
		if to := t.Code + t.Span; to < len(f.Cuts) {
			high = f.Cuts[to]
		}
	default: // missing
		return g.ask(c.missing(t.Feature), 1, false, yes, no)
	}
	switch {
	case !math.IsInf(high, 1):
		return g.ask(c.bin(t.Feature, low, high), 1, false, yes, no)
	case !math.IsInf(low, -1):
		return g.ask(c.raw(t.Feature), low, false, yes, no)
	default:
		return g.ask(c.missing(t.Feature), 1, false, no, yes) // any number
	}
}

// branch returns the column that holds the number of the branch of a multiway test.
func (c *columns) branch(n *tree.Node) int {
	f := &c.tree.Features[n.Test.Feature]
	table := make([]float64, f.Codes())
	for code := range table {
		at := slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Outcome == code })
		if at < 0 {
			at = slices.IndexFunc(n.Branches, func(b tree.Branch) bool {
				return code == f.MissingCode() && b.Missing || code != f.MissingCode() && b.Other
			})
		}
		table[code] = float64(at)
	}
	return c.coded(n.Test.Feature, table)
}

// position returns the position of a column in the matrix.
func (c *columns) position(column int) int { return c.at[column] }

// matrix adds the nodes that compute the columns from the inputs, and returns the matrix of rows
// and columns.
func (c *columns) matrix(g *graph, inputs []input) string {
	var parts []string
	place := func(numbers []int) {
		for _, column := range numbers {
			c.at[column] = len(c.at)
		}
	}
	for i := range c.byFeature {
		f := &c.byFeature[i]
		name := inputs[i].Input
		if len(f.coded) > 0 {
			parts = append(parts, f.codes(g, name, inputs[i]))
			place(f.coded)
		}
		if len(f.raw) > 0 {
			parts = append(parts, name)
			place(f.raw)
		}
		if len(f.missing) > 0 {
			parts = append(parts, g.cast(g.call("IsNaN", name), double))
			place(f.missing)
		}
		if len(f.bins) > 0 {
			low, high := g.doubles(f.low, 1, len(f.low)), g.doubles(f.high, 1, len(f.high))
			within := g.call("And", g.call("GreaterOrEqual", name, low), g.call("Less", name, high))
			parts = append(parts, g.cast(within, double))
			place(f.bins)
		}
	}
	return g.concat(parts...)
}

// codes adds the nodes that map texts to the numbers of their codes.
func (f *featureColumns) codes(g *graph, name string, in input) string {
	texts := slices.Clone(in.values)
	codes := make([]int64, len(in.values)+1)
	for i := range codes {
		codes[i] = int64(i)
	}
	texts = append(texts, *in.Missing)
	codes[len(in.values)] = int64(len(in.values) + 1)
	code := g.learned("LabelEncoder", []string{name}, textsAttribute("keys_strings", texts),
		numbersAttribute("values_int64s", codes), numberAttribute("default_int64", int64(len(in.values))))
	rows := len(f.tables[0])
	table := make([]float64, 0, rows*len(f.tables))
	for code := range rows {
		for _, t := range f.tables {
			table = append(table, t[code])
		}
	}
	return g.gather(g.doubles(table, rows, len(f.tables)), g.flat(code))
}
