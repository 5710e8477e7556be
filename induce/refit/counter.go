package refit

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Counter counts objects at the nodes of a tree.
type Counter struct {
	tree   *tree.Tree
	router *tree.Router
}

// New returns a counter for the tests of a tree. features have the tree's own among them, with the same
// codes; columns are the same features with their prices. The tree itself stays as it is.
func New(t *tree.Tree, features []dataset.Feature, columns []split.Column) (*Counter, error) {
	number := make([]int, len(t.Features)) // by feature of the tree
	for i := range t.Features {
		f := &t.Features[i]
		number[i] = slices.IndexFunc(features, func(g dataset.Feature) bool { return g.Name == f.Name })
		if number[i] < 0 {
			return nil, fmt.Errorf("the tree tests %q, which is none of the features", f.Name)
		}
		if g := &features[number[i]]; g.Kind != f.Kind || g.Unit != f.Unit || !slices.Equal(g.Cuts, f.Cuts) ||
			!slices.Equal(g.Values, f.Values) {
			return nil, fmt.Errorf("the tree tests %q by other cuts or values", f.Name)
		}
	}
	features = slices.Clone(features)
	for i := range t.Features {
		features[number[i]].Unordered = t.Features[i].Unordered
	}
	made := &tree.Tree{Label: t.Label, Features: features, Algorithm: t.Algorithm, Nodes: make([]tree.Node, len(t.Nodes))}
	for i := range t.Nodes {
		n := &made.Nodes[i]
		n.ClassWeights = make([]int64, len(t.Label.Classes))
		n.RawClassWeights = make([]int64, len(t.Label.Classes))
		if t.Nodes[i].Leaf() {
			continue
		}
		test := *t.Nodes[i].Test
		test.Feature = number[test.Feature]
		if test.Cost = columns[test.Feature].Price(&test.Test); t.Presence(&t.Nodes[i]) {
			test.Cost = 0
		}
		test.Trust = 0 // other rows chose the sets of values
		n.Test = &test
		n.Branches = t.Nodes[i].Branches
	}
	return &Counter{tree: made, router: made.Router()}, nil
}

// Add counts objects.
func (c *Counter) Add(o *dataset.Objects) {
	for i := range o.Len() {
		n := &c.tree.Nodes[c.router.Leaf(o, i)]
		n.Objects++
		n.Rows += o.RowsOf(i)
		n.Weight += o.Weight[i]
		if !o.Soft() {
			n.ClassWeights[o.Class[i]] += o.Weight[i]
		}
		for _, cw := range o.Raw(i) {
			n.RawClassWeights[cw.Class] += cw.Weight
			if o.Soft() { // trees of soft objects have no majority classes
				n.ClassWeights[cw.Class] += cw.Weight
			}
		}
	}
}

// Tree returns the tree with the counts of all added objects. It ends the counting. The caller adds
// what depends on its settings: estimates, billed prices, complexity and the description of the training.
func (c *Counter) Tree() *tree.Tree {
	tree.SumUp(c.tree.Nodes)
	c.tree.WeighKnown()
	return c.tree
}
