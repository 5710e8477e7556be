package jsontree

import (
	"bytes"
	_ "embed" // the interpreter
	"encoding/json"
	"fmt"
	"slices"
	"unicode"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Format is the beginning of each document.
const Format = "espalier/plain-tree"

// Interpreter returns a Python module whose function predict(tree, row) evaluates a document.
func Interpreter() []byte { return []byte(interpreter) }

//go:embed plain_tree.py
var interpreter string

type header struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	About    []string  `json:"about"`
	Label    string    `json:"label"`
	Classes  []string  `json:"classes"`
	Features []feature `json:"features"`

	PriorFactors []float64      `json:"prior_factors,omitempty"`
	ErrorCosts   [][]float64    `json:"error_costs,omitempty"`
	Decision     *tree.Decision `json:"decision,omitempty"`
}

type feature struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Unit   string   `json:"unit,omitempty"`
	Values []string `json:"values,omitempty"`
}

// inner is a node that asks.
type inner struct {
	ID      int            `json:"id"`
	Feature string         `json:"feature"`
	Test    string         `json:"test"`
	Value   any            `json:"value,omitempty"`
	From    *float64       `json:"from,omitempty"`
	Below   *float64       `json:"below,omitempty"`
	Cases   map[string]int `json:"cases,omitempty"`
	Other   *int           `json:"other,omitempty"`
	Yes     *int           `json:"yes,omitempty"`
	No      *int           `json:"no,omitempty"`
	Missing int            `json:"missing"`
}

type leaf struct {
	ID            int       `json:"id"`
	Class         string    `json:"class"`
	Probabilities []float64 `json:"probabilities"`
	Tests         int       `json:"tests"`
	Cost          float64   `json:"cost"`
	Path          string    `json:"path,omitempty"`
	Model         *int      `json:"model,omitempty"`
}

type model struct {
	Intercept []float64 `json:"intercept"`
	Terms     []term    `json:"terms"`
	Booster   *int      `json:"booster,omitempty"`
}

type term struct {
	Feature string      `json:"feature"`
	At      []float64   `json:"at"`
	Values  [][]float64 `json:"values"`
	Missing []float64   `json:"missing"`
}

type boosterSplit struct {
	Feature string `json:"feature"`
	Test    string `json:"test"`
	Value   any    `json:"value"`
	Missing string `json:"missing"` // yes or no
	Yes     side   `json:"yes"`
	No      side   `json:"no"`
}

type side struct {
	Add   []float64 `json:"add,omitempty"`
	Split int       `json:"split,omitempty"`
}

// Encode returns a tree as a document. about is lines about it. paths are texts by leaf; nil for
// none.
func Encode(t *tree.Tree, about, paths []string) ([]byte, error) {
	t = t.Tested()
	w := &writer{tree: t}
	h := header{
		Format: Format, Version: version(t), About: about, Label: t.Label.Column, Classes: t.Label.Classes,
		Features: []feature{}, ErrorCosts: t.Label.ErrorCosts, Decision: t.Label.Decision,
	}
	for i := range t.Features {
		f := &t.Features[i]
		kind := "number"
		if f.Kind == dataset.Categorical {
			kind = "text"
		}
		h.Features = append(h.Features, feature{f.Name, kind, f.Unit.String(), f.Values})
	}
	if t.Modelled() {
		h.PriorFactors = t.PriorFactors()
	}
	w.add(h)
	w.out.Truncate(w.out.Len() - 1) // the last brace
	w.list("nodes", w.nodes(paths))
	if len(w.models) > 0 {
		w.list("models", w.models)
	}
	if len(w.boosters) > 0 {
		w.list("boosters", w.trees())
	}
	w.out.WriteString("\n}\n")
	if w.err != nil {
		return nil, fmt.Errorf("json: %w", w.err)
	}
	return visible(w.out.Bytes()), nil
}

// version returns the version of a tree's document: 1, which every interpreter reads, unless a threshold decides at leaf
// models, or some test is for a set.
func version(t *tree.Tree) int {
	if t.Modelled() && t.Label.Thresholded() {
		return 3
	}
	if slices.ContainsFunc(t.Nodes, func(n tree.Node) bool { return !n.Leaf() && n.Test.Kind == split.In }) {
		return 2
	}
	return 1
}

// writer writes a document, with a line for each element of the long lists.
type writer struct {
	tree     *tree.Tree
	out      bytes.Buffer
	models   []any
	boosters []*boost.Booster
	err      error
}

func (w *writer) add(v any) {
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	w.out.Truncate(max(0, w.out.Len()-1)) // the end of the line
}

