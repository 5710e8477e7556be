package inmemory

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
)

// workspace is the scratch memory of one worker.
type workspace struct {
	search  search       // search for the tests of the node that the worker splits
	scratch grow.Scratch // scratch of this search, or of another worker's search

	// memory of load
	loaded  int           // feature whose cells are loaded; -1: none
	pairs   []int64       // cells of the loaded feature
	present []int32       // codes of the loaded feature that objects have, ascending
	cells   []int64       // memory for counts; all zero between uses
	counted int           // number of counted cells for each code, to be zeroed again; 0: cells is zero
	seen    []uint64      // a bit for each code of one feature; all zero between uses
	memory  []int64       // memory of pairs
	heavy   []split.Heavy // by code
	heavies []int32       // the codes in heavy with sums
	tally   induce.Tally
	tallied *openNode // node for which the tally has numbers

	// memory of selections
	used                    []int // the classes of the node
	usedObjects, usedWeight []int64
	numberOf                []uint16 // number of each class among those used
	classOf                 []uint16
	weightOf                []int64
	shares                  []induce.Share
}

// newWorkspaces returns a workspace for each worker.
func newWorkspaces(columns []split.Column, classes, workers int) []*workspace {
	codes := 0
	for f := range columns {
		codes = max(codes, columns[f].Codes)
	}
	ws := make([]*workspace, max(1, workers))
	for i := range ws {
		ws[i] = &workspace{
			loaded: -1, seen: make([]uint64, (codes+63)/64), numberOf: make([]uint16, classes),
		}
	}
	return ws
}

// load loads the cells of a feature from the kept histogram, or counts them.
func (w *workspace) load(o *openNode, s *search, f, codes int) {
	if w.loaded == f {
		return
	}
	w.unload()
	w.loaded = f
	counter := &o.table.counters[f]
	packed := s.objects.Packed
	classes := len(s.objects.N)
	width := s.objects.Width()
	pairs := func() []int64 {
		w.memory = slices.Grow(w.memory[:0], 2*classes*codes)
		return w.memory[:2*classes*codes]
	}
	if o.cells == nil {
		if len(w.cells) < width*codes {
			w.cells = make([]int64, width*codes)
		}
		w.counted = width
		w.pairs = w.cells[:width*codes]
		w.present = counter.CountSeen(w.pairs, &s.objects, w.seen[:(codes+63)/64], w.present)
		if packed {
			w.pairs = pairs()
			induce.UnpackCodes(w.pairs, w.cells, classes, w.present)
		}
		return
	}
	cells := s.layout.Column(o.cells, f, 0)
	if s.fresh {
		clear(cells)
		counter.Count(cells, &s.objects)
	}
	if packed {
		w.pairs = pairs()
		w.present = induce.Unpack(w.pairs, cells, classes, w.present)
		return
	}
	w.pairs = cells
	w.present = w.present[:0]
	for code := range codes {
		for _, cell := range cells[code*width : (code+1)*width] {
			if cell != 0 {
				w.present = append(w.present, int32(code))
				break
			}
		}
	}
}

// tallyUp adds up the strides of the node's objects by the codes of a feature.
func (w *workspace) tallyUp(o *openNode, s *search, f, codes int, strides []int32) {
	t := &w.tally
	if w.tallied != o {
		w.tallied = o
		t.Numbers = fit(t.Numbers, o.objects())
		t.Total = 0
		for i, class := range s.objects.Class {
			t.Numbers[i] = strides[class]
			t.Total += strides[class]
		}
	}
	t.Add(&o.table.counters[f], &s.objects, codes)
}

// unload zeroes the cells that load has counted.
func (w *workspace) unload() {
	if w.loaded < 0 {
		return
	}
	if width := w.counted; width > 0 {
		for _, code := range w.present {
			clear(w.cells[int(code)*width : (int(code)+1)*width])
		}
	}
	w.loaded = -1
	w.counted = 0
}
