package treepage

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/espalier-ml/espalier/io/drawing"
	"github.com/espalier-ml/espalier/io/pagestyle"
	"github.com/espalier-ml/espalier/io/report"
)

//go:embed page.html
var source string

// page is what the page shows.
type page struct {
	Style   template.CSS
	Title   string
	Notes   []string
	Path    *report.PathTable
	Root    *node
	Drawing template.HTML
}

// node is a line of the tree with the lines below it.
type node struct {
	*drawing.Node

	Children []*node
	Open     bool
	Percent  string
}

// openLevels is the number of levels that are open when the page opens.
const openLevels = 3

// Write writes the page of a view: its notes, the path of its row, its tree as lists that
// open and close, and its drawing.
func Write(w io.Writer, v *report.View) error {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return err
	}
	picture := report.Picture(v)
	bare := *picture // the page has the notes
	bare.Notes = nil
	var svg bytes.Buffer
	if err := drawing.SVG(&svg, &bare); err != nil {
		return err
	}
	p := page{
		Style: template.CSS(pagestyle.CSS()), //nolint:gosec // the style is this program's own
		Title: clean(picture.Title), Root: lines(picture), Path: report.NewPathTable(v),
		Drawing: template.HTML(svg.String()), //nolint:gosec // drawing.SVG has escaped all texts
	}
	for _, note := range picture.Notes {
		p.Notes = append(p.Notes, clean(note))
	}
	return t.Execute(w, p)
}

// lines returns the nodes of a drawing as lines below each other.
func lines(t *drawing.Tree) *node {
	nodes, depth := make([]node, len(t.Nodes)), make([]int, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		nodes[i] = node{Node: n, Percent: fmt.Sprintf("%.1f", 100*n.Share), Open: depth[i] < openLevels || n.Lit}
		for _, child := range n.Children {
			depth[child] = depth[i] + 1
			nodes[i].Children = append(nodes[i].Children, &nodes[child])
		}
	}
	return &nodes[0]
}

// clean replaces what HTML cannot have.
func clean(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
