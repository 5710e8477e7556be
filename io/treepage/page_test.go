package treepage_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/treepage"
)

// What a page and its drawing have.
const (
	elements = "html head meta title style body main h1 h2 p table thead tbody tr th td div details summary " +
		"span i b svg rect g text path"
	attributes = "lang charset http-equiv content name class open title aria-hidden aria-label style " +
		"tabindex role xmlns width height viewBox x y rx fill fill-opacity transform data-node stroke-width stroke-dasharray d font-size " +
		"textLength lengthAdjust"
)

// TestNames: names that look like markup, break lines or turn the direction of a text do
// none of this in any output; HTML, SVG and dot have no elements of theirs.
func TestNames(t *testing.T) {
	lit := pagetest.View(t)
	m := lit.Tree
	plain := &report.View{Tree: m}
	for name, write := range map[string]func(io.Writer) error{
		"text":   func(w io.Writer) error { return report.Shown(w, plain) },
		"narrow": func(w io.Writer) error { return report.Shown(w, &report.View{Tree: m, Width: 60}) },
		"rules":  func(w io.Writer) error { return report.Rules(w, plain) },
		"path":   func(w io.Writer) error { return report.Path(w, lit) },
		"svg":    func(w io.Writer) error { return drawing.SVG(w, report.Picture(lit)) },
		"dot":    func(w io.Writer) error { return drawing.Dot(w, report.Picture(lit)) },
		"html":   func(w io.Writer) error { return treepage.Write(w, lit) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pagetest.CheckText(t, name, b.String())
		if b.Len() > 1<<20 {
			t.Errorf("%s: %d bytes", name, b.Len())
		}
		if name == "html" || name == "svg" {
			pagetest.CheckMarkup(t, name, b.String(), elements, attributes)
		}
	}
}

// TestPage: each node of a tree is one line of the list and one box of the drawing.
func TestPage(t *testing.T) {
	m := pagetest.Tree()
	var b bytes.Buffer
	if err := treepage.Write(&b, &report.View{Tree: m}); err != nil {
		t.Fatal(err)
	}
	leaves := m.CountLeaves()
	for text, want := range map[string]int{
		"<details": len(m.Nodes) - leaves, "</details>": len(m.Nodes) - leaves, `<div class="row"`: leaves,
		"data-node=": len(m.Nodes), "<table>": 0, "<script": 0,
	} {
		if got := strings.Count(b.String(), text); got != want {
			t.Errorf("%d times %q, want %d", got, text, want)
		}
	}
}
