package pmml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Encode returns a tree as a document. name is the name of the model, and about is lines about it.
// paths are the texts of the output path by leaf; nil: there is no such output.
func Encode(t *tree.Tree, name string, about, paths []string) ([]byte, error) {
	t = t.Tested()
	w := &writer{tree: t, taken: make(map[string]bool), paths: paths}
	if err := w.check(); err != nil {
		return nil, err
	}
	w.rename()
	root := el("PMML", "version", "4.4", "xmlns", "http://www.dmg.org/PMML-4_4").with(
		el("Header", "description", strings.Join(about, " ")).with(el("Application", "name", "Espalier")),
		w.dictionary(),
	)
	outputs := []string{w.name("leaf"), w.name("tests"), w.name("cost")}
	if t.Modelled() {
		root.with(w.chain(name, outputs))
	} else {
		leaf := el("", "feature", "entityId")
		root.with(w.treeModel(name).with(w.schema(w.all(), true), w.outputs(outputs, leaf), w.node(0, el("True"))))
	}
	text, err := xml.MarshalIndent(root, "", " ")
	if err != nil {
		return nil, fmt.Errorf("pmml: %w", err)
	}
	for _, name := range []string{
		"True", "SimplePredicate", "ScoreDistribution", "Value", "MiningField", "FieldRef", "FieldColumnPair", "LinearNorm",
		"NumericPredictor", "Application", "OutputField",
	} {
		text = bytes.ReplaceAll(text, []byte("></"+name+">"), []byte("/>")) // a ">" in a text is escaped
	}
	// A comment must not contain "--". The header has all lines.
	first := strings.ReplaceAll(about[0], "--", "- -")
	return slices.Concat([]byte("<?xml version=\"1.0\"?>\n<!-- "+first+" -->\n"), text, []byte("\n")), nil
}

type writer struct {
	tree  *tree.Tree
	taken map[string]bool // names of fields
	paths []string        // by leaf
}

// check returns an error for a tree that PMML cannot express.
func (w *writer) check() error {
	texts := append([]string{w.tree.Label.Column}, w.tree.Label.Classes...)
	for i := range w.tree.Features {
		f := &w.tree.Features[i]
		texts = append(append(texts, f.Name), f.Values...)
		w.taken[f.Name] = true
	}
	w.taken[w.tree.Label.Column] = true
	for _, s := range texts {
		if at := strings.IndexFunc(s, func(r rune) bool { return !inXML(r) }); at >= 0 {
			r := []rune(s[at:])[0]
			return fmt.Errorf("the text %.60q has the character %U, which XML cannot hold", s, r)
		}
	}
	if w.tree.Modelled() && (w.tree.Label.ErrorCosts != nil || w.tree.Label.Thresholded()) {
		return errors.New("the tree has leaf models, and error costs or a threshold: regression models of PMML predict the " +
			"most probable class")
	}
	return nil
}

// inXML reports whether XML 1.0 can hold a character.
func inXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r < 0xfffe && (r < 0xd800 || r > 0xdfff) || r > 0xffff
}

// rename renames a column with an empty name, which no field in PMML may have.
func (w *writer) rename() {
	if !w.taken[""] {
		return
	}
	if w.tree.Label.Column == "" {
		w.tree.Label.Column = w.name("unnamed")
	}
	for i := range w.tree.Features {
		if f := &w.tree.Features[i]; f.Name == "" {
			f.Name = w.name("unnamed")
		}
	}
}

// name returns an unused name for a field.
func (w *writer) name(name string) string {
	free := name
	for i := 2; w.taken[free]; i++ {
		free = fmt.Sprintf("%s_%d", name, i)
	}
	w.taken[free] = true
	return free
}

func (w *writer) dictionary() *element {
	d := el("DataDictionary")
	for i := range w.tree.Features {
		f := &w.tree.Features[i]
		if f.Kind == dataset.Numeric {
			field := el("DataField", "name", f.Name, "optype", "continuous", "dataType", "double")
			d.with(field.with(el("Value", "value", "NaN", "property", "missing")))
			continue
		}
		d.with(categories(f.Name, f.Values))
	}
	return d.with(categories(w.tree.Label.Column, w.tree.Label.Classes))
}

