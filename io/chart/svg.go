package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a canvas of gonum that writes the elements of an SVG document. Unlike gonum's
// own it takes groups with tips, and texts with any characters. Texts say how wide they are,
// so that they fit where a reader has no font with the letters of Liberation Sans.
type svgCanvas struct {
	b             bytes.Buffer
	width, height vg.Length
	pen           pen
	saved         []pen
}

// pen is the state of a canvas.
type pen struct {
	color color.NRGBA
	width vg.Length
	dash  []vg.Length
	turn  [6]float64 // x' = 0 x + 2 y + 4, y' = 1 x + 3 y + 5
	right int        // quarter turns, counterclockwise, 0 to 3
}

func newSVGCanvas(width, height vg.Length) *svgCanvas {
	c := &svgCanvas{width: width, height: height, pen: pen{turn: [6]float64{1, 0, 0, 1, 0, 0}}}
	vg.Initialize(c)
	return c
}

// printf adds to the document. A buffer returns no error.
func (c *svgCanvas) printf(format string, args ...any) { _, _ = fmt.Fprintf(&c.b, format, args...) }

// open begins a group with a tip, and attributes as they are written. close ends it.
func (c *svgCanvas) open(class, tip, attributes string) {
	c.printf(`<g class="%s"%s>`, class, attributes)
	if tip != "" {
		c.printf("<title>%s</title>", escaped(tip))
	}
}

func (c *svgCanvas) close() { c.printf("</g>\n") }

// Size returns the size in points.
func (c *svgCanvas) Size() (x, y vg.Length) { return c.width, c.height }

// SetLineWidth implements vg.Canvas, as the methods below do.
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.pen.width = w }

// SetLineDash sets the lengths of dashes and gaps. An offset is not needed here.
func (c *svgCanvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.pen.dash = slices.Clone(pattern) }

// SetColor sets the colour of lines, areas and texts.
func (c *svgCanvas) SetColor(x color.Color) {
	if x == nil {
		x = color.Black
	}
	c.pen.color, _ = color.NRGBAModel.Convert(x).(color.NRGBA)
}

// Rotate turns what follows by the nearest number of quarter turns: texts of axes need no
// other angles.
func (c *svgCanvas) Rotate(rad float64) {
	quarters := (int(math.Round(rad/(math.Pi/2)))%4 + 4) % 4
	for range quarters {
		c.apply([6]float64{0, 1, -1, 0, 0, 0})
	}
	c.pen.right = (c.pen.right + quarters) % 4
}

// Translate moves what follows.
func (c *svgCanvas) Translate(by vg.Point) {
	c.apply([6]float64{1, 0, 0, 1, float64(by.X), float64(by.Y)})
}

// Scale scales what follows.
func (c *svgCanvas) Scale(x, y float64) { c.apply([6]float64{x, 0, 0, y, 0, 0}) }

func (c *svgCanvas) apply(n [6]float64) {
	m := c.pen.turn
	for k := range 3 {
		x, y := n[2*k], n[2*k+1]
		c.pen.turn[2*k] = float64(m[0]*x) + float64(m[2]*y)
		c.pen.turn[2*k+1] = float64(m[1]*x) + float64(m[3]*y)
	}
	c.pen.turn[4] += m[4]
	c.pen.turn[5] += m[5]
}

// Push saves the state.
func (c *svgCanvas) Push() { c.saved = append(c.saved, c.pen) }

// Pop restores the state of the last Push.
func (c *svgCanvas) Pop() {
	c.pen = c.saved[len(c.saved)-1]
	c.saved = c.saved[:len(c.saved)-1]
}

// Stroke draws lines.
func (c *svgCanvas) Stroke(path vg.Path) {
	if c.pen.width <= 0 || len(path) == 0 {
		return
	}
	dash := ""
	if len(c.pen.dash) > 0 {
		list := make([]string, len(c.pen.dash))
		for i, d := range c.pen.dash {
			list[i] = short(float64(d))
		}
		dash = ` stroke-dasharray="` + strings.Join(list, " ") + `"`
	}
	c.printf(`<path fill="none" stroke="%s"%s stroke-width="%s"%s d="%s"/>`, hexOf(c.pen.color),
		c.opacity("stroke"), short(float64(c.pen.width)), dash, c.data(path))
}

// Fill fills an area.
func (c *svgCanvas) Fill(path vg.Path) {
	if len(path) > 0 {
		c.printf(`<path fill="%s"%s d="%s"/>`, hexOf(c.pen.color), c.opacity("fill"), c.data(path))
	}
}

// FillString writes a text. Its left end is the point, on the line of the letters.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, words string) {
	if f.Font.Size == 0 || words == "" {
		return
	}
	x, y := c.place(at)
	more := ""
	if f.Font.Weight == boldWeight {
		more = ` font-weight="bold"`
	}
	if c.pen.right != 0 {
		more += fmt.Sprintf(` transform="rotate(%d %s %s)"`, -90*c.pen.right, short(x), short(y))
	}
	c.printf(`<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`,
		short(x), short(y), short(float64(f.Font.Size)), short(float64(widthIn(&f, words))), hexOf(c.pen.color), more,
		escaped(words))
}

// DrawImage draws nothing: no picture has images.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {}

// place returns a point in units of the viewBox.
func (c *svgCanvas) place(p vg.Point) (x, y float64) {
	m, px, py := &c.pen.turn, float64(p.X), float64(p.Y)
	return float64(m[0]*px) + float64(m[2]*py) + m[4], float64(c.height) - (float64(m[1]*px) + float64(m[3]*py) + m[5])
}

// data returns a path as SVG has it. Arcs are whole circles, as no picture has others. Curves
// have one or two points in between.
func (c *svgCanvas) data(path vg.Path) string {
	var b strings.Builder
	put := func(letter string, points ...vg.Point) {
		b.WriteString(letter)
		for i, p := range points {
			x, y := c.place(p)
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(short(x) + " " + short(y))
		}
	}
	for i, p := range path {
		switch p.Type {
		case vg.MoveComp:
			if i+1 < len(path) && path[i+1].Type == vg.ArcComp {
				continue // an arc begins with its own point
			}
			put("M", p.Pos)
		case vg.LineComp:
			put("L", p.Pos)
		case vg.CurveComp:
			put([]string{"Q", "C"}[min(1, len(p.Control)-1)], append(slices.Clone(p.Control), p.Pos)...)
		case vg.ArcComp:
			r := short(float64(p.Radius))
			right, left := p.Pos.Add(vg.Point{X: p.Radius}), p.Pos.Add(vg.Point{X: -p.Radius})
			put("M", right)
			put("A"+r+" "+r+" 0 0 0 ", left) // one arc cannot be a whole circle
			put("A"+r+" "+r+" 0 0 0 ", right)
		case vg.CloseComp:
			b.WriteByte('Z')
		}
	}
	return b.String()
}

// opacity returns the attribute of a colour that is not opaque.
func (c *svgCanvas) opacity(of string) string {
	if c.pen.color.A == 0xff {
		return ""
	}
	return fmt.Sprintf(` %s-opacity="%s"`, of, short(float64(c.pen.color.A)/255))
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// short writes a number with two digits behind the point at most.
func short(x float64) string {
	return strconv.FormatFloat(math.Round(float64(x*100))/100+0, 'f', -1, 64) // + 0: no -0
}

// escaped returns a text as XML has it, in elements and in attributes. Characters that XML
// cannot have become U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}
