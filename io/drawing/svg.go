package drawing

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// style colours a drawing for light and for dark pages. Its classes have a prefix, as a
// page may hold the drawing.
const style = `
.et-page{fill:#fff}.et-text,.et-head{fill:#1b1f24;font:12px system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
.et-head{font-weight:600;font-size:15px}.et-cond{font-weight:600}.et-note{fill:#57606a}
.et-box{stroke:#8b949e;stroke-width:1}.et-leaf .et-box{stroke:#57606a;stroke-width:1.5}
.et-edge{fill:none;stroke:#afb8c1}.et-lit .et-box{stroke:#cf222e;stroke-width:3}
.et-edge.et-lit{stroke:#cf222e}.et-node:hover .et-box{stroke:#0969da;stroke-width:2.5}
@media (prefers-color-scheme:dark){.et-page{fill:#14171b}.et-text,.et-head{fill:#e6edf3}.et-note{fill:#a2abb5}
.et-box{stroke:#6e7681}.et-leaf .et-box{stroke:#b1bac4}.et-edge{stroke:#586069}
.et-lit .et-box,.et-edge.et-lit{stroke:#ff7b72}}
@media print{.et-page{fill:#fff}.et-text,.et-head{fill:#000}}
`

// margin is the space around a drawing, in pixels.
const margin = 16

// minBox is the least height of a box that is drawn.
const minBox = 0.35

