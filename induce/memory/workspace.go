package memory

import "github.com/espalier-ml/espalier/induce/split"

// workspace is the scratch memory of one worker.
type workspace struct {
	scanners   []*split.Scanner // per tree
	histograms pool

	// of scan
	others []*split.Scanner
	scores [][]float64  // best score by tree and feature
	column split.Column // one feature at a node

	// of countCells
	cells   []int64       // of one feature; all zero between uses
	seen    []uint64      // a bit for each code of one feature; all zero between uses
	present []int32       // codes whose cells are not zero, ascending
	heavy   []split.Heavy // by code; all zero between uses

	// of compact
	used                    []int // the classes that the node has
	usedObjects, usedWeight []int64
	numberOf                []uint16 // number of each class among those used
	classes                 []uint16

	// of partition
	starts     []int
	childOf    []int32 // child by code, for multiway tests
	orderCopy  []int32
	classCopy  []uint16
	weightCopy []int64
}

func (g *grower) newWorkspaces() []*workspace {
	ws := make([]*workspace, max(1, g.opts.Workers))
	for i := range ws {
		ws[i] = g.newWorkspace()
	}
	return ws
}

func (g *grower) newWorkspace() *workspace {
	codes := 0
	for f := range g.columns {
		codes = max(codes, g.columns[f].Codes)
	}
	w := &workspace{
		cells:    make([]int64, 2*codes*g.classes),
		seen:     make([]uint64, (codes+63)/64),
		numberOf: make([]uint16, g.classes),
		childOf:  make([]int32, codes),
	}
	for _, c := range g.criteria {
		w.scanners = append(w.scanners, split.NewScanner(c))
		w.scores = append(w.scores, make([]float64, len(g.columns)))
	}
	return w
}

// heavySums returns the sums of heavy objects by code, all zero.
func (w *workspace) heavySums(codes int) []split.Heavy {
	if len(w.heavy) < codes {
		w.heavy = make([]split.Heavy, codes)
	}
	return w.heavy[:codes]
}

// pool hands out histograms and takes them back.
type pool struct{ idle [][]int64 }

func (p *pool) get(cells int) []int64 {
	if n := len(p.idle); n > 0 {
		h := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return h
	}
	return make([]int64, cells)
}

func (p *pool) put(h []int64) { p.idle = append(p.idle, h) }