func (w *writer) list(name string, elements []any) {
	fmt.Fprintf(&w.out, ",\n%q: [", name)
	for i, e := range elements {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.out.WriteString("\n ")
		w.add(e)
	}
	w.out.WriteString("\n]")
}

func (w *writer) nodes(paths []string) []any {
	tests, costs := w.tree.PathCosts()
	list := make([]any, len(w.tree.Nodes))
	for id := range w.tree.Nodes {
		n := &w.tree.Nodes[id]
		if !n.Leaf() {
			list[id] = w.inner(id, n)
			continue
		}
		l := leaf{
			ID: id, Class: w.tree.Label.Classes[n.Class], Probabilities: n.Probabilities, Tests: tests[id], Cost: costs[id],
		}
		if paths != nil {
			l.Path = paths[0]
			paths = paths[1:]
		}
		if n.Model != nil {
			number := len(w.models)
			l.Model = &number
			w.models = append(w.models, w.model(n.Model))
		}
		list[id] = l
	}
	return list
}

func (w *writer) inner(id int, n *tree.Node) inner {
	f := &w.tree.Features[n.Test.Feature]
	in := inner{ID: id, Feature: f.Name}
	if n.Test.Kind == split.Multiway {
		in.Test = "switch"
		in.Cases = make(map[string]int)
		for i := range n.Branches {
			b := &n.Branches[i]
			if b.Outcome < len(f.Values) {
				in.Cases[f.Values[b.Outcome]] = b.Child
			}
			if b.Other {
				in.Other = &b.Child
			}
			if b.Missing {
				in.Missing = b.Child
			}
		}
		return in
	}
	yes, no := &n.Branches[0], &n.Branches[1]
	if yes.Outcome == 0 {
		yes, no = no, yes
	}
	in.Yes = &yes.Child
	in.No = &no.Child
	in.Missing = no.Child
	switch n.Test.Kind {
	case split.Threshold:
		in.Test, in.Value = "at_least", f.Cuts[n.Test.Code-1]
	case split.Bin:
		in.bin(f, &n.Test.Test)
	case split.Equals:
		in.Test, in.Value = "is", f.Values[n.Test.Code]
	case split.In:
		values, inverse := tree.Deciding(f, &n.Test.Test)
		in.Test = "in"
		in.Value = values
		if inverse {
			in.Yes, in.No = in.No, in.Yes
		}
	case split.Other:
		in.Test = "unlisted"
	default:
		in.Test = "missing"
		in.Missing = yes.Child
	}
	return in
}

// bin sets the test for a bin.
func (in *inner) bin(f *dataset.Feature, t *split.Test) {
	if t.Code > 0 {
		in.From = &f.Cuts[t.Code-1]
	}
	if to := t.Code + t.Span; to < len(f.Cuts) {
		in.Below = &f.Cuts[to]
	}
	in.Test = "between"
}

func (w *writer) model(of *tree.LeafModel) model {
	m := model{Intercept: of.Intercept, Terms: []term{}}
	for i := range of.Terms {
		t := &of.Terms[i]
		m.Terms = append(m.Terms, term{w.tree.Features[t.Feature].Name, t.At, t.Values, t.Missing})
	}
	if of.Booster != nil {
		at := 0
		for at < len(w.boosters) && w.boosters[at] != of.Booster {
			at++
		}
		if at == len(w.boosters) {
			w.boosters = append(w.boosters, of.Booster)
		}
		m.Booster = &at
	}
	return m
}

// trees returns the boosters: lists of trees, which are lists of splits.
func (w *writer) trees() []any {
	var all []any
	for _, b := range w.boosters {
		trees := make([][]boosterSplit, len(b.Trees))
		for i, t := range b.Trees {
			for k := range t {
				trees[i] = append(trees[i], w.split(&t[k]))
			}
		}
		all = append(all, trees)
	}
	return all
}

func (w *writer) split(of *boost.Split) boosterSplit {
	f := &w.tree.Features[of.Feature]
	s := boosterSplit{
		Feature: f.Name, Test: "at_least", Missing: "no",
		Yes: side{of.Yes.Values, of.Yes.Split}, No: side{of.No.Values, of.No.Split},
	}
	if f.Kind == dataset.Numeric {
		s.Value = f.Cuts[of.Code-1]
	} else {
		in := of.Values(f)
		s.Test = "in"
		s.Value = in
		if len(in) == 1 {
			s.Test = "is"
			s.Value = in[0]
		}
	}
	if of.Missing {
		s.Missing = "yes"
	}
	return s
}

// visible escapes characters that are invisible, or that change the direction of the text after
// them. They only occur within texts.
func visible(document []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(document) {
		switch {
		case r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co):
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
