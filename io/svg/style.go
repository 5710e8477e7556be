package svg

import (
	"fmt"
	"strings"
)

// Colour is one of the colours below, which have another shade on dark pages, or a colour of data as
// #rrggbb.
type Colour string

// The colours of what is no data.
const (
	Ink    Colour = "ink"    // texts, and lines that matter
	Soft   Colour = "soft"   // texts that matter less, axes
	Rule   Colour = "rule"   // grids
	Border Colour = "border" // of boxes
	Branch Colour = "branch"
	Lit    Colour = "lit" // highlighted
	page   Colour = "page"
)

// shades returns a colour on light and on dark pages, for each that is not of data.
func shades() [][3]string {
	return [][3]string{
		{string(page), "#fff", "#14171b"},
		{string(Ink), "#1b1f24", "#e6edf3"},
		{string(Soft), "#57606a", "#a2abb5"},
		{string(Rule), "#d0d7de", "#3d444d"},
		{string(Border), "#8b949e", "#6e7681"},
		{string(Branch), "#afb8c1", "#586069"},
		{string(Lit), "#cf222e", "#ff7b72"},
	}
}

// The colours of data, by Okabe and Ito, which even readers who see few colours can tell apart.
// Yellow is left out, because it is hard to see on white; black is Ink.
const (
	Orange     Colour = "#e69f00"
	Sky        Colour = "#56b4e9"
	Green      Colour = "#009e73"
	Blue       Colour = "#0072b2"
	Vermillion Colour = "#d55e00"
	Purple     Colour = "#cc79a7"
)

// CSS returns the style of all pictures. Its classes begin with es, as a page may hold a picture.
func CSS() string {
	var b strings.Builder
	colours := func(dark int) {
		for _, s := range shades() {
			_, _ = fmt.Fprintf(&b, ".es-%s{fill:%s}.es-%s-line{stroke:%s}", s[0], s[1+dark], s[0], s[1+dark])
		}
		_, _ = fmt.Fprintf(&b, ".es{fill:%s}\n", shades()[1][1+dark])
	}
	b.WriteString("\n.es{font:12px \"Liberation Sans\",Arial,Helvetica,sans-serif}.es-bold{font-weight:bold}\n")
	colours(0)
	b.WriteString("@media screen and (prefers-color-scheme:dark){")
	colours(1)
	b.WriteString("}.es-node:hover rect{stroke:#0969da;stroke-width:2.5}\n")
	return b.String()
}

// Style is how a shape is painted.
type Style struct {
	Fill, Stroke Colour    // empty: not painted
	Opacity      float64   // opacity of the filling or, without a filling, of the line; 0: opaque
	Width        float64   // width of the line
	Dashes       []float64 // lengths of dashes and gaps; empty: a whole line
}

// Line returns the style of a line.
func Line(colour Colour, width float64, dashes ...float64) Style {
	return Style{Stroke: colour, Width: width, Dashes: dashes}
}

// Area returns the style of a filled shape.
func Area(colour Colour) Style { return Style{Fill: colour} }

// Pale returns the style with an opacity from 0 to 1.
func (s Style) Pale(opacity float64) Style {
	s.Opacity = opacity
	return s
}

// attributes returns the style as elements have it.
func (s *Style) attributes() string {
	var classes []string
	var b strings.Builder
	paint := func(of string, c Colour, class string) {
		switch {
		case strings.HasPrefix(string(c), "#"):
			_, _ = fmt.Fprintf(&b, ` %s="%s"`, of, c)
		case c != "":
			classes = append(classes, "es-"+string(c)+class)
		}
	}
	paint("fill", s.Fill, "")
	paint("stroke", s.Stroke, "-line")
	opaque := "fill-opacity"
	if s.Fill == "" {
		b.WriteString(` fill="none"`)
		opaque = "stroke-opacity"
	}
	if s.Opacity > 0 {
		_, _ = fmt.Fprintf(&b, ` %s="%s"`, opaque, short(s.Opacity))
	}
	if s.Stroke != "" && s.Width != 1 {
		_, _ = fmt.Fprintf(&b, ` stroke-width="%s"`, short(s.Width))
	}
	if len(s.Dashes) > 0 {
		list := make([]string, len(s.Dashes))
		for i, d := range s.Dashes {
			list[i] = short(d)
		}
		_, _ = fmt.Fprintf(&b, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
	return classAttribute(classes) + b.String()
}

func classAttribute(classes []string) string {
	if len(classes) == 0 {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}
