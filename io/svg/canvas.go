package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// Plus returns the point that is moved by x and y.
func (p Point) Plus(x, y float64) Point { return Point{p.X + x, p.Y + y} }

// Box is an area of a picture.
type Box struct{ Left, Top, Right, Bottom float64 }

// Canvas collects the elements of a picture. The zero value is empty.
type Canvas struct{ b bytes.Buffer }

// printf adds to the picture. A buffer returns no error.
func (c *Canvas) printf(format string, args ...any) { _, _ = fmt.Fprintf(&c.b, format, args...) }

// Group draws a part of the picture as a group with a class. Its tip, which may be empty, is shown
// under the mouse. attributes are empty or begin with a space, in the syntax of SVG.
func (c *Canvas) Group(class, tip, attributes string, drawing func()) {
	c.printf(`<g class="%s"%s>`, class, attributes)
	if tip != "" {
		c.printf("<title>%s</title>", escape(tip))
	}
	drawing()
	c.printf("</g>\n")
}

// Lines draws a line through points.
func (c *Canvas) Lines(s Style, points ...Point) {
	if len(points) == 0 {
		return
	}
	p := new(Path)
	p.Move(points[0])
	for _, at := range points[1:] {
		p.Line(at)
	}
	c.Path(s, p)
}

// Polygon fills the area that a line through points encloses.
func (c *Canvas) Polygon(s Style, points []Point) {
	if len(points) > 0 {
		p := new(Path)
		p.Move(points[0])
		for _, at := range points[1:] {
			p.Line(at)
		}
		p.Close()
		c.Path(s, p)
	}
}

// Path draws a path.
func (c *Canvas) Path(s Style, p *Path) { c.printf(`<path%s d="%s"/>`, s.attributes(), p.b) }

// Rect draws a rectangle with rounded corners.
func (c *Canvas) Rect(s Style, b Box, radius float64) {
	round := ""
	if radius > 0 {
		round = ` rx="` + short(radius) + `"`
	}
	c.printf(`<rect%s x="%s" y="%s" width="%s" height="%s"%s/>`, s.attributes(), short(b.Left), short(b.Top),
		short(b.Right-b.Left), short(b.Bottom-b.Top), round)
}

// Circle draws a circle.
func (c *Canvas) Circle(s Style, at Point, radius float64) {
	c.printf(`<circle%s cx="%s" cy="%s" r="%s"/>`, s.attributes(), short(at.X), short(at.Y), short(radius))
}

// Triangle draws a triangle around a point, with a corner at the top. It looks as large as a circle
// of this radius.
func (c *Canvas) Triangle(s Style, at Point, radius float64) {
	radius = float64(radius * 1.25)            // radius of the circle through its corners
	side := float64(radius * math.Sqrt(3) / 2) // half the length of a side
	below := float64(radius / 2)
	c.Polygon(s, []Point{at.Plus(0, -radius), at.Plus(side, below), at.Plus(-side, below)})
}

// Text writes words at a point, which is at half the height of their capital letters. Texts of
// characters with known widths specify their width, so that they also fit in other fonts.
func (c *Canvas) Text(t Text, at Point, words string) {
	if words == "" {
		return
	}
	const middle = 0.36 // half the height of capitals, relative to the size
	more := ""
	if t.Align != Left {
		more = ` text-anchor="` + string(t.Align) + `"`
	}
	if t.Turned {
		at.X += float64(middle * t.size())
		more += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, short(at.X), short(at.Y))
	} else {
		at.Y += float64(middle * t.size())
	}
	if width, known := t.width(words); known {
		more += ` textLength="` + short(width) + `" lengthAdjust="spacingAndGlyphs"`
	}
	c.printf(`<text%s x="%s" y="%s"%s>%s</text>`, t.attributes(), short(at.X), short(at.Y), more, escape(words))
}

// Path is the outline of a shape.
type Path struct{ b []byte }

// Move begins a line at a point.
func (p *Path) Move(to Point) { p.add('M', to) }

// Line continues straight on to a point.
func (p *Path) Line(to Point) { p.add('L', to) }

// Curve continues to a point in a curve with two points of control.
func (p *Path) Curve(first, second, to Point) { p.add('C', first, second, to) }

// Close continues to where the line began.
func (p *Path) Close() { p.b = append(p.b, 'Z') }

func (p *Path) add(letter byte, points ...Point) {
	for _, at := range points {
		p.b = append(p.b, letter)
		letter = ' '
		p.b = append(p.b, short(at.X)+" "+short(at.Y)...)
	}
}

// Document holds the properties of an SVG document other than the elements of its picture.
type Document struct {
	Class         string // class of the element svg, in addition to the class of the style
	Title         string
	Description   string  // what the picture shows, for readers who do not see it
	Width, Height float64 // size of the viewBox
	Pixels        float64 // width on a screen; 0: Width
	Attributes    string  // attributes of the element svg; empty, or beginning with a space
	Bare          bool    // without CSS, because the page that contains the document has it
}

// Write writes a self-contained document.
func (c *Canvas) Write(w io.Writer, d *Document) error {
	pixels := d.Pixels
	label := d.Title
	if pixels == 0 {
		pixels = d.Width
	}
	var description, style string
	if d.Description != "" {
		label += ". " + d.Description
		description = "<desc>" + escape(d.Description) + "</desc>"
	}
	if !d.Bare {
		style = "<style>" + CSS() + "</style>"
	}
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="%s" width="%s" height="%s" viewBox="0 0 %s %s" `+
		`role="img" aria-label="%s"%s><title>%s</title>%s%s`+"\n"+`<rect class="es-page" width="100%%" height="100%%"/>`+"\n",
		strings.TrimSpace("es "+d.Class), short(pixels), short(pixels/d.Width*d.Height), short(d.Width), short(d.Height),
		escape(label), d.Attributes, escape(d.Title), description, style)
	b.Write(c.b.Bytes())
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// short formats a number with at most two digits after the decimal point.
func short(x float64) string {
	return strconv.FormatFloat(math.Round(float64(x*100))/100+0, 'f', -1, 64) // + 0 avoids -0
}

// escape returns a text in the form that XML and HTML need in elements and in attributes.
// Characters that XML cannot represent become U+FFFD.
func escape(s string) string {
	if !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return c < ' ' || c > '~' || strings.IndexByte(`<>&"'`, c) >= 0
	}) {
		return s
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}
