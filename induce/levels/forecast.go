package levels

import (
	"math"

	"github.com/espalier-ml/espalier/induce"
)

// Forecast is an estimate of the work of a training by levels.
type Forecast struct {
	Passes    int       // number of passes over all objects
	Histogram int64     // size of the counts of the largest pass, in bytes
	Pieces    float64   // size of the encoded pieces of all passes, in bytes
	Small     []float64 // number of objects of each small node
}

// Scale is the ratio of a whole training to its sample.
type Scale struct{ Objects, Weight float64 }

// Forecast estimates how a training grows its trees by levels, from roots: trees that were
// grown from a sample of its rows. g is the grower of the sample, and s the ratio of the
// training to the sample. The other parameters are the training's: budget is the greatest
// number of objects of a small node (-1: all nodes are small), memory and keep are the bytes
// of histograms that are counted and kept at a time. Passes are planned as Passes and Expand
// do it.
func (g *Grower) Forecast(roots []*induce.Node, s Scale, budget, memory, keep int64) *Forecast {
	if budget >= 0 {
		budget = int64(float64(budget) / s.Objects)
	}
	f := new(Forecast)
	growth := &Growth{Roots: roots}
	members := make([]Member, len(roots))
	for i, root := range roots {
		members[i] = Member{i, root}
	}
	growth.deal([]*Open{g.reopened(members, 0)}, budget)
	for len(growth.Large) > 0 {
		passes := g.Passes(growth, memory)
		f.Passes += len(passes)
		for i := range passes {
			f.Histogram = max(f.Histogram, g.PassBytes(&passes[i]))
			f.Pieces += g.pieceBytes(&passes[i], s)
		}
		growth.Next(g.reopen(growth, passes, keep), budget)
	}
	for _, o := range growth.Small {
		f.Small = append(f.Small, float64(o.Count)*s.Objects)
	}
	return f
}

// reopened returns a grown node as it was when it was open. The numbers of objects by class are
// not known. The result has one object of each class with weight, except that the last of these
// classes has all remaining objects, which is enough to tell leaves from other nodes.
func (g *Grower) reopened(members []Member, depth int) *Open {
	n := members[0].Node
	objects, last, left := make([]int64, len(n.Class)), 0, n.Objects
	for k, w := range n.Class {
		if w > 0 {
			objects[k], last = 1, k
			left--
		}
	}
	objects[last] += left
	o := &Open{Members: members, Depth: depth, Count: n.Objects, Objects: objects, Weight: n.Class}
	if g.raw {
		o.Weight = n.Raw
	}
	return o
}

// reopen returns the children of the large nodes. Like Expand it keeps the histograms of the
// first nodes, up to keep bytes.
func (g *Grower) reopen(growth *Growth, passes []Pass, keep int64) []*Open {
	kept := make(map[*Open]bool)
	for i := range passes {
		p := &passes[i]
		if p.To-p.From < len(g.Columns) {
			continue
		}
		for at, o := range p.open {
			if p.Nodes[at].Split && keep >= g.Bytes() {
				kept[o], keep = true, keep-g.Bytes()
			}
		}
	}
	var all []*Open
	for _, o := range growth.Large {
		for _, members := range byTest(o.Members) {
			children := make([]*Open, len(members[0].Node.Children))
			for i := range children {
				children[i] = g.reopened(below(members, i), o.Depth+1)
				children[i].path = o.path.Below(members[0].Node.Test.Test, i)
			}
			if kept[o] {
				kin := &family{children: children}
				for _, child := range children {
					child.family = kin
				}
			}
			all = append(all, children...)
		}
	}
	return all
}

// heavyBytes is about the length of an encoded split.Heavy.
const heavyBytes = 2 * maxVarint

// pieceBytes estimates the length of the encoded pieces of a pass.
func (g *Grower) pieceBytes(p *Pass, s Scale) float64 {
	bytes := 0.0
	for at, n := range p.Nodes {
		node := p.open[at].Members[0].Node
		bytes += float64(g.Classes + 1)
		bytes += float64(heavyBytes * float64(p.To-p.From) * float64(len(n.Heavies)))
		if !n.Cells {
			continue
		}
		for _, w := range p.open[at].Weight {
			if w == 0 {
				continue
			}
			share := float64(w) / float64(node.Weight)
			objects, weight := share*float64(node.Objects)*s.Objects, float64(w)*s.Weight
			for f := p.From; f < p.To; f++ {
				bytes += columnBytes(float64(g.Columns[f].Codes), objects, weight)
			}
		}
	}
	return bytes
}

// columnBytes estimates the length of the encoded counts of objects and weight by code,
// assuming that all codes are equally probable.
func columnBytes(codes, objects, weight float64) float64 {
	used := float64(codes * -math.Expm1(-objects/codes))
	gaps := min(used, codes-used) // runs of zeros, two bytes each
	return float64(used*(varintBytes(objects/used)+varintBytes(weight/used))) + float64(2*gaps)
}

// varintBytes returns the length of a varint of x.
func varintBytes(x float64) float64 {
	return math.Ceil((math.Log2(2*max(1, x)) + 1) / 7)
}
