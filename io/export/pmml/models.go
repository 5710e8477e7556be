package pmml

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// chain returns the model of a tree with leaf models: the tree, then the booster of the row's leaf,
// then the model of the leaf. The last model that a row passes gives its probabilities.
func (w *writer) chain(name string, names []string) *element {
	node := w.name("leaf of the tree")
	leafField := el("OutputField", "name", node, "optype", "categorical", "dataType", "string", "feature", "entityId",
		"isFinalResult", "false")
	c := &chain{writer: w, leaf: node, segments: el("Segmentation", "multipleModelMethod", "modelChain")}
	c.add(el("True"), w.treeModel(name).with(w.schema(w.all(), true), el("Output").with(leafField), w.node(0, el("True"))))
	c.addBoosters()
	for id := range w.tree.Nodes {
		if n := &w.tree.Nodes[id]; n.Leaf() && n.Model != nil {
			c.add(compare(node, "equal", strconv.Itoa(id)), c.regression(n.Model))
		}
	}
	from := el("", "feature", "transformedValue").with(el("FieldRef", "field", node))
	return el("MiningModel", "modelName", name, "functionName", "classification").with(
		w.schema(w.all(), true), w.outputs(names, from), c.segments)
}

// chain writes the segments.
type chain struct {
	*writer

	leaf     string // field with the number of the leaf
	segments *element
	boosters []*boost.Booster
	sums     [][]string // by booster and score: the field of its sum
}

func (c *chain) add(condition, model *element) {
	id := strconv.Itoa(len(c.segments.Children) + 1)
	c.segments.with(el("Segment", "id", id).with(condition, model))
}

// addBoosters adds a segment for each score of each booster.
func (c *chain) addBoosters() {
	leaves := make(map[*boost.Booster][]*element)
	for id := range c.tree.Nodes {
		n := &c.tree.Nodes[id]
		if !n.Leaf() || n.Model == nil || n.Model.Booster == nil {
			continue
		}
		b := n.Model.Booster
		if leaves[b] == nil {
			c.boosters = append(c.boosters, b)
		}
		leaves[b] = append(leaves[b], compare(c.leaf, "equal", strconv.Itoa(id)))
	}
	for i, b := range c.boosters {
		var sums []string
		for k := range portable.Scores(len(c.tree.Label.Classes)) {
			name := c.name(fmt.Sprintf("score %d of booster %d", k, i))
			sums = append(sums, name)
			c.add(joined("or", leaves[b]), c.sum(b, k, name))
		}
		c.sums = append(c.sums, sums)
	}
}

// sum returns the model that adds up one score of a booster.
func (c *chain) sum(b *boost.Booster, score int, name string) *element {
	trees := el("Segmentation", "multipleModelMethod", "sum")
	for i, t := range b.Trees {
		var used []int
		for k := range t {
			if !slices.Contains(used, t[k].Feature) {
				used = append(used, t[k].Feature)
			}
		}
		model := el("TreeModel", "functionName", "regression", "missingValueStrategy", "none",
			"noTrueChildStrategy", "returnNullPrediction", "splitCharacteristic", "binarySplit")
		model.with(c.schema(used, false), c.split(t, score, &boost.Side{Split: 0}, el("True")))
		trees.with(el("Segment", "id", strconv.Itoa(i+1)).with(el("True"), model))
	}
	output := el("OutputField", "name", name, "optype", "continuous", "dataType", "double", "feature", "predictedValue",
		"isFinalResult", "false")
	return el("MiningModel", "functionName", "regression").with(
		c.schema(b.Features(), false), el("Output").with(output), trees)
}

// split returns the node of a side.
func (c *chain) split(t boost.Tree, score int, side *boost.Side, condition *element) *element {
	if side.Values != nil {
		return el("Node", "score", number(side.Values[score])).with(condition)
	}
	s := &t[side.Split]
	f := &c.tree.Features[s.Feature]
	var yes []*element
	if f.Kind == dataset.Numeric {
		yes = append(yes, compare(f.Name, "greaterOrEqual", cut(f.Cuts[s.Code-1])))
	} else {
		yes = among(f.Name, s.Values(f), "isIn", "equal")
	}
	if s.Missing {
		yes = append(yes, missing(f.Name))
	}
	return el("Node").with(condition, c.split(t, score, &s.Yes, joined("or", yes)), c.split(t, score, &s.No, el("True")))
}

// regression returns the model of a leaf.
func (c *chain) regression(m *tree.LeafModel) *element {
	classes := c.tree.Label.Classes
	derived := el("LocalTransformations")
	var features []int
	var sums []string
	if m.Booster != nil {
		sums = c.sums[slices.Index(c.boosters, m.Booster)]
	}
	offsets := c.offsets()
	scores := make([]*element, len(m.Intercept))
	for k := range scores {
		class := k
		if len(classes) == 2 {
			class = 1
		}
		table := el("RegressionTable", "intercept", number(m.Intercept[k]+offsets[k]), "targetCategory", classes[class])
		for i := range m.Terms {
			t := &m.Terms[i]
			if !slices.Contains(features, t.Feature) {
				features = append(features, t.Feature)
			}
			name := c.name(fmt.Sprintf("term %d score %d", i, k))
			field := el("DerivedField", "name", name, "optype", "continuous", "dataType", "double")
			derived.with(field.with(c.line(t, k)))
			table.with(el("NumericPredictor", "name", name, "coefficient", "1"))
		}
		if sums != nil {
			table.with(el("NumericPredictor", "name", sums[k], "coefficient", "1"))
		}
		scores[k] = table
	}
	method := "softmax"
	if len(classes) == 2 {
		method = "logit"
		scores = append(scores, el("RegressionTable", "intercept", "0", "targetCategory", classes[0]))
	}
	model := el("RegressionModel", "functionName", "classification", "normalizationMethod", method)
	model.with(c.schema(features, true, sums...))
	if len(derived.Children) > 0 {
		model.with(derived)
	}
	return model.with(scores...)
}

// line returns what a term adds to a score.
func (c *chain) line(t *tree.Term, score int) *element {
	e := el("NormContinuous", "field", c.tree.Features[t.Feature].Name, "outliers", "asExtremeValues",
		"mapMissingTo", number(t.Missing[score]))
	for i, x := range t.At {
		e.with(el("LinearNorm", "orig", number(x), "norm", number(t.Values[i][score])))
	}
	if len(t.At) == 1 { // a line has two ends
		next := math.Nextafter(t.At[0], math.Inf(1))
		e.with(el("LinearNorm", "orig", number(next), "norm", number(t.Values[0][score])))
	}
	return e
}

// never is a score of classes of probability 0.
const never = -1e300

// offsets returns by score what the priors add: the logarithms of their factors.
func (c *chain) offsets() []float64 {
	width := portable.Scores(len(c.tree.Label.Classes))
	offsets := make([]float64, width)
	factors := c.tree.PriorFactors()
	if factors == nil {
		return offsets
	}
	if width == 1 {
		factors = []float64{factors[1] / factors[0]}
	}
	for k, f := range factors {
		switch {
		case math.IsInf(f, 1):
			offsets[k] = -never
		case f > 0:
			offsets[k] = portable.Log(f)
		default:
			offsets[k] = never
		}
	}
	return offsets
}
