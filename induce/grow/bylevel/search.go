package bylevel

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/split"
)

// search searches for the best tests of one open node, pass after pass.
type search struct {
	*Grower

	grow.Search

	nodes      *grow.Nodes
	open       *Open
	complement []int64 // class weights, see grow.Rules.Describe
	rows       int64
	cells      []int64                     // histogram of all features; nil: not kept
	measured   map[measuring]grow.Measured // tests that may be chosen
}

// measuring is a test of one tree.
type measuring struct {
	tree int // position among the trees of the search
	test split.Test
}

// add adds the counts of a pass, in which the node has position at.
func (s *search) add(p *Pass, c *Counts, at int, w *grow.Scratch) {
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
	s.Begin(w, s.loader(p, at, cells, heavies))
	for f := p.From; f < p.To; f++ {
		s.Scan(f, w)
	}
	s.Collect(p.From, p.To, w)
	s.measure(p, w)
	if p.To-p.From == len(s.Columns) {
		s.cells = cells
	}
}

// begin begins the search for the trees that may split the node. heavies are the sums of the node's
// heavy objects in the first pass.
func (s *search) begin(p *Pass, at int, heavies []split.Heavy) {
	s.measured = make(map[measuring]grow.Measured)
	s.Open(&s.rules, &s.open.Open, s.rules.Features, false, func() int64 { return s.rows }, s.labelled)
	for i := range s.Trees {
		t := &s.Trees[i]
		of := s.heaviesOf(p, at, t.Tree, heavies)
		for i := range min(len(of), s.Columns[p.From].Codes) { // each object has one code of any feature
			t.Heavy.Add(&of[i])
		}
	}
	s.Group()
}

// labelled reports whether all rows of the node have labels of one class, if the objects are soft.
func (s *search) labelled() bool {
	classes := 0
	for _, weight := range s.complement {
		if weight > 0 {
			classes++
		}
	}
	return classes <= 1
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
func (s *search) loader(p *Pass, at int, cells []int64, heavies []split.Heavy) grow.Load {
	return func(f, tree int, _ []int32) (split.Histogram, []int32) {
		h := split.Histogram{Cells: s.layout.Column(cells, f, p.From)}
		if t := &s.Trees[tree]; t.Heavy.Weight > 0 {
			from := s.codesAt[p.From]
			h.Heavy = s.heaviesOf(p, at, t.Tree, heavies)[s.codesAt[f]-from : s.codesAt[f+1]-from]
		}
		return h, nil
	}
}

// measure measures the tests of a pass that may be chosen, as its histograms are not kept.
func (s *search) measure(p *Pass, w *grow.Scratch) {
	for i := range s.Trees {
		for _, t := range s.Trees[i].Found() {
			if t.Feature >= p.From {
				s.measured[measuring{i, t.Test}] = s.Measure(i, &t, w)
			}
		}
	}
}

// expand sets the test of the node, or the sums of a leaf, and returns its children by each test that
// some tree has chosen. A leaf has no children.
func (s *search) expand() []*Open {
	choices := s.Choices(func(tree int, test *split.Candidate) grow.Measured {
		return s.measured[measuring{tree, test.Test}]
	})
	s.rules.Describe(&s.open.Open, s.Leaves, s.complement, s.rows)
	var all []*Open
	for i := range choices {
		first := len(all)
		for _, child := range s.open.Children(s.nodes, &choices[i], s.Columns) {
			all = append(all, &Open{Open: child})
		}
		if s.cells == nil {
			continue
		}
		kin := &family{s.cells, s.complement, s.rows, all[first:]}
		for _, child := range kin.children {
			child.family = kin
		}
	}
	return all
}
