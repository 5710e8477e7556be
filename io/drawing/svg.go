package drawing

import (
	"fmt"
	"io"
	"math"

	"github.com/espalier-ml/espalier/io/svg"
)

// margin is the space around a drawing, lineHeight the height of a line of its head, in pixels.
const (
	margin     = 16
	lineHeight = 20
)

// minBox is the least height of a box that is drawn.
const minBox = 0.35

// The texts of a drawing.
func head() *svg.Text      { return &svg.Text{Size: svg.HeadSize, Bold: true} }
func condition() *svg.Text { return &svg.Text{Bold: true} }
func note() *svg.Text      { return &svg.Text{Colour: svg.Soft} }
func plain() *svg.Text     { return &svg.Text{} }

// SVG writes a drawing of the tree as a self-contained SVG document.
func SVG(w io.Writer, t *Tree) error { return write(w, t, false) }

// Bare writes a drawing of the tree for a page that has the style of pictures, svg.CSS.
func Bare(w io.Writer, t *Tree) error { return write(w, t, true) }

func write(w io.Writer, t *Tree, bare bool) error {
	c := new(svg.Canvas)
	p := Layout(t)
	legend := t.legend()
	top := margin + float64(lineHeight*(1+len(t.Notes)+len(legend)))
	t.writeHead(c, legend)
	at := svg.Point{X: margin, Y: top}
	if !p.Icicle {
		t.writeEdges(c, p, at)
	}
	for i := range t.Nodes {
		if p.Boxes[i].Height >= minBox {
			t.Nodes[i].write(c, p.Boxes[i].moved(at), p)
		}
	}
	return c.Write(w, &svg.Document{
		Bare: bare, Title: t.Title, Width: max(p.Width, t.headWidth(legend)) + 2*margin, Height: top + p.Height + margin,
	})
}

// legendWidth is the greatest width of a line of the legend. signWidth is the width of a sign, and
// signGap the space after an entry.
const (
	legendWidth = 800
	signWidth   = 17
	signGap     = 20
)

// legend returns the groups by line.
func (t *Tree) legend() [][]int {
	var lines [][]int
	used := 0.0
	for k, name := range t.Groups {
		n := entryWidth(name)
		if len(lines) == 0 || used+n > legendWidth {
			lines = append(lines, nil)
			used = 0
		}
		last := &lines[len(lines)-1]
		*last = append(*last, k)
		used += n
	}
	return lines
}

func entryWidth(name string) float64 { return signWidth + plain().Width(name) + signGap }

func (t *Tree) headWidth(legend [][]int) float64 {
	width := head().Width(t.Title)
	for _, text := range t.Notes {
		width = max(width, note().Width(text))
	}
	for _, line := range legend {
		n := 0.0
		for _, k := range line {
			n += entryWidth(t.Groups[k])
		}
		width = max(width, n)
	}
	return width
}

// writeHead writes the title, the notes and the legend.
func (t *Tree) writeHead(c *svg.Canvas, legend [][]int) {
	y := float64(margin + lineHeight/2)
	c.Text(*head(), svg.Point{X: margin, Y: y}, t.Title)
	for _, text := range t.Notes {
		y += lineHeight
		c.Text(*note(), svg.Point{X: margin, Y: y}, text)
	}
	for _, line := range legend {
		y += lineHeight
		x := float64(margin)
		for _, k := range line {
			n := Node{Group: k, Strength: 1}
			c.Rect(n.style(), svg.Box{Left: x, Top: y - 6, Right: x + 12, Bottom: y + 6}, 0)
			c.Text(*plain(), svg.Point{X: x + signWidth, Y: y}, t.Groups[k])
			x += entryWidth(t.Groups[k])
		}
	}
}

