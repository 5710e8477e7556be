package export

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Cell is the value of a feature in a row: a number, a text, or missing if it is neither.
type Cell struct {
	Number *float64
	Text   *string
}

// NumberCell returns a number; NaN is missing.
func NumberCell(x float64) Cell { return Cell{Number: &x} }

// TextCell returns a text.
func TextCell(s string) Cell { return Cell{Text: &s} }

func (c Cell) value() tree.Value {
	switch {
	case c.Number != nil:
		return tree.Number(*c.Number)
	case c.Text != nil:
		return tree.Text(*c.Text)
	default:
		return tree.Value{}
	}
}

// String returns the cell as messages show it.
func (c Cell) String() string {
	switch {
	case c.Number != nil:
		return strconv.FormatFloat(*c.Number, 'g', -1, 64)
	case c.Text != nil:
		return strconv.Quote(*c.Text)
	default:
		return "missing"
	}
}

// Case is a row, with a cell for each feature of Tree.Tested, and its prediction.
type Case struct {
	Cells []Cell
	Want  *tree.Prediction
}

// Cases predicts rows with the tree.
func Cases(t *tree.Tree, rows [][]Cell) ([]Case, error) {
	t = t.Tested()
	scorer := t.Scorer()
	inputs := scorer.Features()
	values := make([]tree.Value, len(inputs))
	cases := make([]Case, len(rows))
	for i, cells := range rows {
		for k := range inputs {
			values[k] = cells[inputs[k].Feature].value()
		}
		p, err := scorer.Predict(values)
		if err != nil {
			return nil, fmt.Errorf("golden row %d: %w", i, err)
		}
		cases[i] = Case{cells, p}
	}
	return cases, nil
}

// GoldenRows returns rows that reveal a wrong copy of the tree: for each node the cut and its
// neighbouring numbers on both sides, infinities, zeros of both signs, each value, an unseen text,
// the empty text, and no value. The rows reach the node; features that are not on its path are
// missing.
func GoldenRows(t *tree.Tree) [][]Cell {
	t = t.Tested()
	g := &golden{t, candidates(t)}
	above := make([][]turn, len(t.Nodes))
	var rows [][]Cell
	for id := range t.Nodes {
		n := &t.Nodes[id]
		row := g.reaching(above[id])
		if row == nil {
			continue // no row reaches the node, because another test on its path excludes it
		}
		if n.Leaf() {
			rows = append(rows, row)
			continue
		}
		for _, c := range g.critical(n) {
			changed := slices.Clone(row)
			changed[n.Test.Feature] = c
			rows = append(rows, changed)
		}
		for k, b := range n.Branches {
			above[b.Child] = append(slices.Clip(above[id]), turn{n, k})
		}
	}
	return rows
}

// turn is a node on a path, and the branch that the path takes.
type turn struct {
	node   *tree.Node
	branch int
}

type golden struct {
	tree       *tree.Tree
	candidates [][]Cell // by feature and code: a value with the code
}

// candidates lists by feature a value of each code.
func candidates(t *tree.Tree) [][]Cell {
	list := make([][]Cell, len(t.Features))
	for f := range t.Features {
		feature := &t.Features[f]
		if feature.Kind == dataset.Numeric {
			list[f] = []Cell{NumberCell(math.Inf(-1))}
			for _, cut := range feature.Cuts {
				list[f] = append(list[f], NumberCell(cut))
			}
		} else {
			for _, v := range feature.Values {
				list[f] = append(list[f], TextCell(v))
			}
			list[f] = append(list[f], TextCell(unseen(feature)))
		}
		list[f] = append(list[f], Cell{})
	}
	return list
}

// unseen returns a text that is not a value of a feature.
func unseen(f *dataset.Feature) string {
	for s := "unseen"; ; s += "?" {
		if !slices.Contains(f.Values, s) {
			return s
		}
	}
}

// reaching returns a row that takes a path; nil if absent.
func (g *golden) reaching(path []turn) []Cell {
	row := make([]Cell, len(g.tree.Features))
	seen := make(map[int]bool)
	for _, s := range path {
		f := s.node.Test.Feature
		if seen[f] {
			continue
		}
		seen[f] = true
		code := 0
		for code < len(g.candidates[f]) && slices.ContainsFunc(path, func(s turn) bool {
			return s.node.Test.Feature == f && g.branch(s.node, code) != s.branch
		}) {
			code++
		}
		if code == len(g.candidates[f]) {
			return nil
		}
		row[f] = g.candidates[f][code]
	}
	return row
}

