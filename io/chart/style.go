package chart

import (
	"image/color"
	"strings"

	"github.com/mattn/go-runewidth"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of what is no data.
func ink() color.Color   { return rgb(0x1b1f24) }
func grey() color.Color  { return rgb(0x57606a) }
func faint() color.Color { return rgb(0xd0d7de) }

// The colours of data, by Okabe and Ito. Yellow is left out: it is hard to see on white.
const (
	black      = 0x000000
	orange     = 0xe69f00
	sky        = 0x56b4e9
	green      = 0x009e73
	blue       = 0x0072b2
	vermillion = 0xd55e00
	purple     = 0xcc79a7
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// pale returns a colour of a given opacity, 0 to 1.
func pale(hex uint32, opacity float64) color.NRGBA {
	c := rgb(hex)
	c.A = uint8(float64(opacity * 255))
	return c
}

// The sizes of texts, in points.
const (
	headSize = 15
	textSize = 12
	tickSize = 11
)

// style returns the style of a text.
func style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, XAlign: draw.XLeft,
		YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
	}
}

// boldWeight is the weight of bold letters, by the package font of golang.org/x/image.
const boldWeight = 3

// bold returns a style in bold letters.
func bold(s text.Style) text.Style {
	s.Font.Weight = boldWeight
	return s
}

// write writes a text beside, around or before a point, at its height.
func (p *paper) write(s text.Style, at vg.Point, words string) {
	p.FillText(s, at.Add(vg.Point{Y: s.Font.Size / 8}), words) // gonum leaves room below for what few letters have
}

// aligned returns a style with another place of the text around its point.
func aligned(s text.Style, x text.XAlignment) text.Style {
	s.XAlign = x
	return s
}

// widthOf returns the width of a text.
func widthOf(s text.Style, words string) vg.Length {
	face := s.Handler.Cache().Lookup(s.Font, s.Font.Size)
	return widthIn(&face, words)
}

// widthIn returns the width of a text in a font. Readers' programs take characters that the
// font does not have from another one, of about its size: up to an em, wide ones more.
func widthIn(face *font.Face, words string) vg.Length {
	var known strings.Builder
	others := vg.Length(0)
	for _, r := range words {
		if at, err := face.Face.GlyphIndex(nil, r); err == nil && at != 0 {
			known.WriteRune(r)
			continue
		}
		others += vg.Length(face.Font.Size * vg.Length(0.75*float64(max(1, runewidth.RuneWidth(r)))))
	}
	return face.Width(known.String()) + others
}

// fitted shortens a text to a width. It keeps both ends.
func fitted(s text.Style, words string, width vg.Length) string {
	if widthOf(s, words) <= width {
		return words
	}
	runes := []rune(words)
	short := ".."
	for n := 1; n < len(runes); n++ {
		longer := string(runes[:(n+1)/2]) + ".." + string(runes[len(runes)-n/2:])
		if widthOf(s, longer) > width {
			break
		}
		short = longer
	}
	return short
}

// wrapped breaks a text into lines of a width, at blanks.
func wrapped(s text.Style, words string, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		word = fitted(s, word, width)
		if longer := line + " " + word; line != "" && widthOf(s, longer) <= width {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
	}
	return append(lines, line)
}
