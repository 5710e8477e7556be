package chart

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/espalier-ml/espalier/io/drawing"
)

// treeChart is a tree on paper.
type treeChart struct {
	tree          *drawing.Tree
	placed        *drawing.Placed
	legend        [][]int // groups by line
	width, height float64
	top           float64 // of the tree, below the head
}

// Sizes of trees, as those of the SVG of package drawing.
const (
	treeMargin  = 16
	treeLine    = 20
	boxPadding  = 6
	treeGap     = 36 // between levels, where branches begin to bend
	leastText   = 13 // height of a box of an icicle with text
	leastColumn = 100
)

// TreePNG writes a tree as a PNG file, on white, with the layout of its SVG. width is in pixels;
// 0: two for each unit of the SVG, as far as a file may have so many.
func TreePNG(w io.Writer, t *drawing.Tree, width int) error {
	c := newTreeChart(t)
	if width == 0 {
		most := math.Sqrt(maxArea / (c.height + 1) * c.width)
		width = max(MinPixels, int(min(2*c.width, MaxPixels, most)))
	}
	if err := checkPixels(width); err != nil {
		return err
	}
	return writePNG(w, width, c.width, c.height, func(canvas vg.CanvasSizer) { c.draw(&paper{draw.New(canvas), nil}) })
}

func newTreeChart(t *drawing.Tree) *treeChart {
	c := &treeChart{tree: withLetters(t), placed: drawing.Layout(t)}
	t = c.tree
	words, used, wide := style(textSize, ink()), vg.Length(0), widthOf(bold(style(headSize, ink())), t.Title)
	for _, note := range t.Notes {
		wide = max(wide, widthOf(words, note))
	}
	room := max(wide, vg.Length(c.placed.Width))
	for k, name := range t.Groups {
		n := entryOf(words, name)
		if len(c.legend) == 0 || used+n > room {
			c.legend, used = append(c.legend, nil), 0
		}
		last := len(c.legend) - 1
		c.legend[last], used = append(c.legend[last], k), used+n
		wide = max(wide, used)
	}
	c.width = math.Ceil(max(float64(wide), c.placed.Width) + 2*treeMargin)
	c.top = treeMargin + float64(treeLine*float64(1+len(t.Notes)+len(c.legend)))
	c.height = math.Ceil(c.top + c.placed.Height + treeMargin)
	return c
}

// withLetters returns a tree whose head has the letters of the font.
func withLetters(t *drawing.Tree) *drawing.Tree {
	changed := *t
	changed.Title, changed.Notes, changed.Groups = lettered(t.Title), slices.Clone(t.Notes), slices.Clone(t.Groups)
	for _, list := range [][]string{changed.Notes, changed.Groups} {
		for i := range list {
			list[i] = lettered(list[i])
		}
	}
	return &changed
}

// entryOf returns the width of an entry of the legend.
func entryOf(s text.Style, name string) vg.Length { return 17 + widthOf(s, name) + entryGap }

// at returns a point of the tree, from its upper left corner.
func (c *treeChart) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(treeMargin + float64(x)), Y: vg.Length(c.height - c.top - float64(y))}
}

func (c *treeChart) draw(on *paper) {
	y := vg.Length(c.height - treeMargin - treeLine/2)
	on.write(bold(style(headSize, ink())), vg.Point{X: treeMargin, Y: y}, c.tree.Title)
	for _, note := range c.tree.Notes {
		y -= treeLine
		on.write(style(textSize, grey()), vg.Point{X: treeMargin, Y: y}, note)
	}
	words := style(textSize, ink())
	for _, row := range c.legend {
		y -= treeLine
		x := vg.Length(treeMargin)
		for _, k := range row {
			n := drawing.Node{Group: k, Strength: 1}
			sign := vg.Rectangle{Min: vg.Point{X: x, Y: y - 6}, Max: vg.Point{X: x + 12, Y: y + 6}}
			on.box(sign, fillOf(&n), draw.LineStyle{Color: grey(), Width: 0.75})
			on.write(words, vg.Point{X: x + 17, Y: y}, c.tree.Groups[k])
			x += entryOf(words, c.tree.Groups[k])
		}
	}
	if !c.placed.Icicle {
		c.branches(on, false)
		c.branches(on, true)
	}
	for i := range c.tree.Nodes {
		c.node(on, &c.tree.Nodes[i], &c.placed.Boxes[i])
	}
}

