package levels

import "github.com/espalier-ml/espalier/induce"

// Pass is one counting over all objects: of some open nodes, over the features
// [From, To). A level that would need more memory than there is takes several.
type Pass struct {
	Nodes    []PassNode
	From, To int

	open []*Open // what each node is
}

// PassNode is an open node as the workers of a pass need to know it. Its rows
// and raw class weights are always counted.
type PassNode struct {
	Number int   // in the tree so far, see NewRouter
	Weight int64 // w_v
	Cells  bool  // its histogram is counted; else it has none, or is what its siblings leave of their parent's
	Split  bool  // it is to be split: its heavy objects are summed up too
}

// unit are open nodes that must be counted in the same pass.
type unit struct {
	nodes []PassNode
	open  []*Open
}

func (u *unit) add(o *Open, number int, cells, split bool) {
	u.nodes = append(u.nodes, PassNode{number, o.Node.Weight, cells, split})
	u.open = append(u.open, o)
}

// Passes plans the counting of the large nodes of a growth: histograms of one
// pass take up to so many bytes, or as many as one node's of one feature.
func (l *Grower) Passes(g *Growth, memory int64) []Pass {
	var passes []Pass
	held, room := int64(0), false // of the last pass
	for _, u := range l.units(g, memory) {
		bytes := l.PassBytes(&Pass{Nodes: u.nodes, To: len(l.Columns)})
		if bytes > memory && u.nodes[0].Cells {
			passes, room = append(passes, l.byFeatures(&u, memory)...), false
			continue
		}
		if !room || held+bytes > memory {
			passes, held, room = append(passes, Pass{To: len(l.Columns)}), 0, true
		}
		p := &passes[len(passes)-1]
		p.Nodes, p.open = append(p.Nodes, u.nodes...), append(p.open, u.open...)
		held += bytes
	}
	return passes
}

// units returns the large nodes: those that are inferred from their parent
// together with their siblings, the others each by itself.
func (l *Grower) units(g *Growth, memory int64) []unit {
	numbers := g.numbers()
	var units []unit
	left := make(map[*Open]bool, len(g.Large))
	for _, o := range g.Large {
		left[o] = true
	}
	for _, o := range g.Large {
		if !left[o] {
			continue
		}
		if u := l.familyUnit(o, left, numbers); u != nil && l.PassBytes(&Pass{Nodes: u.nodes, To: len(l.Columns)}) <= memory {
			for _, child := range u.open {
				delete(left, child)
			}
			units = append(units, *u)
			continue
		}
		var u unit
		wants := l.wantsSplit(o)
		u.add(o, numbers[o.Node], wants, wants)
		units = append(units, u)
	}
	return units
}

// familyUnit returns the unit of a node's family, if its largest member is worth
// being inferred: it is to be split, and no more histograms are counted than
// without.
func (l *Grower) familyUnit(o *Open, large map[*Open]bool, numbers map[*induce.Node]int) *unit {
	if o.family == nil {
		return nil
	}
	children := o.family.children
	largest, wanted := 0, 0
	for i, child := range children {
		if child.Node.Objects > children[largest].Node.Objects {
			largest = i
		}
		if large[child] && l.wantsSplit(child) {
			wanted++
		}
	}
	if !large[children[largest]] || !l.wantsSplit(children[largest]) || len(children)-1 > wanted {
		return nil
	}
	u := new(unit)
	for i, child := range children {
		u.add(child, numbers[child.Node], i != largest, l.wantsSplit(child))
	}
	return u
}

// byFeatures cuts the counting of one node into passes over some features each.
func (l *Grower) byFeatures(u *unit, memory int64) []Pass {
	var passes []Pass
	for from := 0; from < len(l.Columns); {
		to := from + 1
		p := Pass{Nodes: u.nodes, From: from, To: to, open: u.open}
		for p.To < len(l.Columns) && l.PassBytes(&Pass{Nodes: u.nodes, From: from, To: p.To + 1}) <= memory {
			p.To++
		}
		passes, to = append(passes, p), p.To
		from = to
	}
	return passes
}

// cells returns the length of one node's histogram of the features of a pass.
func (l *Grower) cells(p *Pass) int { return l.layout.CellsBetween(p.From, p.To) }

// codes returns the number of codes of a pass's features.
func (l *Grower) codes(p *Pass) int { return l.codesAt[p.To] - l.codesAt[p.From] }

// starts returns where the sums of each node of a pass begin, and after the last
// one where they end.
func (l *Grower) starts(p *Pass) []int {
	starts := make([]int, len(p.Nodes)+1)
	for i, n := range p.Nodes {
		starts[i+1] = starts[i] + l.Classes + 1
		if n.Cells {
			starts[i+1] += l.cells(p)
		}
	}
	return starts
}

// heavyStarts is starts for the sums of heavy objects.
func (l *Grower) heavyStarts(p *Pass) []int {
	starts := make([]int, len(p.Nodes)+1)
	for i, n := range p.Nodes {
		starts[i+1] = starts[i]
		if n.Split && l.heavies {
			starts[i+1] += l.codes(p)
		}
	}
	return starts
}

// PassBytes returns the memory of the counts of a pass.
func (l *Grower) PassBytes(p *Pass) int64 {
	return 8*int64(l.starts(p)[len(p.Nodes)]) + 24*int64(l.heavyStarts(p)[len(p.Nodes)])
}

// Bytes returns the memory of one node's histogram of all features.
func (l *Grower) Bytes() int64 { return 8 * int64(l.layout.Cells()) }
