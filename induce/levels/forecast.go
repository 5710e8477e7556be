package levels

import (
	"math"

	"github.com/espalier-ml/espalier/induce"
)

// Forecast is what growing a tree by levels takes.
type Forecast struct {
	Passes    int       // over all objects, of levels
	Histogram int64     // bytes of the counts of the largest pass
	Pieces    float64   // bytes of the encoded pieces of all passes, about
	Small     []float64 // objects of each small node
}

// Scale says how much larger a training is than the one that a tree was grown
// for.
type Scale struct{ Objects, Weight float64 }

// Forecast foresees how a training grows a tree by levels, from the tree that
// was grown for a sample of its rows, of which l is the setting: a node with its
// share of more objects than the budget is a large one; -1: none is. Passes and
// histograms that are kept are planned as those of the training itself.
func (l *Grower) Forecast(root *induce.Node, s Scale, budget, memory, keep int64) *Forecast {
	if budget >= 0 {
		budget = int64(float64(budget) / s.Objects)
	}
	f := new(Forecast)
	g := &Growth{Root: root}
	g.deal([]*Open{reopened(root, 0)}, budget)
	for len(g.Large) > 0 {
		passes := l.Passes(g, memory)
		f.Passes += len(passes)
		for i := range passes {
			f.Histogram = max(f.Histogram, l.PassBytes(&passes[i]))
			f.Pieces += l.pieceBytes(&passes[i], s)
		}
		for _, o := range g.Small {
			f.Small = append(f.Small, float64(o.Node.Objects)*s.Objects)
		}
		g.Small = nil
		g.Next(l.reopen(g, passes, keep), budget)
	}
	for _, o := range g.Small {
		f.Small = append(f.Small, float64(o.Node.Objects)*s.Objects)
	}
	return f
}

// reopened returns the open node that a grown one was. Of its objects only
// those classes are known that have any.
func reopened(n *induce.Node, depth int) *Open {
	objects := make([]int64, len(n.Class))
	for k, w := range n.Class {
		if w > 0 {
			objects[k] = 1
		}
	}
	return &Open{Node: n, Depth: depth, Objects: objects, Weight: n.Class}
}

// reopen returns the children of the large nodes. Like Expand it keeps the
// histograms of the first nodes for which there is memory.
func (l *Grower) reopen(g *Growth, passes []Pass, keep int64) []*Open {
	kept := make(map[*Open]bool)
	for i := range passes {
		p := &passes[i]
		if p.To-p.From < len(l.Columns) {
			continue
		}
		for at, o := range p.open {
			if p.Nodes[at].Split && keep >= l.Bytes() {
				kept[o], keep = true, keep-l.Bytes()
			}
		}
	}
	var all []*Open
	for _, o := range g.Large {
		children := make([]*Open, len(o.Node.Children))
		for i, n := range o.Node.Children {
			children[i] = reopened(n, o.Depth+1)
		}
		if kept[o] {
			kin := &family{children: children}
			for _, child := range children {
				child.family = kin
			}
		}
		all = append(all, children...)
	}
	return all
}

// heavyBytes are those of an encoded split.Heavy.
const heavyBytes = 2 * maxVarint

// pieceBytes returns about how long the encoded pieces of a pass are.
func (l *Grower) pieceBytes(p *Pass, s Scale) float64 {
	bytes := 0.0
	for at, n := range p.Nodes {
		node := p.open[at].Node
		bytes += float64(l.Classes + 1)
		if n.Split && l.heavies {
			bytes += float64(heavyBytes * float64(p.To-p.From))
		}
		if !n.Cells {
			continue
		}
		for _, w := range node.Class {
			if w == 0 {
				continue
			}
			share := float64(w) / float64(node.Weight)
			objects, weight := share*float64(node.Objects)*s.Objects, float64(w)*s.Weight
			for f := p.From; f < p.To; f++ {
				bytes += columnBytes(float64(l.Columns[f].Codes), objects, weight)
			}
		}
	}
	return bytes
}

// columnBytes returns about how long the encoded counts of objects and weight by
// code are, for objects that are dealt to the codes evenly.
func columnBytes(codes, objects, weight float64) float64 {
	used := float64(codes * -math.Expm1(-objects/codes))
	gaps := min(used, codes-used) // runs of zeros, two bytes each
	return float64(used*(varintBytes(objects/used)+varintBytes(weight/used))) + float64(2*gaps)
}

// varintBytes returns the length of a varint of about x.
func varintBytes(x float64) float64 {
	return math.Ceil((math.Log2(2*max(1, x)) + 1) / 7)
}
