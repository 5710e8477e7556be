package induce

import (
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// Setting is what all levels of one training share.
type Setting struct {
	Params   Params
	Columns  []split.Column // per feature
	Classes  int
	Total    int64 // W, the weight of all training objects
	Heaviest int64 // the greatest weight of a training object
	Piece    int   // bytes of a piece of counts, at most and about; 0: 4 MiB
}

// defaultPiece keeps what leaves a worker under one key far below what engines
// can take.
const defaultPiece = 4 << 20

// Levels is a Setting made ready.
type Levels struct {
	Setting

	criterion *split.Criterion
	layout    layout
	codesAt   []int // first code of each feature among all codes, len(Columns)+1
	heavies   bool  // there are heavy objects
	wishes    wishes
}

// NewLevels prepares training by levels.
func NewLevels(s Setting) *Levels {
	if s.Piece == 0 {
		s.Piece = defaultPiece
	}
	l := &Levels{
		Setting: s, layout: newLayout(s.Columns, s.Classes), wishes: newWishes(s.Columns, s.Classes), codesAt: make([]int, len(s.Columns)+1),
		criterion: s.Params.criterion(s.Total),
	}
	l.heavies = l.criterion.IsHeavy(s.Heaviest)
	for f := range s.Columns {
		l.codesAt[f+1] = l.codesAt[f] + s.Columns[f].Codes
	}
	return l
}

// wantsSplit reports whether an open node is split if a test splits it and it
// has rows enough.
func (l *Levels) wantsSplit(o *Open) bool {
	leaf := l.criterion.IsLeaf(l.criterion.NewTotals(o.Objects, o.Weight))
	return !leaf && (l.Params.MaxDepth <= 0 || o.Depth < l.Params.MaxDepth)
}

// Level counts objects into the histograms of one pass. What levels over
// different objects have counted adds up by their encoded pieces.
type Level struct {
	*Levels

	pass   *Pass
	router *Router
	at     []int32 // position in the pass by tree node, -1: none
	starts []int   // of each node in sums
	sums   []int64 // of each node: weight by class, rows, cells
	heavy  [][]split.Heavy
}

// Level returns an empty level for a pass over the tree below root.
func (l *Levels) Level(root *Node, p *Pass) *Level {
	level := &Level{Levels: l, pass: p, router: NewRouter(root, l.Columns), heavy: make([][]split.Heavy, len(p.Nodes))}
	level.starts = l.starts(p)
	level.sums = make([]int64, level.starts[len(p.Nodes)])
	level.at = make([]int32, level.router.Len())
	for i := range level.at {
		level.at[i] = -1
	}
	for i, n := range p.Nodes {
		level.at[n.Number] = int32(i)
	}
	return level
}

// raw returns a node's weight by class, then its rows.
func (l *Level) raw(at int) []int64 { return l.sums[l.starts[at]:][:l.Classes+1] }

// cells returns a node's histogram of the pass's features.
func (l *Level) cells(at int) []int64 { return l.sums[l.starts[at]+l.Classes+1 : l.starts[at+1]] }

// Add counts objects, the features dealt to so many workers.
func (l *Level) Add(o *dataset.Objects, workers int) {
	reached := make([]rows, len(l.pass.Nodes))
	none := make([]int64, l.Classes) // sums that only a common code needs
	for i := range o.Len() {
		leaf := l.router.Leaf(o, i)
		if leaf < 0 || l.at[leaf] < 0 {
			continue
		}
		at := l.at[leaf]
		raw := l.raw(int(at))
		for _, cw := range o.Raw(i) {
			raw[cw.Class] += cw.Weight
		}
		raw[len(raw)-1] += o.RowsOf(i)
		if n := &l.pass.Nodes[at]; n.Cells || n.Split && l.heavies {
			r := &reached[at]
			r.order, r.class, r.weight, r.n = append(r.order, int32(i)), append(r.class, o.Class[i]), append(r.weight, o.Weight[i]), none
		}
	}
	l.addHeavy(o, reached)
	var next atomic.Int64
	from, to := l.pass.From, l.pass.To
	inParallel(min(workers, to-from), func(int) {
		for f := from + int(next.Add(1)-1); f < to; f = from + int(next.Add(1)-1) {
			c := counter{&o.Codes[f], -1}
			for i := range l.pass.Nodes {
				if l.pass.Nodes[i].Cells && len(reached[i].order) > 0 {
					c.count(l.layout.of(l.cells(i), f, from), &reached[i])
				}
			}
		}
	})
}

func (l *Level) addHeavy(o *dataset.Objects, reached []rows) {
	if !l.heavies {
		return
	}
	from, to := l.pass.From, l.pass.To
	for at := range reached {
		node := &l.pass.Nodes[at]
		if !node.Split {
			continue
		}
		for _, id := range reached[at].order {
			if !l.criterion.IsHeavy(o.Weight[id]) || o.Weight[id] >= node.Weight {
				continue
			}
			if l.heavy[at] == nil {
				l.heavy[at] = make([]split.Heavy, l.codesAt[to]-l.codesAt[from])
			}
			h := split.NewHeavy(o.Weight[id], node.Weight)
			for f := from; f < to; f++ {
				l.heavy[at][l.codesAt[f]-l.codesAt[from]+o.Codes[f].At(int(id))].Add(&h)
			}
		}
	}
}
