package bylevel

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow/nodesearch"
	"github.com/espalier-ml/espalier/induce/split"
)

// Setting has the parameters that all levels of one training share.
type Setting struct {
	Trees    []induce.Params // by tree: its parameters
	Columns  []split.Column  // by feature
	Classes  int
	Total    int64 // weight W of all training objects
	Heaviest int64 // the greatest weight of a training object
	Soft     bool  // whether the objects are soft, see dataset.Objects
	Piece    int   // approximate greatest length of an encoded piece of counts, in bytes; 0: 4 MiB
}

// defaultPiece keeps the values that a worker emits far below the greatest size of a value that
// engines accept.
const defaultPiece = 4 << 20

// Grower grows trees by levels. It is read only and may be shared by goroutines.
type Grower struct {
	Setting

	rules   nodesearch.Rules
	raw     bool  // class weights of nodes count rows, not objects: see split.Classes
	heavies []int // by tree: the first tree with the same theta; -1: no object is heavy
	layout  induce.Layout
	codesAt []int // cumulative numbers of codes of the features, from 0 to the number of all codes
}

// NewGrower returns a grower with the given setting.
func NewGrower(s Setting) *Grower {
	if s.Piece == 0 {
		s.Piece = defaultPiece
	}
	g := &Grower{
		Setting: s, codesAt: make([]int, len(s.Columns)+1),
		rules:  nodesearch.NewRules(s.Trees, s.Columns, s.Classes, s.Total),
		raw:    s.Trees[0].Classes == split.OfRows,
		layout: induce.NewLayout(s.Columns, s.Classes),
	}
	for i, c := range g.rules.Criteria {
		first := -1
		for at := 0; first < 0 && c.IsHeavy(s.Heaviest); at++ {
			if s.Trees[at].Theta == s.Trees[i].Theta {
				first = at
			}
		}
		g.heavies = append(g.heavies, first)
	}
	for f := range s.Columns {
		g.codesAt[f+1] = g.codesAt[f] + s.Columns[f].Codes
	}
	return g
}

// describe sets the rows and the class weights of a node. complement has the class weights that open
// node o does not have: if o.Weight is raw, the weights by the objects' majority classes, otherwise
// the raw weights. If the objects are soft, complement has the weights by the labels of rows.
func (g *Grower) describe(n *induce.Node, o *Open, complement []int64, rows int64) {
	n.Rows = rows
	switch {
	case g.Soft:
		n.Class, n.Raw = o.Weight, o.Weight
	case g.raw:
		n.Class = complement
		n.Raw = o.Weight
	default:
		n.Raw = complement
	}
}

// labelled reports whether a node whose soft objects all have the same majority class is a leaf,
// because its rows only have labels of this class. labels are the weights by label.
func (g *Grower) labelled(o *Open, labels []int64) bool {
	if !g.Soft || !g.raw || g.rules.Criteria[0].NewTotals(o.Objects, o.Weight).Paired() {
		return false
	}
	classes := 0
	for _, weight := range labels {
		if weight > 0 {
			classes++
		}
	}
	return classes <= 1
}

// wantsSplit reports whether neither the criterion nor the depth makes an open node a leaf
// in a tree. It ignores MinRows, as the node's rows are not counted yet.
func (g *Grower) wantsSplit(o *Open, tree int) bool {
	return !g.rules.IsLeaf(tree, o.Depth, g.rules.Totals(tree, o.Objects, o.Weight, new([split.Impurities]*split.Totals)))
}

// wants reports whether an open node may be split in some tree.
func (g *Grower) wants(o *Open) bool {
	for _, m := range o.Members {
		if g.wantsSplit(o, m.Tree) {
			return true
		}
	}
	return false
}
