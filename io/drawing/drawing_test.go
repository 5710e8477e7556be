package drawing_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/io/drawing"
)

// grown returns a random tree of about so many nodes, whose nodes say their number.
func grown(r *rand.Rand, size int) *drawing.Tree {
	t := &drawing.Tree{Title: "a tree", Groups: []string{"no", "yes"}, Nodes: []drawing.Node{{Edge: "all rows", Share: 1}}}
	for at := 0; at < len(t.Nodes); at++ {
		if at > 0 && r.IntN(3) == 0 || len(t.Nodes) >= size {
			continue
		}
		children := 2 + r.IntN(3)*r.IntN(2)
		for range children {
			t.Nodes[at].Children = append(t.Nodes[at].Children, len(t.Nodes))
			t.Nodes = append(t.Nodes, drawing.Node{
				Edge: strings.Repeat("x", r.IntN(30)), Label: "yes", Share: t.Nodes[at].Share / float64(children), Group: r.IntN(12),
				Strength: r.Float64(), Lit: r.IntN(9) == 0,
			})
		}
	}
	for i := range t.Nodes {
		t.Nodes[i].ID, t.Nodes[i].Leaf = 10*i, len(t.Nodes[i].Children) == 0
	}
	return t
}

// TestLayout: no two boxes overlap, all lie within the drawing, children stand to the right
// of their parents and below each other in their order, and a small tree's parent stands in
// the middle of its children, a large one's beside the first.
func TestLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 7, 30, 120, 400, 1500, 3000} {
		for range 5 {
			one := grown(r, size)
			p := drawing.Layout(one)
			if p.Icicle != (len(one.Nodes) > 2000) { // so few nodes have fewer than 60 levels
				t.Fatalf("%d nodes: icicle %v", len(one.Nodes), p.Icicle)
			}
			checkBoxes(t, p)
			for i := range one.Nodes {
				children, b := one.Nodes[i].Children, p.Boxes[i]
				for k, child := range children {
					c := p.Boxes[child]
					if c.X < b.X+b.Width-1e-9 || k > 0 && c.Y < p.Boxes[children[k-1]].Y+p.Boxes[children[k-1]].Height-1e-6 {
						t.Fatalf("node %d: child %d at %v, parent at %v", i, child, c, b)
					}
				}
				if len(children) == 0 || p.Icicle {
					continue
				}
				want := p.Boxes[children[0]].Middle()
				if len(one.Nodes) <= 150 {
					want = (want + p.Boxes[children[len(children)-1]].Middle()) / 2
				}
				if math.Abs(b.Middle()-want) > 1e-6 {
					t.Fatalf("node %d of %d: middle %v, want %v", i, len(one.Nodes), b.Middle(), want)
				}
			}
		}
	}
}

// checkBoxes checks that no two boxes overlap. All lie within the drawing.
func checkBoxes(t *testing.T, p *drawing.Placed) {
	t.Helper()
	sorted := slices.Clone(p.Boxes)
	slices.SortFunc(sorted, func(a, b drawing.Box) int {
		switch {
		case a.X != b.X:
			return int(math.Copysign(1, a.X-b.X))
		case a.Y != b.Y:
			return int(math.Copysign(1, a.Y-b.Y))
		}
		return 0
	})
	for i, b := range sorted {
		if b.X < 0 || b.Y < -1e-6 || b.X+b.Width > p.Width+1e-6 || b.Y+b.Height > p.Height+1e-6 {
			t.Fatalf("%v lies outside of %v x %v", b, p.Width, p.Height)
		}
		if i > 0 && sorted[i-1].X == b.X && sorted[i-1].Y+sorted[i-1].Height > b.Y+1e-6 {
			t.Fatalf("%v and %v overlap", sorted[i-1], b)
		}
	}
}

// TestLayoutByHand: a leaf next to a deep subtree does not push the boxes below it down.
func TestLayoutByHand(t *testing.T) {
	// 0 has 1 (with 3, 4) and 2 (a leaf).
	one := &drawing.Tree{Nodes: []drawing.Node{{Children: []int{1, 2}}, {Children: []int{3, 4}}, {}, {}, {}}}
	p := drawing.Layout(one)
	var middles []float64
	for _, b := range p.Boxes {
		middles = append(middles, b.Middle())
	}
	if want := []float64{55, 36, 74, 17, 55}; !slices.Equal(middles, want) {
		t.Errorf("middles %v, want %v", middles, want)
	}
}

