package levels

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/split"
)

// Setting is what all levels of one training share.
type Setting struct {
	Params   induce.Params
	Columns  []split.Column // per feature
	Classes  int
	Total    int64 // W, the weight of all training objects
	Heaviest int64 // the greatest weight of a training object
	Piece    int   // greatest length of an encoded piece of counts, in bytes, about; 0: 4 MiB
}

// defaultPiece keeps the values that a worker emits far below the greatest size that
// engines take.
const defaultPiece = 4 << 20

// Grower grows trees by levels. It is read only and may be shared by goroutines.
type Grower struct {
	Setting

	criterion   *split.Criterion
	layout      induce.Layout
	codesAt     []int // number of codes of the features before each one, and of all: len(Columns)+1
	heavies     bool  // some training object is heavy, see split.Heavy
	constraints induce.Constraints
}

// NewGrower returns a grower of trees by a setting.
func NewGrower(s Setting) *Grower {
	if s.Piece == 0 {
		s.Piece = defaultPiece
	}
	g := &Grower{
		Setting: s, criterion: s.Params.Criterion(s.Total), codesAt: make([]int, len(s.Columns)+1),
		layout:      induce.NewLayout(s.Columns, s.Classes),
		constraints: induce.NewConstraints(s.Columns, s.Classes),
	}
	g.heavies = g.criterion.IsHeavy(s.Heaviest)
	for f := range s.Columns {
		g.codesAt[f+1] = g.codesAt[f] + s.Columns[f].Codes
	}
	return g
}

// wantsSplit reports whether neither the criterion nor the depth makes a leaf of an
// open node. Its rows are not known before they are counted.
func (g *Grower) wantsSplit(o *Open) bool {
	leaf := g.criterion.IsLeaf(g.criterion.NewTotals(o.Objects, o.Weight))
	return !leaf && (g.Params.MaxDepth <= 0 || o.Depth < g.Params.MaxDepth)
}
