package levels

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
)

// Setting is what all levels of one training share.
type Setting struct {
	Params   induce.Params
	Columns  []split.Column // per feature
	Classes  int
	Total    int64 // W, the weight of all training objects
	Heaviest int64 // the greatest weight of a training object
	Piece    int   // bytes of a piece of counts, at most and about; 0: 4 MiB
}

// defaultPiece keeps what leaves a worker under one key far below what engines
// can take.
const defaultPiece = 4 << 20

// Grower is a Setting made ready.
type Grower struct {
	Setting

	criterion   *split.Criterion
	layout      induce.Layout
	codesAt     []int // first code of each feature among all codes, len(Columns)+1
	heavies     bool  // there are heavy objects
	constraints induce.Constraints
}

// NewGrower prepares training by levels.
func NewGrower(s Setting) *Grower {
	if s.Piece == 0 {
		s.Piece = defaultPiece
	}
	l := &Grower{
		Setting: s, layout: induce.NewLayout(s.Columns, s.Classes), constraints: induce.NewConstraints(s.Columns, s.Classes), codesAt: make([]int, len(s.Columns)+1),
		criterion: s.Params.Criterion(s.Total),
	}
	l.heavies = l.criterion.IsHeavy(s.Heaviest)
	for f := range s.Columns {
		l.codesAt[f+1] = l.codesAt[f] + s.Columns[f].Codes
	}
	return l
}

// wantsSplit reports whether an open node is split if a test splits it and it
// has rows enough.
func (l *Grower) wantsSplit(o *Open) bool {
	leaf := l.criterion.IsLeaf(l.criterion.NewTotals(o.Objects, o.Weight))
	return !leaf && (l.Params.MaxDepth <= 0 || o.Depth < l.Params.MaxDepth)
}

// PassCounter counts objects into the histograms of one pass. What counters of
// different objects have counted adds up by their encoded pieces.
type PassCounter struct {
	*Grower

	pass   *Pass
	router *Router
	at     []int32 // position in the pass by tree node, -1: none
	starts []int   // of each node in sums
	sums   []int64 // of each node: weight by class, rows, cells
	heavy  [][]split.Heavy
}

// Counter returns an empty counter of a pass over the tree below root.
func (l *Grower) Counter(root *induce.Node, p *Pass) *PassCounter {
	level := &PassCounter{Grower: l, pass: p, router: NewRouter(root, l.Columns), heavy: make([][]split.Heavy, len(p.Nodes))}
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
func (l *PassCounter) raw(at int) []int64 { return l.sums[l.starts[at]:][:l.Classes+1] }

// cells returns a node's histogram of the pass's features.
func (l *PassCounter) cells(at int) []int64 { return l.sums[l.starts[at]+l.Classes+1 : l.starts[at+1]] }

// Add counts objects, the features dealt to so many workers.
func (l *PassCounter) Add(o *dataset.Objects, workers int) {
	reached := make([]induce.Selection, len(l.pass.Nodes))
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
			r.Order, r.Class, r.Weight, r.N = append(r.Order, int32(i)), append(r.Class, o.Class[i]), append(r.Weight, o.Weight[i]), none
		}
	}
	l.addHeavy(o, reached)
	from, to := l.pass.From, l.pass.To
	parallel.Each(to-from, workers, func(i int) {
		f := from + i
		c := induce.ColumnCounter{Codes: &o.Codes[f], Common: -1}
		for i := range l.pass.Nodes {
			if l.pass.Nodes[i].Cells && len(reached[i].Order) > 0 {
				c.Count(l.layout.Column(l.cells(i), f, from), &reached[i])
			}
		}
	})
}

func (l *PassCounter) addHeavy(o *dataset.Objects, reached []induce.Selection) {
	if !l.heavies {
		return
	}
	from, to := l.pass.From, l.pass.To
	for at := range reached {
		node := &l.pass.Nodes[at]
		if !node.Split {
			continue
		}
		for _, id := range reached[at].Order {
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
