package bylevel

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
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

	rules   grow.Rules
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
		rules:  grow.NewRules(s.Trees, s.Columns, s.Classes, s.Total, s.Soft),
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

// wants reports whether an open node may be split in some tree.
func (g *Grower) wants(o *Open) bool {
	return slices.ContainsFunc(o.Members, func(m grow.Member) bool { return g.rules.MayTest(&o.Open, m.Tree) })
}
