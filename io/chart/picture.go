package chart

import (
	"fmt"
	"io"
	"math"

	"github.com/espalier-ml/espalier/io/svg"
)

// Width is the width of a picture in units of its viewBox.
const Width = 720

// MinPixels and MaxPixels bound the width of a file.
const (
	MinPixels = 100
	MaxPixels = 10_000
)

// Picture is a picture below its title, its notes and its legend.
type Picture struct {
	Title  string
	Notes  []string // below the title
	Words  string   // what the picture shows, for readers who do not see it
	Legend []Entry
	Height float64 // height of the content
	Draw   func(on *svg.Canvas, area svg.Box)

	frame *Frame
}

// Entry is a sign of the legend with its meaning. Sign draws the sign, SignWidth wide, to the right
// of a point, at the height of the point.
type Entry struct {
	Sign  func(on *svg.Canvas, left svg.Point)
	Words string
}

// Sizes in units of the viewBox.
const (
	Margin    = 14 // around a picture
	SignWidth = 26 // width of a sign of the legend

	lineHeight = 18
	signGap    = 6
	entryGap   = 20
)

// The texts of pictures.
func heading() svg.Text { return svg.Text{Size: svg.HeadSize, Bold: true} }
func note() svg.Text    { return svg.Text{Colour: svg.Soft} }
func plain() svg.Text   { return svg.Text{} }
func bold() svg.Text    { return svg.Text{Bold: true} }
func small() svg.Text   { return svg.Text{Size: svg.TickSize} }

// aligned returns a text with another alignment.
func aligned(t svg.Text, at svg.Align) svg.Text {
	t.Align = at
	return t
}

// rows returns the entries of the legend by line.
func (p *Picture) rows() [][]Entry {
	var rows [][]Entry
	used := 0.0
	words := plain()
	for _, e := range p.Legend {
		wide := SignWidth + signGap + words.Width(e.Words) + entryGap
		if len(rows) == 0 || used+wide > Width-2*Margin+entryGap {
			rows = append(rows, nil)
			used = 0
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], e)
		used += wide
	}
	return rows
}

// lines returns the notes in lines that fit.
func (p *Picture) lines() []string {
	var lines []string
	words := note()
	for _, text := range p.Notes {
		lines = append(lines, words.Wrap(text, Width-2*Margin)...)
	}
	return lines
}

// area returns the place of the content.
func (p *Picture) area() svg.Box {
	top := Margin + 28 + float64(lineHeight*(len(p.lines())+len(p.rows())))
	return svg.Box{Left: Margin, Top: top, Right: Width - Margin, Bottom: top + p.Height}
}

// SVG writes the picture as a self-contained SVG document. width is in pixels; 0: Width.
func (p *Picture) SVG(w io.Writer, width int) error {
	if width != 0 && (width < MinPixels || width > MaxPixels) {
		return fmt.Errorf("a picture of %d pixels: want %d to %d", width, MinPixels, MaxPixels)
	}
	return p.write(w, &svg.Document{Pixels: float64(width)})
}

// Bare writes the picture for a page that has the style of pictures, svg.CSS.
func (p *Picture) Bare(w io.Writer) error { return p.write(w, &svg.Document{Bare: true}) }

func (p *Picture) write(w io.Writer, d *svg.Document) error {
	c := new(svg.Canvas)
	area := p.area()
	p.writeHead(c)
	p.Draw(c, area)
	d.Class, d.Title, d.Description, d.Attributes = "espalier-chart", p.Title, p.Words, p.frame.attributes()
	d.Width = Width
	d.Height = math.Ceil(area.Bottom + Margin)
	return c.Write(w, d)
}

func (p *Picture) writeHead(c *svg.Canvas) {
	y := float64(Margin + 8)
	title := heading()
	c.Text(title, svg.Point{X: Margin, Y: y}, title.Fit(p.Title, Width-2*Margin))
	y += 3
	words := note()
	for _, line := range p.lines() {
		y += lineHeight
		c.Text(words, svg.Point{X: Margin, Y: y}, words.Fit(line, Width-2*Margin))
	}
	words = plain()
	for _, row := range p.rows() {
		y += lineHeight
		x := float64(Margin)
		for _, e := range row {
			e.Sign(c, svg.Point{X: x, Y: y})
			text := words.Fit(e.Words, Width-Margin-x-SignWidth-signGap)
			c.Text(words, svg.Point{X: x + SignWidth + signGap, Y: y}, text)
			x += SignWidth + signGap + words.Width(text) + entryGap
		}
	}
}
