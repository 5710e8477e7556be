package svg_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/svg"
)

// drawn returns a document with these elements.
func drawn(t *testing.T, d *svg.Document, drawing func(c *svg.Canvas)) string {
	t.Helper()
	c := new(svg.Canvas)
	drawing(c)
	var b bytes.Buffer
	if err := c.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestElements: each element as SVG has it, by hand.
func TestElements(t *testing.T) {
	at := svg.Point{X: 10, Y: 20}
	path := new(svg.Path)
	path.Move(at)
	path.Curve(at.Plus(1, 0), at.Plus(2, 0), at.Plus(3, 1))
	for want, drawing := range map[string]func(c *svg.Canvas){
		`<path stroke="#0072b2" fill="none" stroke-width="1.5" stroke-dasharray="4 3" d="M10 20L12 20"/>`: func(c *svg.Canvas) {
			c.Lines(svg.Line(svg.Blue, 1.5, 4, 3), at, at.Plus(2, 0))
		},
		`<path class="es-lit-line" fill="none" d="M10 20C11 20 12 20 13 21"/>`: func(c *svg.Canvas) {
			c.Path(svg.Line(svg.Lit, 1), path)
		},
		`<rect fill="#56b4e9" fill-opacity="0.5" x="1" y="2" width="3" height="4" rx="2"/>`: func(c *svg.Canvas) {
			c.Rect(svg.Area(svg.Sky).Pale(0.5), svg.Box{Left: 1, Top: 2, Right: 4, Bottom: 6}, 2)
		},
		`<circle class="es-ink" cx="10" cy="20" r="4"/>`: func(c *svg.Canvas) { c.Circle(svg.Area(svg.Ink), at, 4) },
		`<path class="es-ink" d="M10 17.5L12.17 21.25L7.83 21.25Z"/>`: func(c *svg.Canvas) {
			c.Triangle(svg.Area(svg.Ink), at, 2)
		},
		"<g class=\"a\" data-b=\"1\"><title>&lt;tip&gt;</title></g>\n": func(c *svg.Canvas) {
			c.Group("a", "<tip>", ` data-b="1"`, func() {})
		},
		// Widths are the widths in the font's file: 569 for a blank, 1366 for A, 1479 for a bold A,
		// of 2048.
		`<text class="es-soft" x="10" y="24.32" textLength="8" lengthAdjust="spacingAndGlyphs">A</text>`: func(c *svg.Canvas) {
			c.Text(svg.Text{Colour: svg.Soft}, at, "A")
		},
		`<text class="es-bold" font-size="15" x="10" y="25.4" text-anchor="end" textLength="10.83" ` +
			`lengthAdjust="spacingAndGlyphs">A</text>`: func(c *svg.Canvas) {
			c.Text(svg.Text{Size: svg.HeadSize, Bold: true, Align: svg.Right}, at, "A")
		},
		`<text x="14.32" y="20" text-anchor="middle" transform="rotate(-90 14.32 20)">` + "\u65e5</text>": func(c *svg.Canvas) {
			c.Text(svg.Text{Align: svg.Middle, Turned: true}, at, "\u65e5")
		},
	} {
		got := drawn(t, &svg.Document{Width: 100, Height: 50}, drawing)
		if !strings.Contains(got, want) {
			t.Errorf("no\n%s in\n%s", want, got)
		}
	}
	nothing := func(c *svg.Canvas) {
		c.Lines(svg.Line(svg.Ink, 1))
		c.Polygon(svg.Area(svg.Ink), nil)
		c.Text(svg.Text{}, at, "")
	}
	if got := drawn(t, &svg.Document{Width: 100, Height: 50, Bare: true}, nothing); strings.Count(got, "<") != 5 {
		t.Errorf("elements of nothing: %s", got) // svg and title, which end, and the page
	}
}

// TestDocument: names become neither elements nor attributes, and the style stays in one element.
func TestDocument(t *testing.T) {
	for _, name := range pagetest.Names() {
		got := drawn(t, &svg.Document{Title: name, Description: name, Width: 200, Height: 100, Pixels: 400},
			func(c *svg.Canvas) {
				c.Group("es-node", name, "", func() { c.Text(svg.Text{}, svg.Point{}, name) })
			})
		var elements []string
		for d := xml.NewDecoder(strings.NewReader(got)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements = append(elements, e.Name.Local)
			}
		}
		want := "svg title desc style rect g title text"
		if name == "" {
			want = "svg title style rect g"
		}
		if got := strings.Join(elements, " "); got != want {
			t.Errorf("%q: elements %s, want %s", name, got, want)
		}
		if !strings.Contains(got, ` width="400" height="200" viewBox="0 0 200 100" `) {
			t.Errorf("%.200s", got)
		}
	}
}

// TestFit: a text that is too wide keeps both ends, and lines break at blanks.
func TestFit(t *testing.T) {
	words := svg.Text{}
	for _, name := range append(pagetest.Names(), "Horizontal_Distance_To_Hydrology", strings.Repeat("W", 1000)) {
		for _, width := range []float64{10, 50, 120} {
			got := words.Fit(name, width)
			if words.Width(got) > width && got != ".." {
				t.Errorf("%q is wider than %v", got, width)
			}
			begin, end, cut := strings.Cut(got, "..")
			if cut && got != name && (!strings.HasPrefix(name, begin) || !strings.HasSuffix(name, end)) {
				t.Errorf("%q of %q", got, name)
			}
		}
	}
	if got := strings.Join(words.Wrap("one two three", words.Width("one two")), "|"); got != "one two|three" {
		t.Errorf("lines %s", got)
	}
	bold := svg.Text{Bold: true}
	// By the font's file: H 1479, e 1139 and 1139, l 455 and 569, o 1139 and 1251.
	for _, c := range []struct {
		text svg.Text
		want float64
	}{{words, (1479 + 1139 + 2*455 + 1139) * 12. / 2048}, {bold, (1479 + 1139 + 2*569 + 1251) * 12. / 2048}} {
		if got := c.text.Width("Hello"); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("width %v, want %v", got, c.want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestWriteError: an error of the writer is returned.
func TestWriteError(t *testing.T) {
	if err := new(svg.Canvas).Write(broken{}, &svg.Document{Width: 1, Height: 1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}
