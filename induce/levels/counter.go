package levels

import (
	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
)

// PassCounter counts objects into the histograms of one pass. The counts of several
// counters are added up by their encoded pieces.
type PassCounter struct {
	*Grower

	pass   *Pass
	router *Router
	at     []int32         // by node of the tree: its position in the pass, -1: it is not counted
	starts []int           // of each node in sums
	sums   []int64         // of each node: raw class weights, rows, cells
	heavy  [][]split.Heavy // of each node, by code of the pass's features; nil: no heavy object
}

// Counter returns an empty counter of a pass over the tree below root.
func (g *Grower) Counter(root *induce.Node, p *Pass) *PassCounter {
	c := &PassCounter{
		Grower: g, pass: p, router: NewRouter(root, g.Columns), heavy: make([][]split.Heavy, len(p.Nodes)),
	}
	c.starts = g.starts(p)
	c.sums = make([]int64, c.starts[len(p.Nodes)])
	c.at = make([]int32, c.router.Len())
	for i := range c.at {
		c.at[i] = -1
	}
	for i, n := range p.Nodes {
		c.at[n.Number] = int32(i)
	}
	return c
}

// raw returns the raw class weights of a node, and its rows after them.
func (c *PassCounter) raw(at int) []int64 { return c.sums[c.starts[at]:][:c.Classes+1] }

// cells returns the histogram of a node, of the features of the pass.
func (c *PassCounter) cells(at int) []int64 { return c.sums[c.starts[at]+c.Classes+1 : c.starts[at+1]] }

// Add counts objects. The workers share the features.
func (c *PassCounter) Add(o *dataset.Objects, workers int) {
	reached := make([]induce.Selection, len(c.pass.Nodes))
	unused := make([]int64, c.Classes) // its length is the number of classes; only a common code needs its sums
	for i := range o.Len() {
		leaf := c.router.Leaf(o, i)
		if leaf < 0 || c.at[leaf] < 0 {
			continue
		}
		at := c.at[leaf]
		raw := c.raw(int(at))
		for _, cw := range o.Raw(i) {
			raw[cw.Class] += cw.Weight
		}
		raw[len(raw)-1] += o.RowsOf(i)
		if n := &c.pass.Nodes[at]; n.Cells || n.Split && c.heavies {
			r := &reached[at]
			r.Order, r.Class = append(r.Order, int32(i)), append(r.Class, o.Class[i])
			r.Weight, r.N = append(r.Weight, o.Weight[i]), unused
		}
	}
	c.addHeavy(o, reached)
	from, to := c.pass.From, c.pass.To
	parallel.Each(to-from, workers, func(i int) {
		f := from + i
		counter := induce.ColumnCounter{Codes: &o.Codes[f], Common: -1}
		for i := range c.pass.Nodes {
			if c.pass.Nodes[i].Cells && len(reached[i].Order) > 0 {
				counter.Count(c.layout.Column(c.cells(i), f, from), &reached[i])
			}
		}
	})
}

// addHeavy sums up the heavy objects that have reached each node by code. An object
// that has the whole weight of its node is left out: no test splits the node.
func (c *PassCounter) addHeavy(o *dataset.Objects, reached []induce.Selection) {
	if !c.heavies {
		return
	}
	from, to := c.pass.From, c.pass.To
	for at := range reached {
		node := &c.pass.Nodes[at]
		if !node.Split {
			continue
		}
		for _, id := range reached[at].Order {
			if !c.criterion.IsHeavy(o.Weight[id]) || o.Weight[id] >= node.Weight {
				continue
			}
			if c.heavy[at] == nil {
				c.heavy[at] = make([]split.Heavy, c.codesAt[to]-c.codesAt[from])
			}
			h := split.NewHeavy(o.Weight[id], node.Weight)
			for f := from; f < to; f++ {
				c.heavy[at][c.codesAt[f]-c.codesAt[from]+o.Codes[f].At(int(id))].Add(&h)
			}
		}
	}
}
