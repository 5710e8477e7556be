package bylevel

import "slices"

// Pass is one pass over all objects. It counts the objects of some open nodes by the
// codes of the features in [From, To). A level whose histograms exceed the memory needs
// several passes.
type Pass struct {
	Nodes    []PassNode
	Routes   []Route // routes to the nodes
	From, To int

	open []*Open // by node; nil if the pass was read from JSON
}

// PassNode describes what the workers of a pass count for an open node. If the node's histogram is
// not inferred, they always count its rows and its other class weights, see grow.Rules.Describe.
type PassNode struct {
	Weight  int64 // weight of the node's objects
	Cells   bool  // whether its histogram is counted; false: it is not needed, or inferred from the family
	Split   bool  // whether the node may be split
	Heavies []int `json:",omitempty"` // trees, with distinct thetas, whose heavy objects are summed up
}

// unit is a list of open nodes that must be counted in the same passes.
type unit struct {
	nodes []PassNode
	open  []*Open
}

// addTo adds an open node to a unit. Its histogram is counted if cells is true.
func (g *Grower) addTo(u *unit, o *Open, cells bool) {
	n := PassNode{Weight: o.Members[0].Node.Weight, Cells: cells}
	paired := g.rules.Criteria[0].NewTotals(o.Objects, o.Weight).Paired()
	for _, m := range o.Members {
		if !g.rules.MayTest(&o.Open, m.Tree) {
			continue
		}
		n.Split = true
		if tree := g.heavies[m.Tree]; tree >= 0 && paired && !slices.Contains(n.Heavies, tree) {
			n.Heavies = append(n.Heavies, tree)
		}
	}
	u.nodes = append(u.nodes, n)
	u.open = append(u.open, o)
}

// Passes plans the counting of the large nodes of a growth. The counts of one pass take
// up to memory bytes, or more if the counts of a single feature of one node exceed it.
func (g *Grower) Passes(growth *Growth, memory int64) []Pass {
	var passes []Pass
	held := int64(0) // bytes of the last pass
	room := false    // the last pass may get further nodes
	for _, u := range g.units(growth, memory) {
		bytes := g.PassBytes(&Pass{Nodes: u.nodes, To: len(g.Columns)})
		if bytes > memory && u.nodes[0].Cells {
			passes = append(passes, g.byFeatures(&u, memory)...)
			room = false
			continue
		}
		if !room || held+bytes > memory {
			passes = append(passes, Pass{To: len(g.Columns)})
			held = 0
			room = true
		}
		p := &passes[len(passes)-1]
		p.Nodes = append(p.Nodes, u.nodes...)
		p.open = append(p.open, u.open...)
		held += bytes
	}
	for i := range passes {
		p := &passes[i]
		to := slices.Clone(p.open)
		for at := range p.Nodes {
			if p.Nodes[at].inferred() && len(p.Nodes[at].Heavies) == 0 {
				to[at] = nil
			}
		}
		p.Routes = growth.Routes(to)
	}
	return passes
}

// inferred reports whether the counts of a node are inferred from its family's counts.
func (n *PassNode) inferred() bool { return n.Split && !n.Cells }

// units returns the units of the large nodes. A node whose histogram is inferred is in one unit with
// its siblings. Any other node is a unit of its own.
func (g *Grower) units(growth *Growth, memory int64) []unit {
	var units []unit
	left := make(map[*Open]bool, len(growth.Large))
	for _, o := range growth.Large {
		left[o] = true
	}
	for _, o := range growth.Large {
		if !left[o] {
			continue
		}
		if u := g.familyUnit(o, left); u != nil && g.PassBytes(&Pass{Nodes: u.nodes, To: len(g.Columns)}) <= memory {
			for _, child := range u.open {
				delete(left, child)
			}
			units = append(units, *u)
			continue
		}
		var u unit
		g.addTo(&u, o, g.wants(o))
		units = append(units, u)
	}
	return units
}

// familyUnit returns the unit of a node's family, if the histogram of the largest child is to be
// inferred; otherwise nil. It is inferred if this child may be split, and if the family then needs
// no more counted histograms than without inference.
func (g *Grower) familyUnit(o *Open, large map[*Open]bool) *unit {
	if o.family == nil {
		return nil
	}
	children := o.family.children
	var largest, wanted int
	for i, child := range children {
		if child.Count > children[largest].Count {
			largest = i
		}
		if large[child] && g.wants(child) {
			wanted++
		}
	}
	if !large[children[largest]] || !g.wants(children[largest]) || len(children)-1 > wanted {
		return nil
	}
	u := new(unit)
	for i, child := range children {
		g.addTo(u, child, i != largest)
	}
	return u
}

// byFeatures divides the counting of one unit into several passes, each for some of the features.
func (g *Grower) byFeatures(u *unit, memory int64) []Pass {
	var passes []Pass
	for from := 0; from < len(g.Columns); {
		to := from + 1
		p := Pass{Nodes: u.nodes, From: from, To: to, open: u.open}
		for p.To < len(g.Columns) && g.PassBytes(&Pass{Nodes: u.nodes, From: from, To: p.To + 1}) <= memory {
			p.To++
		}
		passes = append(passes, p)
		to = p.To
		from = to
	}
	return passes
}

// cells returns the length of one node's histogram for the features of a pass.
func (g *Grower) cells(p *Pass) int { return g.layout.CellsBetween(p.From, p.To) }

// codes returns the number of codes of a pass's features.
func (g *Grower) codes(p *Pass) int { return g.codesAt[p.To] - g.codesAt[p.From] }

// starts returns, for each node, the position in the sums of a pass where the node's sums begin;
// after the last node, the number of all sums.
func (g *Grower) starts(p *Pass) []int {
	starts := make([]int, len(p.Nodes)+1)
	for i, n := range p.Nodes {
		starts[i+1] = starts[i] + g.Classes + 1
		if n.Cells {
			starts[i+1] += g.cells(p)
		}
	}
	return starts
}

// heavyStarts is starts for the sums of heavy objects by theta and code.
func (g *Grower) heavyStarts(p *Pass) []int {
	starts := make([]int, len(p.Nodes)+1)
	for i, n := range p.Nodes {
		starts[i+1] = starts[i]
		starts[i+1] += len(n.Heavies) * g.codes(p)
	}
	return starts
}

// PassBytes returns the memory of the counts of a pass, in bytes.
func (g *Grower) PassBytes(p *Pass) int64 {
	return 8*int64(g.starts(p)[len(p.Nodes)]) + 24*int64(g.heavyStarts(p)[len(p.Nodes)])
}

// Bytes returns the memory of the histogram of one node, in bytes.
func (g *Grower) Bytes() int64 { return 8 * int64(g.layout.Cells()) }