// SVG writes a drawing of the tree as one SVG document without references to anything
// else.
func SVG(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	p := Layout(t)
	legend := t.legend()
	top := margin + float64(20*(1+len(t.Notes)+len(legend)))
	width := max(p.Width, t.headWidth(legend)) + 2*margin
	printf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-label="%s">`, pixels(width), pixels(top+p.Height+margin), pixels(width), pixels(top+p.Height+margin),
		escaped(t.Title))
	printf(b, "<title>%s</title><style>%s</style>\n", escaped(t.Title), style)
	printf(b, `<rect class="et-page" width="100%%" height="100%%"/>`+"\n")
	t.writeHead(b, legend)
	printf(b, `<g transform="translate(%d %s)">`+"\n", margin, pixels(top))
	if !p.Icicle {
		t.writeEdges(b, p)
	}
	for i := range t.Nodes {
		if p.Boxes[i].Height >= minBox {
			t.Nodes[i].write(b, &p.Boxes[i], p)
		}
	}
	printf(b, "</g></svg>\n")
	return b.Flush()
}

// legendCells is the greatest width of a line of the legend, in characters.
const legendCells = 120

// legend returns the groups by line.
func (t *Tree) legend() [][]int {
	var lines [][]int
	used := 0
	for k, name := range t.Groups {
		n := displayed(name) + 4
		if len(lines) == 0 || used+n > legendCells {
			lines, used = append(lines, nil), 0
		}
		last := &lines[len(lines)-1]
		*last, used = append(*last, k), used+n
	}
	return lines
}

func (t *Tree) headWidth(legend [][]int) float64 {
	cells := displayed(t.Title) * 4 / 3
	for _, note := range t.Notes {
		cells = max(cells, displayed(note))
	}
	for _, line := range legend {
		n := 0
		for _, k := range line {
			n += displayed(t.Groups[k]) + 4
		}
		cells = max(cells, n)
	}
	return float64(cell * float64(cells))
}

// writeHead writes the title, the notes and the legend.
func (t *Tree) writeHead(b *bufio.Writer, legend [][]int) {
	y := margin + textHeight
	printf(b, `<text class="et-head" x="%d" y="%d">%s</text>`+"\n", margin, y, escaped(t.Title))
	for _, note := range t.Notes {
		y += 20
		printf(b, `<text class="et-text et-note" x="%d" y="%d">%s</text>`+"\n", margin, y, escaped(note))
	}
	for _, line := range legend {
		y += 20
		x := float64(margin)
		for _, k := range line {
			printf(b, `<rect class="et-box" x="%s" y="%d" width="12" height="12" fill="%s" fill-opacity="%.2f"/>`,
				pixels(x), y-10, colour(k).hex(), opacity(1))
			printf(b, `<text class="et-text" x="%s" y="%d">%s</text>`+"\n", pixels(x+17), y, escaped(t.Groups[k]))
			x += float64(cell * float64(displayed(t.Groups[k])+4))
		}
	}
}

// writeEdges writes a line from each parent to each child, as wide as its share allows.
// Lit lines come last, above the others.
func (t *Tree) writeEdges(b *bufio.Writer, p *Placed) {
	const thin, thick = 1, 13
	for _, lit := range []bool{false, true} {
		for i := range t.Nodes {
			from := p.Boxes[i]
			for _, child := range t.Nodes[i].Children {
				n, to := &t.Nodes[child], p.Boxes[child]
				if n.Lit != lit {
					continue
				}
				class := "et-edge"
				if lit {
					class += " et-lit"
				}
				x := from.X + from.Width
				middle := (max(x, to.X-levelGap) + to.X) / 2
				printf(b, `<path class="%s" stroke-width="%.1f" d="M%s %sH%sC%s %s %s %s %s %s"/>`+"\n", class,
					thin+float64((thick-thin)*math.Sqrt(max(0, min(1, n.Share)))), pixels(x), pixels(from.Middle()),
					pixels(max(x, to.X-levelGap)), pixels(middle), pixels(from.Middle()), pixels(middle), pixels(to.Middle()),
					pixels(to.X), pixels(to.Middle()))
			}
		}
	}
}

// run is a part of a line of text, in a style.
type run struct{ class, text string }

// lines returns the lines of text of a box.
func (n *Node) lines() [][]run {
	figures := n.Detail
	if n.Folded != "" {
		figures += " (" + n.Folded + ")"
	}
	return [][]run{{{"et-cond", n.Edge}}, {{"", n.Label}, {"et-note", figures}}}
}

// runGap is the space between two parts of a line, in pixels.
const runGap = 8

// lineWidth returns the width of a line of text, in pixels.
func lineWidth(line []run) float64 {
	width := -float64(runGap)
	for _, r := range line {
		size := cell
		if r.class == "et-cond" {
			size = boldCell
		}
		width += runGap + float64(size*float64(displayed(r.text)))
	}
	return width
}

// write writes a box with its text.
func (n *Node) write(b *bufio.Writer, at *Box, p *Placed) {
	class := "et-node"
	if n.Leaf {
		class += " et-leaf"
	}
	if n.Lit {
		class += " et-lit"
	}
	printf(b, `<g class="%s" data-node="%d"><title>%s</title>`, class, n.ID, escaped(n.Tip))
	round, more := 4, ""
	if n.Folded != "" {
		more = ` stroke-dasharray="5 3"`
	}
	if p.Icicle {
		round, more = 0, more+` style="stroke-width:`+pixels(min(1, at.Height/8))+`"`
	}
	printf(b, `<rect class="et-box" x="%s" y="%s" width="%s" height="%s" rx="%d" fill="%s" fill-opacity="%.2f"%s/>`,
		pixels(at.X), pixels(at.Y), pixels(at.Width), pixels(at.Height), round, colour(n.Group).hex(), opacity(n.Strength), more)
	switch {
	case !p.Icicle:
		y := at.Y + textHeight + 2
		for _, line := range n.lines() {
			writeLine(b, at.X+padding, y, line)
			y += 15
		}
	case at.Height >= minText && at.Width == wideColumn:
		const most = (wideColumn - 2*padding) / 7 // characters
		writeLine(b, at.X+padding, at.Middle()+textHeight/2-2, []run{{"", cutMiddle(n.Edge, most)}})
	}
	printf(b, "</g>\n")
}

// writeLine writes a line of text.
func writeLine(b *bufio.Writer, x, y float64, line []run) {
	printf(b, `<text class="et-text" x="%s" y="%s">`, pixels(x), pixels(y))
	for k, r := range line {
		switch {
		case k > 0:
			printf(b, `<tspan class="%s" dx="%d">%s</tspan>`, r.class, runGap, escaped(r.text))
		case r.class != "":
			printf(b, `<tspan class="%s">%s</tspan>`, r.class, escaped(r.text))
		default:
			printf(b, "%s", escaped(r.text))
		}
	}
	printf(b, "</text>")
}

// cutMiddle shortens a text to a number of characters. It keeps both ends: a condition
// begins with the feature and ends with the value.
func cutMiddle(s string, most int) string {
	if displayed(s) <= most {
		return s
	}
	at, end := len(s), 0 // where the end begins, and its width
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if end += displayed(string(r)); end > most/2 {
			break
		}
		at -= size
	}
	return runewidth.Truncate(s, most-displayed(s[at:]), "..") + s[at:]
}

// opacity returns the opacity of a colour of a given strength. Text stays readable on it.
func opacity(strength float64) float64 { return 0.06 + float64(0.44*max(0, min(1, strength))) }

// rgb is a colour.
type rgb [3]float64

// colour returns the colour of a group. The first are told apart by readers who see few
// colours, too (Paul Tol's "bright"). Further groups have hues of their own.
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

// Fill returns the colour of the node's box on white paper, by red, green and blue from 0 to 1.
func (n *Node) Fill() [3]float64 {
	c := colour(n.Group).onWhite(opacity(n.Strength))
	for k := range c {
		c[k] /= 255
	}
	return c
}

// hex returns a colour as formats write it.
func (c rgb) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0])), int(math.Round(c[1])), int(math.Round(c[2])))
}

// onWhite returns a colour of a given opacity on white paper.
func (c rgb) onWhite(opacity float64) rgb {
	for k := range c {
		c[k] = 255 - float64(opacity*(255-c[k]))
	}
	return c
}

func pixels(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// displayed returns the width of a text in characters of the Latin alphabet.
func displayed(s string) int {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(s)
}

// escaped returns a text as XML and HTML have it, both in elements and in attributes.
// Characters that XML cannot have become U+FFFD.
func escaped(s string) string {
	if !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return c < ' ' || c > '~' || strings.IndexByte(`<>&"'`, c) >= 0
	}) {
		return s
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}

// printf writes to a buffered writer, which returns its first error from Flush.
func printf(b *bufio.Writer, format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) }
