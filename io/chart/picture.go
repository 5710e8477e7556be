package chart

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Width is the width of a picture in units of its viewBox.
const Width = 720

// DefaultPixels is the width of a PNG file where none is asked for: sharp on paper and slides.
const DefaultPixels = 1440

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

	svg *svgCanvas // nil: the format has no groups
}

// group draws a part of the picture. SVG documents show its tip under the mouse. attributes
// are as SVG has them.
func (p *paper) group(class, tip, attributes string, drawing func()) {
	if p.svg != nil {
		p.svg.open(class, tip, attributes)
		defer p.svg.close()
	}
	drawing()
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
	on.write(title, vg.Point{X: margin, Y: y}, on.fitted(title, p.title, Width-2*margin))
	y -= 3
	for _, line := range p.lines() {
		y -= lineHeight
		note := style(textSize, grey())
		on.write(note, vg.Point{X: margin, Y: y}, on.fitted(note, line, Width-2*margin))
	}
	for _, row := range p.rows() {
		y -= lineHeight
		x := vg.Length(margin)
		for _, e := range row {
			e.sign(on, vg.Point{X: x, Y: y})
			s := style(textSize, ink())
			words := on.fitted(s, e.words, Width-margin-x-signWidth-signGap)
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

// PNG writes the picture as a PNG file, on white. width is in pixels; 0: DefaultPixels.
func (p *Picture) PNG(w io.Writer, width int) error {
	if width == 0 {
		width = DefaultPixels
	}
	if err := checkPixels(width); err != nil {
		return err
	}
	return writePNG(w, width, Width, float64(p.total()), func(c vg.CanvasSizer) { p.draw(&paper{draw.New(c), nil}) })
}

func checkPixels(width int) error {
	if width < MinPixels || width > MaxPixels {
		return fmt.Errorf("a picture of %d pixels: want %d to %d", width, MinPixels, MaxPixels)
	}
	return nil
}

// maxArea is the greatest number of pixels of a file: a picture takes four bytes for each.
const maxArea = 50_000_000

// writePNG writes a drawing of a size in points in so many pixels of width.
func writePNG(w io.Writer, pixels int, width, height float64, drawing func(c vg.CanvasSizer)) error {
	high := int(math.Ceil(float64(pixels) / width * height))
	if high > maxArea/pixels {
		return fmt.Errorf("a picture of %d times %d pixels is too large: want a smaller width, or SVG", pixels, high)
	}
	const inch = 72 // points
	scale := float64(pixels) / width
	dots := max(1, int(math.Round(scale*inch)))
	c := vgimg.NewWith(vgimg.UseImage(image.NewRGBA(image.Rect(0, 0, pixels, high))), vgimg.UseDPI(dots))
	s := scale * inch / float64(dots) // gonum takes whole dots an inch
	c.Scale(s, s)
	drawing(c)
	if c.Image().Bounds().Dx() != pixels {
		return errors.New("the picture has another width than it was given")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, c.Image()); err != nil {
		return err
	}
	_, err := w.Write(slices.Insert(b.Bytes(), afterHeader, maker()...))
	return err
}

// afterHeader is the place behind the first chunk of a PNG file, which has a fixed size.
const afterHeader = 33

// maker is a chunk of a PNG file with the name of the program.
func maker() []byte {
	const content = "tEXtSoftware\x00Espalier"
	b := binary.BigEndian.AppendUint32(nil, uint32(len(content)-4)) // of the content without its type
	b = append(b, content...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(content)))
}

// IsPNG reports whether the first bytes of a file, 128 or more, are those of a PNG file of
// this package.
func IsPNG(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x89PNG\r\n")) && len(head) > afterHeader &&
		bytes.HasPrefix(head[afterHeader:], maker())
}