func categories(name string, values []string) *element {
	field := el("DataField", "name", name, "optype", "categorical", "dataType", "string")
	for _, v := range values {
		field.with(el("Value", "value", v))
	}
	return field
}

// all lists the features.
func (w *writer) all() []int {
	list := make([]int, len(w.tree.Features))
	for i := range list {
		list[i] = i
	}
	return list
}

// schema lists the fields of a model.
func (w *writer) schema(features []int, target bool, more ...string) *element {
	s := el("MiningSchema")
	for _, f := range features {
		s.with(el("MiningField", "name", w.tree.Features[f].Name, "invalidValueTreatment", "asIs"))
	}
	for _, name := range more {
		s.with(el("MiningField", "name", name))
	}
	if target {
		s.with(el("MiningField", "name", w.tree.Label.Column, "usageType", "target"))
	}
	return s
}

// outputs lists the probabilities, leaf, tests and cost. leaf has the attributes, or the
// expression, of the field with the number of the leaf. Probabilities of leaves without models come
// from tables, because evaluators divide the probabilities of ScoreDistribution by their sum.
func (w *writer) outputs(names []string, leaf *element) *element {
	field := el("OutputField", "name", names[0], "optype", "categorical", "dataType", "string")
	field.Attrs = append(field.Attrs, leaf.Attrs...)
	o := el("Output").with(field.with(leaf.Children...))
	plainLeaves := slices.ContainsFunc(w.tree.Nodes, func(n tree.Node) bool { return n.Leaf() && n.Model == nil })
	for k, class := range w.tree.Label.Classes {
		name := w.name("probability(" + class + ")")
		value := func(id int) string {
			n := &w.tree.Nodes[id]
			if n.Model != nil {
				return "" // no row of the table
			}
			return number(n.Probabilities[k])
		}
		if !w.tree.Modelled() {
			o.with(w.byLeaf(name, names[0], "double", value))
			continue
		}
		probability := func(name string) *element {
			return el("OutputField", "name", name, "optype", "continuous", "dataType", "double", "feature", "probability",
				"value", class)
		}
		if !plainLeaves {
			o.with(probability(name))
			continue
		}
		modelled := w.name("modelled " + name)
		plain := w.name("plain " + name)
		o.with(
			hidden(probability(modelled)),
			hidden(w.byLeaf(plain, names[0], "double", value)),
			el("OutputField", "name", name, "optype", "continuous", "dataType", "double", "feature", "transformedValue").with(
				el("Apply", "function", "if").with(
					el("Apply", "function", "isMissing").with(el("FieldRef", "field", plain)),
					el("FieldRef", "field", modelled), el("FieldRef", "field", plain))),
		)
	}
	tests, costs := w.tree.PathCosts()
	o.with(
		w.byLeaf(names[1], names[0], "integer", func(id int) string { return strconv.Itoa(tests[id]) }),
		w.byLeaf(names[2], names[0], "double", func(id int) string { return number(costs[id]) }),
	)
	if paths := w.paths; paths != nil {
		o.with(w.byLeaf(w.name("path"), names[0], "string", func(int) string {
			path := paths[0] // the order of calls is the order of paths
			paths = paths[1:]
			return path
		}))
	}
	return o
}

// hidden marks an output field that is only used by other fields.
func hidden(field *element) *element {
	field.Attrs = append(field.Attrs, el("", "isFinalResult", "false").Attrs...)
	return field
}

// byLeaf returns a field whose value follows from the leaf. It is missing if value returns an empty
// text.
func (w *writer) byLeaf(name, leaf, dataType string, value func(id int) string) *element {
	table := el("InlineTable")
	for id := range w.tree.Nodes {
		if !w.tree.Nodes[id].Leaf() {
			continue
		}
		key := el("leaf")
		of := el("value")
		if key.Text, of.Text = strconv.Itoa(id), value(id); of.Text != "" {
			table.with(el("row").with(key, of))
		}
	}
	optype := "continuous"
	if dataType == "string" {
		optype = "categorical"
	}
	field := el("OutputField", "name", name, "optype", optype, "dataType", dataType, "feature", "transformedValue")
	return field.with(el("MapValues", "outputColumn", "value", "dataType", dataType).with(
		el("FieldColumnPair", "field", leaf, "column", "leaf"), table))
}