// writeEdges writes a line from each parent to each child, as wide as its share allows. Lit lines
// come last, so that they are on top.
func (t *Tree) writeEdges(c *svg.Canvas, p *Placed, at svg.Point) {
	const thin, thick = 1, 13
	for _, lit := range []bool{false, true} {
		line := svg.Line(svg.Branch, 0)
		if lit {
			line.Stroke = svg.Lit
		}
		for i := range t.Nodes {
			from := p.Boxes[i].moved(at)
			for _, child := range t.Nodes[i].Children {
				n := &t.Nodes[child]
				to := p.Boxes[child].moved(at)
				if n.Lit != lit {
					continue
				}
				x := from.X + from.Width
				bend := max(x, to.X-levelGap)
				middle := (bend + to.X) / 2
				path := new(svg.Path)
				path.Move(svg.Point{X: x, Y: from.Middle()})
				path.Line(svg.Point{X: bend, Y: from.Middle()})
				path.Curve(svg.Point{X: middle, Y: from.Middle()}, svg.Point{X: middle, Y: to.Middle()},
					svg.Point{X: to.X, Y: to.Middle()})
				line.Width = thin + float64((thick-thin)*math.Sqrt(max(0, min(1, n.Share))))
				c.Path(line, path)
			}
		}
	}
}

// style returns how the box of a node is painted.
func (n *Node) style() svg.Style {
	s := svg.Style{Fill: svg.Colour(colour(n.Group).hex()), Opacity: opacity(n.Strength), Stroke: svg.Border, Width: 1}
	if n.Leaf {
		s.Stroke = svg.Soft
		s.Width = 1.5
	}
	if n.Folded != "" {
		s.Dashes = []float64{5, 3}
	}
	if n.Lit {
		s.Stroke = svg.Lit
		s.Width = 3
	}
	return s
}

// figures returns the figures of a node, with a note on nodes omitted below it.
func (n *Node) figures() string {
	if n.Folded == "" {
		return n.Detail
	}
	return n.Detail + " (" + n.Folded + ")"
}

// figureGap is the space between the class of a node and its figures, in pixels.
const figureGap = 8

// width returns the width of a node's box.
func (n *Node) width() float64 {
	return 2*padding + max(condition().Width(n.Edge), plain().Width(n.Label)+figureGap+note().Width(n.figures()))
}

// write writes a box with its text.
func (n *Node) write(c *svg.Canvas, at Box, p *Placed) {
	style := n.style()
	area := svg.Box{Left: at.X, Top: at.Y, Right: at.X + at.Width, Bottom: at.Y + at.Height}
	left := at.X + padding
	c.Group("es-node", n.Tip, fmt.Sprintf(` data-node="%d"`, n.ID), func() {
		if !p.Icicle {
			c.Rect(style, area, 4)
			c.Text(*condition(), svg.Point{X: left, Y: at.Y + 10}, n.Edge)
			c.Text(*plain(), svg.Point{X: left, Y: at.Y + 25}, n.Label)
			c.Text(*note(), svg.Point{X: left + plain().Width(n.Label) + figureGap, Y: at.Y + 25}, n.figures())
			return
		}
		style.Width = min(style.Width, at.Height/8)
		c.Rect(style, area, 0)
		if at.Height >= minText && at.Width == wideColumn {
			c.Text(*plain(), svg.Point{X: left, Y: at.Middle()}, plain().Fit(n.Edge, wideColumn-2*padding))
		}
	})
}

// opacity returns the opacity of a colour for a given strength. Text on it stays readable.
func opacity(strength float64) float64 { return 0.06 + float64(0.44*max(0, min(1, strength))) }

// rgb is a colour.
type rgb [3]float64

// colour returns the colour of a group. Even readers who see few colours can tell the first colours
// apart (Paul Tol's "bright"). Further groups have hues of their own.
func colour(group int) rgb {
	first := []rgb{
		{68, 119, 170}, {238, 119, 51}, {34, 136, 51}, {170, 51, 119}, {204, 187, 68}, {102, 204, 238}, {238, 102, 119},
	}
	if group = max(0, group); group < len(first) {
		return first[group]
	}
	const golden = 0.618033988749895
	hue := float64(6 * math.Mod(golden*float64(group), 1))
	part := func(shift float64) float64 {
		k := math.Mod(hue+shift, 6)
		return 60 + float64(160*max(0, min(1, min(k, 4-k))))
	}
	return rgb{part(2), part(0), part(4)}
}

// hex returns a colour as SVG writes it.
func (c rgb) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0])), int(math.Round(c[1])), int(math.Round(c[2])))
}
