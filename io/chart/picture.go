package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Width is the width of a picture in units of its viewBox.
const Width = 720

// MinPixels and MaxPixels bound the width of a file.
const (
	MinPixels = 100
	MaxPixels = 10_000
)

// Picture is a picture of a run.
type Picture struct {
	title   string
	notes   []string // below the title
	words   string   // what the picture shows, for readers who do not see it
	legend  []entry
	height  vg.Length // below the legend
	content func(p *paper, area vg.Rectangle)
	frame   *Frame
}

// entry is a sign of the legend, in a place of signWidth, with its meaning.
type entry struct {
	sign  func(p *paper, left vg.Point)
	words string
}

// Sizes, in points.
const (
	margin     = 14
	lineHeight = 18
	signWidth  = 26
	signGap    = 6
	entryGap   = 20
)

// paper is what a picture is drawn on.
type paper struct {
	draw.Canvas

	svg *svgCanvas
}

// group draws a part of the picture, with a tip that is shown under the mouse. attributes are as SVG
// has them.
func (p *paper) group(class, tip, attributes string, drawing func()) {
	p.svg.open(class, tip, attributes)
	drawing()
	p.svg.close()
}

// rows returns the entries of the legend by line.
func (p *Picture) rows() [][]entry {
	var rows [][]entry
	used := vg.Length(0)
	for _, e := range p.legend {
		wide := signWidth + signGap + widthOf(style(textSize, ink()), e.words) + entryGap
		if len(rows) == 0 || used+wide > Width-2*margin+entryGap {
			rows, used = append(rows, nil), 0
		}
		last := len(rows) - 1
		rows[last], used = append(rows[last], e), used+wide
	}
	return rows
}

// lines returns the notes in lines that fit.
func (p *Picture) lines() []string {
	var lines []string
	for _, note := range p.notes {
		lines = append(lines, wrapped(style(textSize, grey()), note, Width-2*margin)...)
	}
	return lines
}

// head returns the height of title, notes and legend.
func (p *Picture) head() vg.Length {
	return margin + vg.Length(lineHeight*(len(p.lines())+len(p.rows()))) + 28
}

// total returns the height of the picture.
func (p *Picture) total() vg.Length {
	return vg.Length(math.Ceil(float64(p.head() + p.height + margin)))
}

// area returns the place of the content.
func (p *Picture) area() vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: margin, Y: margin}, Max: vg.Point{X: Width - margin, Y: margin + p.height}}
}

// draw draws the picture.
func (p *Picture) draw(on *paper) {
	title := bold(style(headSize, ink()))
	y := p.total() - margin - 8
	on.write(title, vg.Point{X: margin, Y: y}, fitted(title, p.title, Width-2*margin))
	y -= 3
	for _, line := range p.lines() {
		y -= lineHeight
		note := style(textSize, grey())
		on.write(note, vg.Point{X: margin, Y: y}, fitted(note, line, Width-2*margin))
	}
	for _, row := range p.rows() {
		y -= lineHeight
		x := vg.Length(margin)
		for _, e := range row {
			e.sign(on, vg.Point{X: x, Y: y})
			s := style(textSize, ink())
			words := fitted(s, e.words, Width-margin-x-signWidth-signGap)
			on.write(s, vg.Point{X: x + signWidth + signGap, Y: y}, words)
			x += signWidth + signGap + widthOf(s, words) + entryGap
		}
	}
	p.content(on, p.area())
}

// SVG writes the picture as one SVG document without references to anything else. width is in
// pixels; 0: Width.
func (p *Picture) SVG(w io.Writer, width int) error {
	if width == 0 {
		width = Width
	}
	if err := checkPixels(width); err != nil {
		return err
	}
	c := newSVGCanvas(Width, p.total())
	p.draw(&paper{draw.New(c), c})
	height := short(float64(width) / Width * float64(p.total()))
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="espalier-chart" width="%d" height="%s" `+
		`viewBox="0 0 %d %s" role="img" aria-label="%s" font-family="'Liberation Sans',Arial,Helvetica,sans-serif"%s>`,
		width, height, Width, short(float64(p.total())), escaped(p.title+". "+p.words), p.frame.attributes())
	_, _ = fmt.Fprintf(&b, "<title>%s</title><desc>%s</desc>\n", escaped(p.title), escaped(p.words))
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	b.Write(c.b.Bytes())
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func checkPixels(width int) error {
	if width < MinPixels || width > MaxPixels {
		return fmt.Errorf("a picture of %d pixels: want %d to %d", width, MinPixels, MaxPixels)
	}
	return nil
}
