package bylevel

import (
	"slices"
	"sync"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow"
	"github.com/espalier-ml/espalier/induce/parallel"
)

// Expand splits the large nodes of a growth or makes them leaves, and returns their
// children. read returns the counts of a pass; Expand returns its errors. Up to keep
// bytes of histograms are kept, to infer one child of each node from them later.
func (g *Grower) Expand(
	growth *Growth, passes []Pass, keep int64, workers int, read func(p *Pass) (*Counts, error),
) ([]*Open, error) {
	searches := make(map[*Open]*search, len(growth.Large))
	list := make([]*search, len(growth.Large))
	for i, o := range growth.Large {
		list[i] = &search{Grower: g, nodes: growth.Nodes, open: o}
		searches[o] = list[i]
	}
	var memory sync.Pool // of *grow.Scratch
	for i := range passes {
		p := &passes[i]
		c, err := read(p)
		if err != nil {
			return nil, err
		}
		g.infer(p, c)
		parallel.Each(len(p.Nodes), workers, func(at int) {
			if s := searches[p.open[at]]; s != nil { // not a small sibling
				w, ok := memory.Get().(*grow.Scratch)
				if !ok {
					w = new(grow.Scratch)
				}
				s.add(p, c, at, w)
				memory.Put(w)
			}
		})
		for _, o := range p.open {
			if s := searches[o]; s != nil && s.cells != nil && keep < g.Bytes() {
				s.cells = nil
			} else if s != nil && s.cells != nil {
				keep -= g.Bytes()
			}
		}
	}
	var children []*Open
	for _, s := range list {
		children = append(children, s.expand()...)
	}
	return children, nil
}

// Fill sets the rows and the class weights of closed nodes, see Close.
func (g *Grower) Fill(p *Pass, c *Counts) {
	for at, o := range p.open {
		complement, rows := c.complement(g, at)
		g.rules.Describe(&o.Open, o.Members, complement, rows)
	}
}

// complement returns the counted complement of the class weights of a node, see grow.Rules.Describe, and its counted
// rows.
func (c *Counts) complement(g *Grower, at int) ([]int64, int64) {
	complement := c.sums[c.starts[at]:][:g.Classes+1]
	return slices.Clone(complement[:g.Classes]), complement[g.Classes]
}

// sums are the inferred counts of a node.
type sums struct {
	cells, complement []int64
	rows              int64
}

// infer sets the counts of nodes that were not counted: the parent's counts minus the
// siblings' counts.
func (g *Grower) infer(p *Pass, c *Counts) {
	c.inferred = make(map[int]sums)
	for at := range p.Nodes {
		if !p.Nodes[at].inferred() {
			continue
		}
		o := p.open[at]
		rest := sums{slices.Clone(o.family.cells), slices.Clone(o.family.complement), o.family.rows}
		for _, sibling := range o.family.children {
			if sibling == o {
				continue
			}
			there := slices.Index(p.open, sibling)
			complement, rows := c.complement(g, there)
			induce.Subtract(rest.cells, c.counted(g, there))
			induce.Subtract(rest.complement, complement)
			rest.rows -= rows
		}
		c.inferred[at] = rest
	}
}

// counted returns a node's counted histogram, which is empty if it was not counted.
func (c *Counts) counted(g *Grower, at int) []int64 {
	return c.sums[c.starts[at]+g.Classes+1 : c.starts[at+1]]
}
