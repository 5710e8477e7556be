package levels

import (
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
)

// Expand splits the large nodes of a growth or makes leaves of them, and returns their
// children. read returns the counts of a pass; its errors are returned. Up to memory
// bytes of histograms are kept, from which one child of a node is inferred later.
func (g *Grower) Expand(
	growth *Growth, passes []Pass, memory int64, workers int, read func(p *Pass) (*Counts, error),
) ([]*Open, error) {
	searches := make(map[*Open]*search, len(growth.Large))
	list := make([]*search, len(growth.Large))
	for i, o := range growth.Large {
		list[i] = &search{Grower: g, open: o, best: math.Inf(-1)}
		searches[o] = list[i]
	}
	for i := range passes {
		p := &passes[i]
		c, err := read(p)
		if err != nil {
			return nil, err
		}
		g.infer(p, c)
		parallel.Each(len(p.Nodes), workers, func(at int) {
			if s := searches[p.open[at]]; s != nil { // not a small sibling
				s.add(p, c, at)
			}
		})
		for _, o := range p.open {
			if s := searches[o]; s != nil && s.cells != nil && memory < g.Bytes() {
				s.cells = nil
			} else if s != nil && s.cells != nil {
				memory -= g.Bytes()
			}
		}
	}
	var children []*Open
	for _, s := range list {
		children = append(children, s.expand()...)
	}
	return children, nil
}

// Fill sets the rows and raw class weights of closed nodes, see Growth.Close.
func (g *Grower) Fill(p *Pass, c *Counts) {
	for at, o := range p.open {
		o.Node.Raw, o.Node.Rows = c.raw(g, at)
	}
}

// raw returns the raw class weights of a node and its rows.
func (c *Counts) raw(g *Grower, at int) ([]int64, int64) {
	raw := c.sums[c.starts[at]:][:g.Classes+1]
	return slices.Clone(raw[:g.Classes]), raw[g.Classes]
}

// infer makes the histograms of nodes that were not counted: the parent's histogram less
// the siblings' histograms.
func (g *Grower) infer(p *Pass, c *Counts) {
	c.cells = make(map[int][]int64)
	for at, n := range p.Nodes {
		o := p.open[at]
		if n.Cells || !n.Split {
			continue
		}
		rest := slices.Clone(o.family.cells)
		for _, sibling := range o.family.children {
			if sibling != o {
				induce.Subtract(rest, c.counted(g, slices.Index(p.open, sibling)))
			}
		}
		c.cells[at] = rest
	}
}

// counted returns a node's histogram, empty if it was not counted.
func (c *Counts) counted(g *Grower, at int) []int64 {
	return c.sums[c.starts[at]+g.Classes+1 : c.starts[at+1]]
}

// search seeks the best test of one open node, pass after pass.
type search struct {
	*Grower

	open  *Open
	raw   []int64
	rows  int64
	cells []int64 // of all features; nil: not kept
	best  float64 // score
	found []found // tests whose scores tie with the best so far

	restricted bool // the feature that the node has to test has been scanned, and has tests
}

// found is a test, with all that a split by it needs.
type found struct {
	split.Candidate

	parts    split.Parts
	outcomes []int32
	cells    [][]int64 // sums of the objects by outcome
}

// add adds the counts of a pass, where the node has the given position.
func (s *search) add(p *Pass, c *Counts, at int) {
	if p.From == 0 {
		s.raw, s.rows = c.raw(s.Grower, at)
	}
	cells := c.counted(s.Grower, at)
	if inferred, ok := c.cells[at]; ok {
		cells = inferred
	}
	if !p.Nodes[at].Split || len(cells) == 0 || s.Params.MinRows > 0 && s.rows < s.Params.MinRows {
		return
	}
	s.scan(p, cells, c.heavy[c.heavyStarts[at]:c.heavyStarts[at+1]])
	if p.To-p.From == len(s.Columns) {
		s.cells = cells
	}
}

// scan scores the tests of the features of a pass.
func (s *search) scan(p *Pass, cells []int64, heavies []split.Heavy) {
	if s.restricted {
		return
	}
	var heavy split.Heavy
	for i := range min(len(heavies), s.Columns[p.From].Codes) { // each object has one code of any feature
		heavy.Add(&heavies[i])
	}
	if heavy.Weight == 0 {
		heavies = nil
	}
	scanner := split.NewScanner(s.criterion)
	totals := s.criterion.NewTotals(s.open.Objects, s.open.Weight)
	scanner.Node(s.constraints.Bound(totals, s.open.path, s.Columns), heavy)
	var column split.Column
	load := func(f int) {
		h := split.Histogram{Cells: s.layout.Column(cells, f, p.From)}
		if heavies != nil {
			h.Heavy = heavies[s.codesAt[f]-s.codesAt[p.From] : s.codesAt[f+1]-s.codesAt[p.From]]
		}
		scanner.Load(f, s.open.path.Column(f, s.Columns, &column), h, nil)
	}
	scores := make([]float64, p.To-p.From)
	for i := range scores {
		load(p.From + i)
		scores[i] = scanner.Scan()
	}
	if s.constraints.Restrict(s.open.Depth, p.From, scores) {
		s.restricted, s.best, s.found = true, math.Inf(-1), nil
	}
	s.best = max(s.best, slices.Max(scores))
	if math.IsInf(s.best, -1) {
		return
	}
	floor := split.Floor(s.best)
	s.found = slices.DeleteFunc(s.found, func(f found) bool { return f.Score < floor })
	for _, t := range slices.Clone(scanner.Tied(p.From, scores, floor, load)) {
		f := found{Candidate: t}
		load(t.Feature)
		f.parts, f.cells, f.outcomes = scanner.Parts(&t)
		s.found = append(s.found, f)
	}
}

// expand sets the test and the sums of the node, and returns its children: none of a
// leaf.
func (s *search) expand() []*Open {
	o, n := s.open, s.open.Node
	n.Raw, n.Rows = s.raw, s.rows
	if len(s.found) == 0 {
		return nil
	}
	best := 0
	for i := range s.found {
		if s.found[i].Cost < s.found[best].Cost {
			best = i
		}
	}
	f := &s.found[best]
	n.Test, n.Parts, n.Outcomes = &f.Candidate, f.parts, f.outcomes
	children := o.children(f.cells)
	if s.cells != nil {
		kin := &family{s.cells, children}
		for _, child := range children {
			child.family = kin
		}
	}
	return children
}

// children makes the child nodes from the sums of each outcome.
func (o *Open) children(outcomes [][]int64) []*Open {
	children, weights := make([]*Open, len(outcomes)), make([][]int64, len(outcomes))
	for i, cells := range outcomes {
		objects, weight := make([]int64, len(o.Objects)), make([]int64, len(o.Objects))
		for k := range objects {
			objects[k], weight[k] = cells[2*k], cells[2*k+1]
		}
		child := NewOpen(objects, weight, o.Depth+1)
		children[i], weights[i] = child, weight
		o.Node.Children = append(o.Node.Children, child.Node)
	}
	for i, child := range children {
		child.path = o.path.Below(o.Node.Test.Test, weights, i)
	}
	return children
}
