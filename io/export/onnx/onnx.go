package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

const (
	learnedDomain  = "ai.onnx.ml"
	version        = 15 // version of the operators; they are from 2021, like the versions below
	learnedVersion = 3
	formatVersion  = 8
)

// Head is the first bytes of each model.
const Head = "\b\b\x12\bespalier"

// input describes an input in the metadata.
type input struct {
	Name    string  `json:"name"`  // name of the feature
	Input   string  `json:"input"` // its name in the model
	Type    string  `json:"type"`  // number or text
	Unit    string  `json:"unit,omitempty"`
	Missing *string `json:"missing,omitempty"` // the text for a row without a value; absent: NaN

	values []string
}

// Encode returns a tree as a ModelProto. name is the name of the graph, about is its description.
// paths are the texts of the output path by leaf; nil: there is no such output.
func Encode(t *tree.Tree, name, about string, paths []string) ([]byte, error) {
	t = t.Tested()
	w := &writer{tree: t, columns: newColumns(t), graph: &graph{taken: make(map[string]bool)}}
	w.name()
	w.grow()
	if len(w.from) > exact || len(w.ends) > exact || len(w.leaves) > exact {
		return nil, errors.New("the tree has more than 16777216 leaves or knots, and onnxruntime numbers no more of them")
	}
	w.write(paths)
	return w.model(name, about)
}

// exact is how many integers, starting at 0, a float holds exactly.
const exact = 1 << 24

// writer writes a model.
type writer struct {
	*graph
	*columns

	tree   *tree.Tree
	inputs []input
	forest forest
	leaves []int // by leaf: its node
	modelling

	outputs []message
}

func outputNames() []string {
	return []string{"label", "probabilities", "leaf", "tests", "cost", "path"}
}

// name names the inputs like their features, unless an output or another input has that name.
func (w *writer) name() {
	for _, name := range outputNames() {
		w.taken[name] = true
	}
	for i := range w.tree.Features {
		f := &w.tree.Features[i]
		in := input{Name: f.Name, Input: f.Name, Type: "number", Unit: f.Unit.String(), values: f.Values}
		if f.Name == "" || strings.ContainsRune(f.Name, 0) {
			in.Input = "feature_" + strconv.Itoa(i)
		}
		for k := 2; w.taken[in.Input]; k++ {
			in.Input = fmt.Sprintf("%s_%d", strings.ReplaceAll(f.Name, "\x00", ""), k)
		}
		w.taken[in.Input] = true
		if f.Kind == dataset.Categorical {
			in.Type = "text"
			missing := ""
			for slices.Contains(f.Values, missing) {
				missing += "?"
			}
			in.Missing = &missing
		}
		w.inputs = append(w.inputs, in)
	}
}

// grow makes both forests.
func (w *writer) grow() {
	leaves := make(map[int]int)
	for id := range w.tree.Nodes {
		if w.tree.Nodes[id].Leaf() {
			leaves[id] = len(w.leaves)
			w.leaves = append(w.leaves, id)
		}
	}
	if len(w.leaves) > 1 {
		g := w.forest.grow()
		var node func(id int) int
		node = func(id int) int {
			n := &w.tree.Nodes[id]
			child := func(i int) func() int { return func() int { return node(n.Branches[i].Child) } }
			switch {
			case n.Leaf():
				return g.leaf(leaves[id])
			case n.Test.Kind == split.Multiway:
				return g.search(w.branch(n), counted(len(n.Branches)), func(at int) int { return child(at)() })
			case n.Branches[0].Outcome == 1:
				return w.ask(g, &n.Test.Test, child(0), child(1))
			default:
				return w.ask(g, &n.Test.Test, child(1), child(0))
			}
		}
		node(0)
	}
	if w.tree.Modelled() {
		w.growModels()
	}
}

// write adds the nodes and the outputs.
func (w *writer) write(paths []string) {
	var leaf, matrix string
	if len(w.leaves) == 1 { // no input shows how many rows there are
		leaf = w.wholes([]int64{0}, 1)
	} else {
		matrix = w.matrix(w.graph, w.inputs)
		leaf = w.cast(w.flat(w.forest.add(w.graph, matrix, w.position)), whole)
	}
	classes := w.tree.Label.Classes
	count := len(w.leaves)
	tests, paid := w.tree.PathCosts()
	class := make([]int64, count)
	nodes := make([]int64, count)
	asked := make([]int64, count)
	costs := make([]float64, count)
	table := make([]float64, 0, count*len(classes))
	for i, id := range w.leaves {
		n := &w.tree.Nodes[id]
		class[i], nodes[i], asked[i], costs[i] = int64(n.Class), int64(id), int64(tests[id]), paid[id]
		table = append(table, n.Probabilities...)
	}
	decided := w.gather(w.wholes(class, count), leaf)
	probabilities := w.gather(w.doubles(table, count, len(classes)), leaf)
	if w.tree.Modelled() {
		decided, probabilities = w.modelled(matrix, leaf, decided, probabilities)
	}
	w.output("label", text, "the class", w.texts(classes), decided)
	w.opAs("probabilities", "", "Identity", []string{probabilities})
	w.outputs = append(w.outputs, valueInfo("probabilities", double,
		"one for each class, in the order of the metadata's classes", len(classes)))
	w.output("leaf", whole, "number of the leaf in tree.json", w.wholes(nodes, count), leaf)
	w.output("tests", whole, "number of tests on the row's path", w.wholes(asked, count), leaf)
	w.output("cost", double, "what the tests cost", w.doubles(costs, count), leaf)
	if paths != nil {
		w.output("path", text, "the conditions to the leaf", w.texts(paths), leaf)
	}
}

// output adds an output whose values are in a table.
func (w *writer) output(name string, of kind, about, table, at string) {
	w.opAs(name, "", "Gather", []string{table, at})
	w.outputs = append(w.outputs, valueInfo(name, of, about))
}

// model returns the ModelProto.
func (w *writer) model(name, about string) ([]byte, error) {
	var g, m message
	for _, n := range w.nodes {
		g.bytes(1, n)
	}
	g.text(2, name)
	for _, t := range w.initializers {
		g.bytes(5, t)
	}
	for i := range w.inputs {
		in := &w.inputs[i]
		of := double
		about := "number, NaN: missing"
		if in.Missing != nil {
			of, about = text, fmt.Sprintf("text, %q: missing", *in.Missing)
		}
		if in.Unit != "" {
			about = in.Unit + " as a " + about
		}
		g.bytes(11, valueInfo(in.Input, of, fmt.Sprintf("%.200q: %s", in.Name, about), 1))
	}
	for _, o := range w.outputs {
		g.bytes(12, o)
	}
	m.number(1, formatVersion)
	m.text(2, "espalier")
	m.text(6, about)
	m.bytes(7, g)
	m.bytes(8, operators("", version))
	m.bytes(8, operators(learnedDomain, learnedVersion))
	for _, entry := range []struct {
		key   string
		value any
	}{{"features", w.inputs}, {"classes", w.tree.Label.Classes}, {"label", w.tree.Label.Column}} {
		b, err := json.Marshal(entry.value)
		if err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
		var pair message
		pair.text(1, entry.key)
		pair.bytes(2, b)
		m.bytes(14, pair)
	}
	return m, nil
}

// operators returns an OperatorSetIdProto.
func operators(domain string, version int64) message {
	var m message
	m.text(1, domain)
	m.number(2, version)
	return m
}