// treeModel begins the model of the tree.
func (w *writer) treeModel(name string) *element {
	return el("TreeModel", "modelName", name, "functionName", "classification", "missingValueStrategy", "none",
		"noTrueChildStrategy", "returnNullPrediction", "splitCharacteristic", "multiSplit")
}

// node returns the subtree of a node. Rows that meet the condition reach the node.
func (w *writer) node(id int, condition *element) *element {
	n := &w.tree.Nodes[id]
	e := el("Node", "id", strconv.Itoa(id), "score", w.tree.Label.Classes[n.Class]).with(condition)
	if n.Leaf() {
		scale := w.tree.Training.Scale()
		for k, class := range w.tree.Label.Classes {
			e.with(el("ScoreDistribution", "value", class, "recordCount", number(float64(n.RawClassWeights[k])/scale),
				"probability", number(n.Probabilities[k])))
		}
		return e
	}
	if n.Test.Kind == split.Multiway {
		return w.multiway(e, n)
	}
	yes, no := &n.Branches[0], &n.Branches[1]
	if yes.Outcome == 0 {
		yes, no = no, yes
	}
	return e.with(w.node(yes.Child, w.condition(&n.Test.Test)), w.node(no.Child, el("True")))
}

// multiway adds a child for each value; the child that takes unlisted values comes last.
func (w *writer) multiway(e *element, n *tree.Node) *element {
	f := &w.tree.Features[n.Test.Feature]
	last := 0
	for i := range n.Branches {
		b := &n.Branches[i]
		var takes []*element
		if b.Outcome < len(f.Values) {
			takes = append(takes, compare(f.Name, "equal", f.Values[b.Outcome]))
		}
		if b.Missing {
			takes = append(takes, missing(f.Name))
		}
		if b.Other {
			last = i
			continue
		}
		e.with(w.node(b.Child, joined("or", takes)))
	}
	return e.with(w.node(n.Branches[last].Child, el("True")))
}

// joined joins conditions by "and" or "or".
func joined(by string, conditions []*element) *element {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return el("CompoundPredicate", "booleanOperator", by).with(conditions...)
}

// among returns conditions on a field: one for a set of the values, compared by the operator within, and one for each
// value that a set cannot hold, compared by the operator single. Evaluators do not agree on how a set spells empty texts,
// quotes, backslashes and blanks other than a space.
func among(field string, values []string, within, single string) []*element {
	var apart []*element
	var set []string
	for _, v := range values {
		if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
			apart = append(apart, compare(field, single, v))
		} else {
			set = append(set, `"`+v+`"`)
		}
	}
	if len(set) == 0 {
		return apart
	}
	array := el("Array", "type", "string", "n", strconv.Itoa(len(set)))
	array.Text = strings.Join(set, " ")
	return append(apart, el("SimpleSetPredicate", "field", field, "booleanOperator", within).with(array))
}

func compare(field, operator, value string) *element {
	return el("SimplePredicate", "field", field, "operator", operator, "value", value)
}

func missing(field string) *element {
	return el("SimplePredicate", "field", field, "operator", "isMissing")
}

// condition returns the condition of a test's yes branch.
func (w *writer) condition(t *split.Test) *element {
	f := &w.tree.Features[t.Feature]
	switch t.Kind {
	case split.Threshold:
		return compare(f.Name, "greaterOrEqual", cut(f.Cuts[t.Code-1]))
	case split.Bin:
		var both []*element
		if t.Code > 0 {
			both = append(both, compare(f.Name, "greaterOrEqual", cut(f.Cuts[t.Code-1])))
		}
		if to := t.Code + t.Span; to < len(f.Cuts) {
			both = append(both, compare(f.Name, "lessThan", cut(f.Cuts[to])))
		}
		if len(both) == 0 {
			return el("SimplePredicate", "field", f.Name, "operator", "isNotMissing")
		}
		return joined("and", both)
	case split.Equals:
		return compare(f.Name, "equal", f.Values[t.Code])
	case split.Other, split.In:
		values, inverse := tree.Deciding(f, t)
		if !inverse {
			return joined("or", among(f.Name, values, "isIn", "equal"))
		}
		present := el("SimplePredicate", "field", f.Name, "operator", "isNotMissing")
		return joined("and", append([]*element{present}, among(f.Name, values, "isNotIn", "notEqual")...))
	default:
		return missing(f.Name)
	}
}
