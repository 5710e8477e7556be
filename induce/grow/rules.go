package grow

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Rules are what the nodes of trees that grow together have in common.
type Rules struct {
	Columns  []split.Column
	Features []int32            // all features, ascending
	Params   []induce.Params    // per tree
	Criteria []*split.Criterion // per tree
	Soft     bool               // the objects are soft, see dataset.Objects
	OfRows   bool               // class weights of nodes count rows, not objects: see split.Classes

	first    []int   // by depth: the feature that nodes have to test; -1: any
	monotone bool    // some feature is monotone, which counts with two classes only
	confined bool    // some tree limits the features of a path, or of all its tests
	costly   bool    // some tree limits what a path costs
	byCodes  bool    // some tree chooses the feature of the root by its codes, see induce.Params.RootByCodes
	dearest  float64 // the greatest cost of the cheapest test of a feature, with the set-up of its group
	unpriced bool    // some column has no least price to divide scores by, see split.Columns
}

// NewRules returns the rules of trees with the given parameters. total is the weight of all
// training objects.
func NewRules(ps []induce.Params, columns []split.Column, classes int, total int64, soft bool) Rules {
	r := Rules{Columns: columns, Params: ps, Soft: soft, OfRows: ps[0].Classes == split.OfRows}
	for i := range ps {
		r.Criteria = append(r.Criteria, ps[i].Criterion(total))
		r.confined = r.confined || ps[i].PathFeatures > 0 || ps[i].Selected != "" || ps[i].Once
		r.costly = r.costly || ps[i].Limited()
		r.byCodes = r.byCodes || ps[i].RootByCodes
	}
	for f := range columns {
		r.Features = append(r.Features, int32(f))
		r.dearest = max(r.dearest, columns[f].LeastDue(split.Paid{}))
		r.unpriced = r.unpriced || !(columns[f].Floor > 0)
		r.monotone = r.monotone || columns[f].Monotone != 0 && classes == 2
		if depth := columns[f].First - 1; depth >= 0 {
			for len(r.first) <= depth {
				r.first = append(r.first, -1)
			}
			r.first[depth] = f
		}
	}
	return r
}

// bounds returns which features a tree may test at the end of a path that tests the given features and costs spent.
func (r *Rules) bounds(tree int, asked []int, spent *induce.Bill) bounds {
	p := &r.Params[tree]
	b := bounds{
		selected: p.Selected, once: p.Once, known: p.PathFeatures > 0 && len(asked) >= p.PathFeatures,
		free: p.PathTests > 0 && spent.Tests >= p.PathTests, further: p.PathFurther,
	}
	if spent.Cost+r.dearest > p.MostCost() {
		b.cost = p.MostCost()
	}
	return b
}

// bounds describe which features a tree may test at a node, see induce.Params.PathFeatures, PathTests, PathCost and
// PathFurther.
type bounds struct {
	selected split.CodeSet
	free     bool            // only features whose tests cost nothing
	known    bool            // only the features that the path tests already
	once     bool            // only the features that the path does not test
	cost     float64         // features whose tests lead to no higher cost of the path; 0: all
	further  dataset.Amounts // the same in further currencies; 0: all
}

// demanded returns the feature that a node has to test; -1: any. If only, it must test the feature or be a leaf.
func (r *Rules) demanded(at induce.Place) (feature int, only bool) {
	if f, _ := at.BelowPresence(r.Columns); f >= 0 {
		return f, true
	}
	if at.Depth < len(r.first) {
		return r.first[at.Depth], false
	}
	return -1, false
}

// totals returns the sums of a node from the number and weight of its objects by class, as the
// criterion of a tree needs them. made has the sums by impurity, once they are made.
func (r *Rules) totals(tree int, objects, weight []int64, made *[split.Impurities]*split.Totals) *split.Totals {
	kind := r.Params[tree].Algorithm.Impurity()
	if made[kind] == nil {
		made[kind] = r.Criteria[tree].NewTotals(objects, weight)
		made[kind].Ordered = r.monotone
	}
	return made[kind]
}

// isLeaf reports whether the criterion, the depth or a presence test makes a leaf of a node.
func (r *Rules) isLeaf(tree int, at induce.Place, n *split.Totals) bool {
	most := r.Params[tree].MaxDepth
	_, absent := at.BelowPresence(r.Columns)
	return absent || r.Criteria[tree].IsLeaf(n) || most > 0 && at.Depth >= most
}

// MayTest reports whether neither the criterion nor the depth makes an open node a leaf in a tree. It ignores
// MinRows, as the node's rows may be unknown.
func (r *Rules) MayTest(o *Open, tree int) bool {
	var made [split.Impurities]*split.Totals
	return !r.isLeaf(tree, o.Place, r.totals(tree, o.Objects, o.Weight, &made))
}

// Describe sets the rows and the class weights of nodes at open node o. other has the class weights that the open
// node does not have: if o.Weight is by the classes of rows, the weights by the objects' majority classes;
// otherwise the weights by the classes of rows. If the objects are soft, it is not used.
func (r *Rules) Describe(o *Open, nodes Members, other []int64, rows int64) {
	for _, m := range nodes {
		n := m.Node
		n.Rows = rows
		n.ClassWeights = o.Weight
		n.RawClassWeights = o.Weight
		switch {
		case r.Soft:
		case r.OfRows:
			n.ClassWeights = other
		default:
			n.RawClassWeights = other
		}
	}
}
