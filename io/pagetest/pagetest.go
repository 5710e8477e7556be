// Package pagetest contains helpers for tests of pages and drawings: hostile names, and readers of
// markup and of pictures.
package pagetest

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// Names returns names that a format may handle incorrectly.
func Names() []string {
	return []string{
		`<script>alert(1)</script>`, `</title></text></svg></style><img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`,
		`'quoted' "twice" \back\ & &lt; {{.Title}}`, "two\nlines\r\n\ttab", "NUL \x00 bell \a escape \x1b[31m",
		"bidi \u202e\u2066\u200f text", strings.Repeat("ten kilobytes ", 750), "]]> <!-- --> ?>", " ", "", "日本語 🌳 é",
	}
}

// Tree returns a tree that asks for features of all Names, in turn numeric and categorical.
func Tree() *tree.Tree {
	names := Names()
	m := &tree.Tree{
		Label:     tree.Label{Column: strings.Join(names[:7], " "), Classes: names},
		Algorithm: tree.Algorithm{Name: "c45", CostUnit: names[0]},
	}
	classes := make([]int64, len(names))
	node := func() tree.Node {
		return tree.Node{Rows: 1, Weight: 1, ClassWeights: classes, RawClassWeights: slices.Clone(classes)}
	}
	m.Nodes = []tree.Node{node()}
	for i, s := range names {
		f := dataset.Feature{Name: s, Kind: dataset.Categorical, Values: names, Cost: 1}
		test := split.Test{Feature: i, Kind: split.Equals, Code: i}
		if i%4 == 3 {
			f = dataset.Feature{Name: s, Kind: dataset.Numeric, Cuts: []float64{0.1, 4.017072740170225}, Cost: 1}
			test = split.Test{Feature: i, Kind: split.Threshold, Code: 2}
		}
		m.Features = append(m.Features, f)
		at := len(m.Nodes)
		last := &m.Nodes[at-1]
		if i == 0 {
			last = &m.Nodes[0]
		}
		last.Test = &tree.Test{Test: test, Cost: 1}
		last.Branches = []tree.Branch{{Outcome: 1, Child: at}, {Outcome: 0, Child: at + 1, Missing: true, Other: true}}
		m.Nodes = append(m.Nodes, node(), node())
		m.Nodes[at].RawClassWeights[i] = 1
	}
	m.Estimate(tree.Raw, 1)
	for i := range m.Nodes {
		m.Nodes[i].Class = i % len(names)
	}
	m.Measure()
	return m
}

// View returns a view of Tree with the path of a row, whose name and values are also hostile.
func View(t *testing.T) *textview.View {
	t.Helper()
	m := Tree()
	values := make([]tree.Value, len(m.Scorer().Features()))
	for i, in := range m.Scorer().Features() {
		if in.Kind == dataset.Categorical {
			values[i] = tree.Text("unlisted <b> \x00 \u202e")
		}
	}
	route, err := textview.NewRoute(m, values)
	if err != nil {
		t.Fatal(err)
	}
	route.Row = "row 1 of <i>\u202e\x00\n"
	return &textview.View{Tree: m, Route: route}
}

// CheckText fails for text that is not UTF-8, or contains characters that control a terminal or
// change the direction of a text.
func CheckText(t *testing.T, name, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", name)
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%s: a character %U", name, r)
		}
	}
}

// CheckMarkup reads HTML or SVG. It fails for elements and attributes other than the given ones,
// which are separated by blanks, and for external references.
func CheckMarkup(t *testing.T, name, text, elements, attributes string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!doctype html>\n")))
	d.Strict = false
	d.AutoClose = []string{"meta"}
	d.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Errorf("%s: %v", name, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.StartElement:
			open = append(open, e.Name.Local)
			if !slices.Contains(strings.Fields(elements), e.Name.Local) {
				t.Errorf("%s: an element <%s>", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if !slices.Contains(strings.Fields(attributes), a.Name.Local) {
					t.Errorf("%s: an attribute %s", name, a.Name.Local)
				}
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: open elements %v", name, open)
	}
	if strings.Contains(text, "http://") && strings.Count(text, "http://") != strings.Count(text, "http://www.w3.org/2000/svg") {
		t.Errorf("%s: a reference to elsewhere", name)
	}
}