// branch returns the branch that a code takes at a node.
func (g *golden) branch(n *tree.Node, code int) int {
	f := &g.tree.Features[n.Test.Feature]
	outcome := code
	if n.Test.Kind != split.Multiway {
		outcome = n.Test.Outcome(code, f.MissingCode())
	}
	if at := slices.IndexFunc(n.Branches, func(b tree.Branch) bool { return b.Outcome == outcome }); at >= 0 {
		return at
	}
	return slices.IndexFunc(n.Branches, func(b tree.Branch) bool { // a multiway test
		if code == f.MissingCode() {
			return b.Missing
		}
		return b.Other
	})
}

// mostValues is roughly how many texts are tried at a node: sets of thousands of values would make as many rows.
const mostValues = 64

// critical returns the values to try at a node.
func (g *golden) critical(n *tree.Node) []Cell {
	f := &g.tree.Features[n.Test.Feature]
	cells := []Cell{{}}
	if f.Kind != dataset.Numeric {
		cells = append(cells, TextCell(unseen(f)), TextCell(""))
		var first []int // codes with another branch than the code before
		for code := range f.Values {
			if code == 0 || g.branch(n, code) != g.branch(n, code-1) {
				first = append(first, code)
			}
		}
		for i := 0; i < len(first); i += 1 + len(first)/mostValues {
			cells = append(cells, TextCell(f.Values[first[i]]))
		}
		return append(cells, TextCell(f.Values[len(f.Values)-1]))
	}
	around := func(code int) {
		if code >= 0 && code < len(f.Cuts) {
			cut := f.Cuts[code]
			for _, x := range []float64{cut, math.Nextafter(cut, math.Inf(-1)), math.Nextafter(cut, math.Inf(1))} {
				cells = append(cells, NumberCell(x))
			}
		}
	}
	around(n.Test.Code - 1)
	around(n.Test.Code + n.Test.Span)
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1)} {
		cells = append(cells, NumberCell(x))
	}
	return cells
}

// GoldenFile returns the cases as a JSON document: the names of the features and classes, then the
// rows with their values and predictions. Numbers that JSON cannot represent, and negative zeros,
// are objects: {"number": "NaN"}.
func GoldenFile(t *tree.Tree, cases []Case) ([]byte, error) {
	doc := goldenDocument{Format: goldenFormat, Version: 1, Classes: t.Label.Classes}
	tested := t.Tested()
	for i := range tested.Features {
		doc.Features = append(doc.Features, tested.Features[i].Name)
	}
	for i := range cases {
		c := &cases[i]
		row := goldenRow{
			Values: make([]any, len(c.Cells)), Class: c.Want.Class, Probabilities: c.Want.Probabilities,
			Leaf: c.Want.Leaf, Tests: c.Want.Tests, Cost: c.Want.Cost,
		}
		for k, cell := range c.Cells {
			row.Values[k] = cell.json()
		}
		doc.Rows = append(doc.Rows, row)
	}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("golden rows: %w", err)
	}
	return append(b, '\n'), nil
}

type goldenDocument struct {
	Format   string      `json:"format"`
	Version  int         `json:"version"`
	Features []string    `json:"features"`
	Classes  []string    `json:"classes"`
	Rows     []goldenRow `json:"rows"`
}

type goldenRow struct {
	Values        []any     `json:"values"`
	Class         string    `json:"class"`
	Probabilities []float64 `json:"probabilities"`
	Leaf          int       `json:"leaf"`
	Tests         int       `json:"tests"`
	Cost          float64   `json:"cost"`
}

func (c Cell) json() any {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.Number == nil:
		return nil
	case math.IsNaN(*c.Number) || math.IsInf(*c.Number, 0) || *c.Number == 0 && math.Signbit(*c.Number):
		return map[string]string{"number": strconv.FormatFloat(*c.Number, 'g', -1, 64)}
	default:
		return *c.Number
	}
}
