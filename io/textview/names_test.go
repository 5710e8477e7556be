package textview_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/pagetest"
	"github.com/espalier-ml/espalier/io/textview"
)

// The elements and attributes of a drawing.
const (
	elements   = "svg title style rect g text path"
	attributes = "xmlns class width height viewBox x y rx fill fill-opacity transform data-node stroke-width stroke-dasharray d " +
		"font-size textLength lengthAdjust role aria-label"
)

// TestNames: names that look like markup, break lines or turn the direction of a text do
// none of this in any output; a drawing has no elements of theirs.
func TestNames(t *testing.T) {
	lit := pagetest.View(t)
	plain := &textview.View{Tree: lit.Tree}
	for name, write := range map[string]func(io.Writer) error{
		"text":   func(w io.Writer) error { return textview.Shown(w, plain) },
		"narrow": func(w io.Writer) error { return textview.Shown(w, &textview.View{Tree: lit.Tree, Width: 60}) },
		"rules":  func(w io.Writer) error { return textview.Rules(w, plain) },
		"path":   func(w io.Writer) error { return textview.Path(w, lit) },
		"svg":    func(w io.Writer) error { return drawing.SVG(w, textview.Picture(lit)) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pagetest.CheckText(t, name, b.String())
		if b.Len() > 1<<20 {
			t.Errorf("%s: %d bytes", name, b.Len())
		}
		if name == "svg" {
			pagetest.CheckMarkup(t, name, b.String(), elements, attributes)
		}
	}
}