func fillOf(n *drawing.Node) color.Color {
	c := n.Fill()
	part := func(x float64) uint8 { return uint8(math.Round(float64(x * 255))) }
	return color.NRGBA{R: part(c[0]), G: part(c[1]), B: part(c[2]), A: 0xff}
}

// box draws a box with its edge.
func (p *paper) box(at vg.Rectangle, fill color.Color, edge draw.LineStyle) {
	p.SetColor(fill)
	p.Fill(at.Path())
	p.SetLineStyle(edge)
	p.Stroke(at.Path())
}

// red is the colour of a path that is to be seen first.
func red() color.Color { return rgb(0xcf222e) }

// branches draws the lines from parents to children, as wide as their shares allow: those of
// the lit path, or the others.
func (c *treeChart) branches(on *paper, lit bool) {
	const thin, thick = 1, 13
	line := draw.LineStyle{Color: rgb(0xafb8c1)}
	if lit {
		line.Color = red()
	}
	for i := range c.tree.Nodes {
		from := &c.placed.Boxes[i]
		for _, child := range c.tree.Nodes[i].Children {
			n, to := &c.tree.Nodes[child], &c.placed.Boxes[child]
			if n.Lit != lit {
				continue
			}
			x := from.X + from.Width
			bend := max(x, to.X-treeGap)
			middle := (bend + to.X) / 2
			var path vg.Path
			path.Move(c.at(x, from.Middle()))
			path.Line(c.at(bend, from.Middle()))
			path.CubeTo(c.at(middle, from.Middle()), c.at(middle, to.Middle()), c.at(to.X, to.Middle()))
			line.Width = vg.Length(thin + float64((thick-thin)*math.Sqrt(max(0, min(1, n.Share)))))
			on.SetLineStyle(line)
			on.Stroke(path)
		}
	}
}

// node draws a box with its texts.
func (c *treeChart) node(on *paper, n *drawing.Node, b *drawing.Box) {
	box := vg.Rectangle{Min: c.at(b.X, b.Y+b.Height), Max: c.at(b.X+b.Width, b.Y)}
	edge := draw.LineStyle{Color: rgb(0x8b949e), Width: 1}
	if n.Leaf {
		edge = draw.LineStyle{Color: grey(), Width: 1.5}
	}
	if n.Folded != "" {
		edge.Dashes = []vg.Length{5, 3}
	}
	if n.Lit {
		edge.Color, edge.Width = red(), 3
	}
	room := vg.Length(b.Width - 2*boxPadding)
	words := style(textSize, ink())
	if c.placed.Icicle {
		edge.Width = vg.Length(min(float64(edge.Width), b.Height/8))
		on.box(box, fillOf(n), edge)
		if b.Height >= leastText && b.Width >= leastColumn {
			on.write(words, c.at(b.X+boxPadding, b.Middle()), on.fitted(words, n.Edge, room))
		}
		return
	}
	on.box(box, fillOf(n), edge)
	figures := n.Detail
	if n.Folded != "" {
		figures += " (" + n.Folded + ")"
	}
	on.write(bold(words), c.at(b.X+boxPadding, b.Y+10), on.fitted(bold(words), n.Edge, room))
	label := on.fitted(words, n.Label, room)
	on.write(words, c.at(b.X+boxPadding, b.Y+25), label)
	used := widthOf(words, label) + 8
	if figures != "" && used < room {
		notes := style(textSize, grey())
		on.write(notes, c.at(b.X+boxPadding, b.Y+25).Add(vg.Point{X: used}), on.fitted(notes, figures, room-used))
	}
}
