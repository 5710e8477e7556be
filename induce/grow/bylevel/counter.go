package bylevel

import (
	"sync"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// PassCounter counts objects into the histograms of one pass. Several goroutines may add
// objects at the same time. To add up the counts of several counters, merge their encoded pieces.
type PassCounter struct {
	*Grower

	pass   *Pass
	router *Router
	starts []int   // by node: where its part of sums begins
	sums   []int64 // by node: complement of the class weights, rows, cells

	heavyStarts []int         // by node: where its part of heavy begins
	heavy       []split.Heavy // by node, theta and code
	turn        atomic.Uint32 // number of visits of nodes
	features    []sync.Mutex  // by feature of the pass: lock of its cells
	rest        sync.Mutex    // lock of the complements, rows and heavy objects
	memory      sync.Pool     // of *induce.Selection
}

// Counter returns an empty counter of a pass.
func (g *Grower) Counter(p *Pass) *PassCounter {
	c := &PassCounter{
		Grower: g, pass: p, router: NewRouter(p.Routes, g.Columns), starts: g.starts(p), heavyStarts: g.heavyStarts(p),
		features: make([]sync.Mutex, p.To-p.From),
	}
	c.sums = make([]int64, c.starts[len(p.Nodes)])
	c.heavy = make([]split.Heavy, c.heavyStarts[len(p.Nodes)])
	return c
}

// cells returns the histogram of node number at for the features of the pass.
func (c *PassCounter) cells(at int) []int64 { return c.sums[c.starts[at]+c.Classes+1 : c.starts[at+1]] }

// Add counts objects.
func (c *PassCounter) Add(o *dataset.Objects) {
	complement := make([]int64, c.Classes+1)
	c.router.Route(o, func(at int, ids []int32) {
		clear(complement)
		if c.pass.Nodes[at].inferred() { // only its heavy objects are counted
			c.addRest(o, at, ids, complement)
			return
		}
		for _, id := range ids {
			c.addComplement(o, int(id), complement)
		}
		c.addRest(o, at, ids, complement)
		if c.pass.Nodes[at].Cells {
			c.addCells(o, at, ids)
		}
	})
}

// addComplement adds an object to a complement of class weights and rows, see grow.Rules.Describe.
func (c *PassCounter) addComplement(o *dataset.Objects, id int, complement []int64) {
	complement[c.Classes] += o.RowsOf(id)
	if c.rules.OfRows && !o.Soft() {
		complement[o.Class[id]] += o.Weight[id]
		return
	}
	if o.Soft() && o.RowsOf(id) == 0 {
		return
	}
	for _, cw := range o.Labels(id) {
		complement[cw.Class] += cw.Weight
	}
}

// addRest adds the complement of class weights and rows of the objects that reach a node, and sums up the
// heavy objects among them by code. It leaves out an object that has the whole weight of the node,
// because no test splits this node.
func (c *PassCounter) addRest(o *dataset.Objects, at int, ids []int32, complement []int64) {
	c.rest.Lock()
	defer c.rest.Unlock()
	for i, x := range complement {
		c.sums[c.starts[at]+i] += x
	}
	node := &c.pass.Nodes[at]
	from := c.heavyStarts[at]
	for _, tree := range node.Heavies {
		criterion := c.rules.Criteria[tree]
		for _, id := range ids {
			if !criterion.IsHeavy(o.Weight[id]) || o.Weight[id] >= node.Weight {
				continue
			}
			h := split.NewHeavy(o.Weight[id], node.Weight)
			for f := c.pass.From; f < c.pass.To; f++ {
				c.heavy[from+c.codesAt[f]-c.codesAt[c.pass.From]+o.Codes[f].At(int(id))].Add(&h)
			}
		}
		from += c.codes(c.pass)
	}
}

// addCells adds the objects that reach a node to its histogram. Each visit begins with another
// feature, and leaves the features that other goroutines are counting for the end, so that
// goroutines rarely wait for each other.
func (c *PassCounter) addCells(o *dataset.Objects, at int, ids []int32) {
	s, ok := c.memory.Get().(*induce.Selection)
	if !ok {
		s = &induce.Selection{N: make([]int64, c.Classes)} // its length is the number of classes
	}
	defer c.memory.Put(s)
	s.Order = append(s.Order[:0], ids...)
	s.Class = s.Class[:0]
	s.Weight = s.Weight[:0]
	s.Shares = s.Shares[:0]
	for _, id := range ids {
		class := o.Class[id]
		weight := o.Weight[id]
		if c.rules.OfRows || o.Soft() {
			s.Shares, weight = induce.AppendShares(s.Shares, id, class, o.Raw(int(id)))
		}
		s.Class = append(s.Class, class)
		s.Weight = append(s.Weight, weight)
	}
	cells := c.cells(at)
	count := func(i int) {
		f := c.pass.From + i
		counter := induce.ColumnCounter{Codes: &o.Codes[f], Common: -1}
		counter.Count(c.layout.Column(cells, f, c.pass.From), s)
		c.features[i].Unlock()
	}
	var busy []int
	n := len(c.features)
	first := int(c.turn.Add(1)) * 7 % n
	for k := range n {
		i := (first + k) % n
		if !c.features[i].TryLock() {
			busy = append(busy, i)
			continue
		}
		count(i)
	}
	for _, i := range busy {
		c.features[i].Lock()
		count(i)
	}
}