// TestLayoutOfChain: a deep tree of few nodes is an icicle.
func TestLayoutOfChain(t *testing.T) {
	one := &drawing.Tree{Nodes: []drawing.Node{{Share: 1}}}
	for i := range 200 {
		one.Nodes[i].Children = []int{i + 1}
		one.Nodes = append(one.Nodes, drawing.Node{Share: 1 / float64(i+2)})
	}
	if p := drawing.Layout(one); !p.Icicle || p.Width > 30_000 {
		t.Errorf("icicle %v, width %v", p.Icicle, p.Width)
	}
}

// nasty are texts that a format may stumble over.
func nasty() []string {
	return []string{
		`<script>alert(1)</script>`, `</text></svg><script>alert(1)</script>`, `"quoted" 'and' & back\slash \N \l \`,
		"two\nlines\r\n", "NUL \x00 bell \a", "invalid \xff\xfe", "bidi \u202e\u2066 text", strings.Repeat("long ", 2000),
		"]]>", "<!-- x -->", "&amp;", "%s%d", "", "-->", "日本語 🌳",
	}
}

func nastyTree() *drawing.Tree {
	texts := nasty()
	t := &drawing.Tree{Title: strings.Join(texts, " "), Notes: texts, Groups: texts, Nodes: []drawing.Node{{ID: 0, Share: 1}}}
	for i, s := range texts {
		t.Nodes[0].Children = append(t.Nodes[0].Children, i+1)
		t.Nodes = append(t.Nodes, drawing.Node{
			ID: i + 1, Edge: s, Label: s, Detail: s, Tip: s, Folded: s, Group: i, Leaf: true, Share: 0.1, Lit: i%2 == 0,
		})
	}
	return t
}

// TestSVG parses drawings by encoding/xml: one element for each node, its texts as they are
// but for what XML cannot have, and no element that a text has brought in.
func TestSVG(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, one := range []*drawing.Tree{nastyTree(), grown(r, 1), grown(r, 300), grown(r, 4000)} {
		var b bytes.Buffer
		if err := drawing.SVG(&b, one); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Error("not UTF-8")
		}
		nodes, titles := elements(t, b.Bytes())
		if p := drawing.Layout(one); !p.Icicle && nodes != len(one.Nodes) {
			t.Errorf("%d elements of nodes, want %d", nodes, len(one.Nodes))
		}
		for i := range one.Nodes {
			clean := strings.Map(func(r rune) rune {
				if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
					return utf8.RuneError
				}
				return r
			}, string([]rune(one.Nodes[i].Tip)))
			if clean != "" && !titles[clean] {
				t.Errorf("no title %.80q", clean)
			}
		}
		var again bytes.Buffer
		if err := drawing.SVG(&again, one); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
			t.Error("two drawings of a tree differ")
		}
	}
}

// elements reads an SVG document. It returns the number of nodes, and all titles.
func elements(t *testing.T, svg []byte) (nodes int, titles map[string]bool) {
	t.Helper()
	allowed := []string{"svg", "title", "style", "rect", "text", "g", "path"}
	titles = make(map[string]bool)
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nodes, titles
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch e := token.(type) {
		case xml.Comment:
			t.Errorf("a comment: %s", e)
		case xml.StartElement:
			if !slices.Contains(allowed, e.Name.Local) {
				t.Errorf("an element <%s>", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("an attribute %s", a.Name.Local)
				}
				if a.Name.Local == "data-node" {
					nodes++
				}
			}
			if e.Name.Local == "title" {
				var s string
				if err := d.DecodeElement(&s, &e); err != nil {
					t.Fatal(err)
				}
				titles[s] = true
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrorsAreReturned(t *testing.T) {
	if drawing.SVG(broken{}, nastyTree()) == nil {
		t.Error("no error")
	}
}
