package bylevel

import (
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow/nodesearch"
	"github.com/espalier-ml/espalier/induce/split"
)

// search searches for the best tests of one open node, pass after pass.
type search struct {
	*Grower

	nodesearch.Search

	open       *Open
	complement []int64 // class weights, see Grower.describe
	rows       int64
	cells      []int64                // histogram of all features; nil: not kept
	nodes      []*induce.Node         // nodes of the trees that need a test
	measured   map[measuring]measured // tests that may be chosen
}

// measuring is a test of one tree.
type measuring struct {
	tree int // position among the trees of the search
	test split.Test
}

// measured has all that a split by a test needs.
type measured struct {
	parts    split.Parts
	outcomes []int32
	cells    [][]int64 // sums of the objects by outcome
}

// add adds the counts of a pass, in which the node has position at.
func (s *search) add(p *Pass, c *Counts, at int, w *nodesearch.Scratch) {
	cells := c.counted(s.Grower, at)
	inferred, infers := c.inferred[at]
	if infers {
		cells = inferred.cells
	}
	heavies := c.heavy[c.heavyStarts[at]:c.heavyStarts[at+1]]
	if p.From == 0 {
		if s.complement, s.rows = inferred.complement, inferred.rows; !infers {
			s.complement, s.rows = c.complement(s.Grower, at)
		}
		s.begin(p, at, heavies)
	}
	if len(s.Trees) == 0 || len(cells) == 0 {
		return
	}
	load := s.loader(p, at, cells, heavies)
	s.Begin(w)
	for f := p.From; f < p.To; f++ {
		s.Scan(f, w, load)
	}
	s.Collect(p.From, p.To, w, load)
	s.measure(p, w, load)
	if p.To-p.From == len(s.Columns) {
		s.cells = cells
	}
}

// begin begins the search for the trees that may split the node. heavies are the sums of the node's
// heavy objects in the first pass.
func (s *search) begin(p *Pass, at int, heavies []split.Heavy) {
	s.Reset(&s.rules, s.open.Place(), s.rules.Features)
	s.measured = make(map[measuring]measured)
	if s.labelled(s.open, s.complement) {
		return
	}
	var all [split.Impurities]*split.Totals
	for _, m := range s.open.Members {
		totals := s.rules.Totals(m.Tree, s.open.Objects, s.open.Weight, &all)
		if least := s.rules.Params[m.Tree].MinRows; s.rules.IsLeaf(m.Tree, s.open.Depth, totals) || least > 0 && s.rows < least {
			continue
		}
		s.Add(m.Tree, totals)
		s.nodes = append(s.nodes, m.Node)
		of := s.heaviesOf(p, at, m.Tree, heavies)
		for i := range min(len(of), s.Columns[p.From].Codes) { // each object has one code of any feature
			s.Trees[len(s.Trees)-1].Heavy.Add(&of[i])
		}
	}
	s.Group()
}

// heaviesOf returns the sums of a tree's heavy objects by code, which are a part of heavies, the sums
// for all thetas. It is nil if they were not counted.
func (s *search) heaviesOf(p *Pass, at, tree int, heavies []split.Heavy) []split.Heavy {
	i := slices.Index(p.Nodes[at].Heavies, s.heavies[tree])
	if i < 0 {
		return nil
	}
	return heavies[i*s.codes(p) : (i+1)*s.codes(p)]
}

// loader returns a function that loads the histograms of a pass.
func (s *search) loader(p *Pass, at int, cells []int64, heavies []split.Heavy) nodesearch.Load {
	return func(f, tree int, _ []int32) (split.Histogram, []int32) {
		h := split.Histogram{Cells: s.layout.Column(cells, f, p.From)}
		if t := &s.Trees[tree]; t.Heavy.Weight > 0 {
			from := s.codesAt[p.From]
			h.Heavy = s.heaviesOf(p, at, t.Number, heavies)[s.codesAt[f]-from : s.codesAt[f+1]-from]
		}
		return h, nil
	}
}

// measure measures the tests of a pass that may be chosen, as its histograms are not kept.
func (s *search) measure(p *Pass, w *nodesearch.Scratch, load nodesearch.Load) {
	for i := range s.Trees {
		for _, t := range s.Trees[i].Found() {
			if t.Feature >= p.From {
				var m measured
				m.parts, m.cells, m.outcomes = s.Parts(i, &t, w, load)
				s.measured[measuring{i, t.Test}] = m
			}
		}
	}
}

// expand sets the tests and the sums of the node, and returns its children by each test that
// some tree has chosen. A leaf has no children.
func (s *search) expand() []*Open {
	for _, m := range s.open.Members {
		s.describe(m.Node, s.open, s.complement, s.rows)
	}
	s.Choose()
	cells := make(map[*induce.Node][][]int64, len(s.Trees))
	for i := range s.Trees {
		best, second := s.Trees[i].Best, s.Trees[i].RunnerUp
		if best.Kind == 0 {
			continue
		}
		n, m := s.nodes[i], s.measured[measuring{i, best.Test}]
		n.Test = &best
		n.Parts = m.parts
		n.Outcomes = m.outcomes
		cells[n] = m.cells
		if second.Kind != 0 {
			second.Score = s.measured[measuring{i, second.Test}].parts.Total
			n.RunnerUp = &second
		}
	}
	var all []*Open
	for _, members := range byTest(s.open.Members) {
		children := s.open.children(members, cells[members[0].Node])
		if s.cells != nil {
			kin := &family{s.cells, s.complement, s.rows, children}
			for _, child := range children {
				child.family = kin
			}
		}
		all = append(all, children...)
	}
	return all
}
