package levels

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/nodesearch"
	"github.com/espalier-ml/espalier/induce/split"
)

// Setting is what all levels of one training share.
type Setting struct {
	Trees    []induce.Params // parameters of each tree
	Columns  []split.Column  // per feature
	Classes  int
	Total    int64 // W, the weight of all training objects
	Heaviest int64 // the greatest weight of a training object
	Soft     bool  // the objects are soft, see dataset.Objects
	Piece    int   // greatest length of an encoded piece of counts, in bytes, about; 0: 4 MiB
}

// defaultPiece keeps the values that a worker emits far below the greatest size that
// engines take.
const defaultPiece = 4 << 20

// Grower grows trees by levels. It is read only and may be shared by goroutines.
type Grower struct {
	Setting

	rules   nodesearch.Rules
	raw     bool  // class weights of nodes count rows, not objects: see split.Classes
	heavies []int // per tree: the first tree of the same theta; -1: no object is heavy
	layout  induce.Layout
	codesAt []int // number of codes of the features before each one, and of all: len(Columns)+1
}

// NewGrower returns a grower of trees by a setting.
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

// describe sets the rows and the class weights of a node. other are the class weights that its open
// node has not: by the objects' majority classes if that has raw ones, else the raw ones. Where the
// objects are soft they are those of the labels of rows.
func (g *Grower) describe(n *induce.Node, o *Open, other []int64, rows int64) {
	n.Rows = rows
	switch {
	case g.Soft:
		n.Class, n.Raw = o.Weight, o.Weight
	case g.raw:
		n.Class, n.Raw = other, o.Weight
	default:
		n.Raw = other
	}
}

// labelled reports whether a node of soft objects of one majority class is a leaf because its rows
// have labels of this class alone.
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

// wantsSplit reports whether neither the criterion nor the depth makes a leaf of an
// open node in a tree. The node's rows are not known before they are counted.
func (g *Grower) wantsSplit(o *Open, tree int) bool {
	return !g.rules.IsLeaf(tree, o.Depth, g.rules.Totals(tree, o.Objects, o.Weight, new([2]*split.Totals)))
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
