package memory

import "github.com/espalier-ml/espalier/induce/split"

// workspace is the scratch memory of one worker.
type workspace struct {
	scanners   []*split.Scanner // per tree
	histograms pool

	others  []*split.Scanner // see scan
	scores  [][]float64      // best score by tree and feature
	column  split.Column     // one feature, at a node
	cells   []int64          // one feature's cells; all zero between uses
	seen    []uint64         // one feature's codes; all zero between uses
	present []int32
	heavy   []split.Heavy // by code; all zero between uses

	dense          []int // see view
	denseN, denseM []int64
	number         []uint16 // number of each class among those in use
	class          []uint16

	at      []int   // see part
	childOf []int32 // child by code, for multiway tests
	order   []int32
	classes []uint16
	weight  []int64
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
		cells:   make([]int64, 2*codes*g.classes),
		seen:    make([]uint64, (codes+63)/64),
		number:  make([]uint16, g.classes),
		childOf: make([]int32, codes),
	}
	for _, c := range g.criteria {
		w.scanners = append(w.scanners, split.NewScanner(c))
		w.scores = append(w.scores, make([]float64, len(g.columns)))
	}
	return w
}

func (w *workspace) heavyOf(codes int) []split.Heavy {
	if len(w.heavy) < codes {
		w.heavy = make([]split.Heavy, codes)
	}
	return w.heavy[:codes]
}

// pool hands out histograms and takes them back.
type pool struct{ free [][]int64 }

func (p *pool) get(cells int) []int64 {
	if n := len(p.free); n > 0 {
		h := p.free[n-1]
		p.free = p.free[:n-1]
		return h
	}
	return make([]int64, cells)
}

func (p *pool) put(h []int64) { p.free = append(p.free, h) }
