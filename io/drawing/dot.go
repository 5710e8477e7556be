package drawing

import (
	"bufio"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Dot writes the tree as a graph for Graphviz, with as many nodes as the tree has.
func Dot(w io.Writer, t *Tree) error {
	b := bufio.NewWriter(w)
	printf(b, "digraph tree {\n  graph [rankdir=LR, nodesep=0.08, label=%s, labelloc=t, labeljust=l, "+
		"fontname=\"Helvetica\"];\n", dotText(strings.Join(append([]string{t.Title}, t.Notes...), "\n")))
	printf(b, "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10, margin=\"0.08,0.04\", "+
		"height=0.2];\n  edge [fontname=\"Helvetica\", fontsize=9, color=\"#8b949e\", arrowsize=0.5];\n")
	parents := t.parents()
	for i := range t.Nodes {
		n := &t.Nodes[i]
		label := n.Label
		if n.Folded != "" {
			label += " (" + n.Folded + ")"
		}
		if parents[i] < 0 {
			label = n.Edge + "\n" + label
		}
		more := ""
		if n.Leaf {
			more = ", penwidth=1.5"
		}
		if n.Folded != "" {
			more = `, style="filled,dashed"`
		}
		if n.Lit {
			more += `, color="#cf222e", penwidth=3`
		}
		printf(b, "  n%d [label=%s, tooltip=%s, fillcolor=\"%s\"%s];\n", n.ID, dotText(label+"\n"+n.Detail),
			dotText(n.Tip), colour(n.Group).onWhite(opacity(n.Strength)).hex(), more)
	}
	for i := range t.Nodes {
		if parents[i] < 0 {
			continue
		}
		n, more := &t.Nodes[i], ""
		if n.Lit {
			more = `, color="#cf222e"`
		}
		printf(b, "  n%d -> n%d [label=%s, penwidth=%.1f%s];\n", t.Nodes[parents[i]].ID, n.ID, dotText(n.Edge),
			1+float64(5*math.Sqrt(max(0, min(1, n.Share)))), more)
	}
	printf(b, "}\n")
	return b.Flush()
}

// maxDotText is the greatest number of characters of a text: Graphviz refuses very long
// ones.
const maxDotText = 2000

// dotText returns a text as a quoted string of the dot language. Backslashes are doubled, because
// labels give meaning to a backslash before some letters. Ampersands are spelled as in HTML,
// because labels interpret its entities. Lines are aligned to the left.
func dotText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for _, r := range s {
		if n++; n > maxDotText {
			b.WriteString("..")
			break
		}
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\l`)
		case r == '&':
			b.WriteString("&amp;")
		case r < ' ' || r == utf8.RuneError || r == 0x7f:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	if strings.Contains(s, "\n") { // else the last line is centred
		b.WriteString(`\l`)
	}
	b.WriteByte('"')
	return b.String()
}
