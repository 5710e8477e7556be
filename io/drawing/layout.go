package drawing

import "github.com/espalier-ml/espalier/io/svg"

// Box is the place of a node, in pixels: its upper left corner and its size.
type Box struct{ X, Y, Width, Height float64 }

// moved returns the box with another place of the drawing's corner.
func (b Box) moved(by svg.Point) Box {
	b.X += by.X
	b.Y += by.Y
	return b
}

// Middle returns the height of the box's middle.
func (b Box) Middle() float64 { return b.Y + float64(b.Height/2) }

// Placed is a tree with a place for each node.
type Placed struct {
	Boxes         []Box // by node; in an icicle, boxes of shares near 0 have no height
	Width, Height float64
	Icicle        bool // shares are heights, and boxes touch
}

// The greatest numbers of nodes and levels of a drawing with boxes, which then has some 20,000
// pixels each way, and the greatest number of nodes of a drawing whose parents are in the middle of
// their children.
const (
	maxBoxes   = 2000
	maxLevels  = 60
	maxCentred = 150
)

// Sizes, in pixels.
const (
	padding    = 6  // between a box and its text
	siblingGap = 4  // between boxes of one parent
	cousinGap  = 10 // between boxes of different parents
	levelGap   = 36 // between levels
	boxHeight  = 34
)

// Layout places the nodes. The root is at the left, levels are columns, and children keep their
// order from top to bottom. A parent is in the middle of its children or, in a tree of more than
// 150 nodes, next to the first child, so that readers find the root in the upper left corner. Boxes
// never overlap. A subtree moves up next to shorter neighbours until it touches them, as in the
// layout of Reingold and Tilford. A tree of more than 2000 nodes or 60 levels becomes an icicle:
// columns of boxes as high as their shares, in a picture of fixed height.
func Layout(t *Tree) *Placed {
	depth, levels := t.levels()
	if len(t.Nodes) > maxBoxes || levels > maxLevels {
		return icicle(t)
	}
	p := &Placed{Boxes: make([]Box, len(t.Nodes))}
	const height = float64(boxHeight)
	widths := make([]float64, levels)
	for i := range t.Nodes {
		p.Boxes[i].Height = height
		widths[depth[i]] = max(widths[depth[i]], t.Nodes[i].width())
	}
	left := make([]float64, levels)
	for k := 1; k < levels; k++ {
		left[k] = left[k-1] + widths[k-1] + levelGap
	}
	p.Width = left[levels-1] + widths[levels-1]
	for i, middle := range middles(t, height) {
		b := &p.Boxes[i]
		b.X, b.Y, b.Width = left[depth[i]], middle-height/2, t.Nodes[i].width()
		p.Height = max(p.Height, b.Y+height)
	}
	return p
}

// outline describes how far a subtree extends above and below the middle of its root, by level, the
// deepest level first, so that a parent can append its own.
type outline struct{ top, bottom []float64 }

// below moves an outline down.
func (o *outline) below(by float64) {
	for k := range o.top {
		o.top[k] += by
		o.bottom[k] += by
	}
}

// clearance returns how far a subtree must move down to be below another subtree.
func (o *outline) clearance(next *outline) float64 {
	by := 0.0
	a := len(o.top)
	b := len(next.top)
	for k := 1; k <= min(a, b); k++ {
		gap := float64(cousinGap)
		if k == 1 {
			gap = siblingGap
		}
		by = max(by, o.bottom[a-k]+gap-next.top[b-k])
	}
	return by
}

// join adds a subtree below.
func (o *outline) join(next *outline) {
	if len(next.top) > len(o.top) { // the longer outline keeps its deeper levels
		*o, *next = *next, *o
		for k := 1; k <= len(next.top); k++ {
			o.top[len(o.top)-k] = next.top[len(next.top)-k]
		}
		return
	}
	for k := 1; k <= len(next.top); k++ {
		o.bottom[len(o.bottom)-k] = next.bottom[len(next.bottom)-k]
	}
}

// middles returns the height of the middle of each node's box. The highest box begins at 0.
func middles(t *Tree, height float64) []float64 {
	offsets := make([]float64, len(t.Nodes))
	outlines := make([]outline, len(t.Nodes))
	half := float64(height / 2)
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children before their parents
		children := t.Nodes[i].Children
		var all outline
		for k, child := range children {
			one := &outlines[child]
			if k == 0 {
				all = *one
				continue
			}
			offsets[child] = all.clearance(one)
			one.below(offsets[child])
			all.join(one)
		}
		if len(children) > 0 && len(t.Nodes) <= maxCentred {
			middle := float64(offsets[children[len(children)-1]] / 2)
			for _, child := range children {
				offsets[child] -= middle
			}
			all.below(-middle)
		}
		outlines[i] = outline{append(all.top, -half), append(all.bottom, half)}
	}
	highest := 0.0
	for i := range t.Nodes {
		for _, child := range t.Nodes[i].Children {
			offsets[child] += offsets[i]
			highest = min(highest, offsets[child])
		}
	}
	for i := range offsets {
		offsets[i] += half - highest
	}
	return offsets
}

// Sizes of an icicle, in pixels.
const (
	icicleHeight = 1400
	wideColumn   = 150 // a level with text
	thinColumn   = 16  // a level without text
	minText      = 13  // least height of a box with text
)

// icicle gives each node a box to the right of its parent's box, as high as its share. Levels are
// thin if their boxes are too low for text.
func icicle(t *Tree) *Placed {
	p := &Placed{Boxes: make([]Box, len(t.Nodes)), Height: icicleHeight, Icicle: true}
	scale := 0.0
	if t.Nodes[0].Share > 0 {
		scale = icicleHeight / t.Nodes[0].Share
	}
	depth, levels := t.levels()
	columns := make([]float64, levels)
	left := make([]float64, levels)
	for i := range t.Nodes {
		b := &p.Boxes[i]
		b.Height = float64(scale * t.Nodes[i].Share)
		columns[depth[i]] = max(columns[depth[i]], thinColumn)
		if b.Height >= minText {
			columns[depth[i]] = wideColumn
		}
		y := b.Y // set by the parent
		for _, child := range t.Nodes[i].Children {
			p.Boxes[child].Y = y
			y += float64(scale * t.Nodes[child].Share)
		}
	}
	for k := 1; k < levels; k++ {
		left[k] = left[k-1] + columns[k-1]
	}
	for i := range p.Boxes {
		p.Boxes[i].X = left[depth[i]]
		p.Boxes[i].Width = columns[depth[i]]
	}
	p.Width = left[levels-1] + columns[levels-1]
	return p
}
