package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/tree"
)

// drawing walks a tree depth first.
type drawing struct {
	tree   *tree.Tree
	costs  []float64
	ranges []*tree.ModelRange
	lines  []line
}

// line is the line of a node: its branches, its condition and its figures.
type line struct {
	branches           []branch // by level, from the root down
	condition          string
	share, paid, class string
	model              string // what the leaf's model can give; empty: there is none
}

// branch is the drawing of one level in a line.
type branch uint8

const (
	through branch = iota // a branch to a line further down passes
	nothing               // no branch passes
	child                 // the branch to this line, with others below
	last                  // the branch to this line, the last of its node
)

// glyphs draws a level in at most three characters, see indents.
func (b branch) glyphs(indent int) string {
	g := []rune([...]string{through: "│  ", nothing: "   ", child: "├─ ", last: "└─ "}[b])
	if indent == 2 {
		g[1] = ' '
	}
	return string(g[:indent])
}

// below returns the drawing of a node's branch in the lines of its descendants.
func (b branch) below() branch {
	if b == child {
		return through
	}
	return nothing
}

// The widest and the narrowest indent of a level.
const (
	wideIndent   = 3
	narrowIndent = 1
)

// drawn returns the branches before the condition.
func (l *line) drawn(indent int) string {
	var b strings.Builder
	for _, level := range l.branches {
		b.WriteString(level.glyphs(indent))
	}
	return b.String()
}

// left draws the condition behind its branches.
func (l *line) left(indent int) string { return l.drawn(indent) + l.condition }

// fitted shortens left to at most width characters. It leaves out the middle of the
// condition. If the branches take most of the width, it leaves out the first branches.
func (l *line) fitted(indent, width int) string {
	branches := l.drawn(indent)
	if most := width / 2; displayed(branches+l.condition) > width && displayed(branches) > most {
		levels := []rune(branches)
		branches = ellipsis + string(levels[len(levels)-most+len(ellipsis):])
	}
	return branches + cutMiddle(l.condition, width-displayed(branches))
}

// write draws the tree in lines of at most width characters; 0: of any length. If the
// lines are too long, it indents levels less, then leaves out the middles of conditions.
func (d *drawing) write(w io.Writer, width int) {
	d.costs, d.ranges = d.tree.Billed(), d.tree.ModelRanges()
	d.node(0, nil, "all rows")
	longest := func(of func(*line) string) int {
		n := 0
		for i := range d.lines {
			n = max(n, displayed(of(&d.lines[i])))
		}
		return n
	}
	const head = "class (* leaf)"
	paid := max(len("paid"), longest(func(l *line) string { return l.paid }), minPaid)
	class := max(1+len(head), longest(func(l *line) string { return l.class + l.model }))
	below := width > 0 && class > width/2 && d.tree.Modelled() // the models stand below their leaves
	if below {
		class = max(1+len(head), longest(func(l *line) string { return l.class }))
	}
	indent := wideIndent
	left := longest(func(l *line) string { return l.left(indent) })
	if width > 0 {
		most := width / 4
		if d.tree.Modelled() && !below {
			most = width / 2
		}
		class = min(class, max(1+len(head), most))
		room := max(minCondition, width-len(gap)-shareWidth-len(gap)-paid-1-class)
		for left > room && indent > narrowIndent {
			indent--
			left = longest(func(l *line) string { return l.left(indent) })
		}
		left = min(left, room)
	}
	printf(w, "%-*s  %*s  %*s  %s\n", left, "", shareWidth, "rows", paid, "paid", head)
	for i := range d.lines {
		l := &d.lines[i]
		text := l.class + l.model
		if below {
			text = l.class
		}
		printf(w, "%s  %*s  %s %s\n", aligned(l.fitted(indent, left), left, true), shareWidth, l.share,
			aligned(l.paid, paid, false), cutMiddle(text, class))
		if below && l.model != "" {
			printf(w, "%s\n", l.modelBelow(indent, width))
		}
	}
}

// modelBelow returns a line with what the model of the line's leaf can give.
func (l *line) modelBelow(indent, width int) string {
	under := line{branches: slices.Clone(l.branches), condition: strings.TrimSpace(l.class) + l.model}
	if k := len(under.branches); k > 0 {
		under.branches[k-1] = under.branches[k-1].below()
	}
	under.condition = "   " + strings.TrimPrefix(under.condition, "*")
	return under.fitted(indent, width)
}

const (
	shareWidth   = 7  // characters of the column of shares
	minPaid      = 6  // characters of the column of costs
	minCondition = 20 // least number of characters of a condition with its branches
)

// node adds the lines of a node and of all its descendants.
func (d *drawing) node(id int, branches []branch, condition string) {
	n := &d.tree.Nodes[id]
	share := 0.0
	if total := d.tree.Nodes[0].Weight; total > 0 {
		share = float64(n.Weight) / float64(total)
	}
	mark := " "
	if n.Leaf() {
		mark = "*"
	}
	model := ""
	if r := d.ranges[id]; r != nil {
		var features []string
		for _, f := range r.Features {
			features = append(features, d.tree.Features[f].Name)
		}
		model = fmt.Sprintf(", from %.2f to %.2f", r.Low, r.High)
		if len(features) > 0 {
			model += " with " + Listed(features, name)
		}
	}
	d.lines = append(d.lines, line{
		branches: branches, condition: condition, share: Percent(share), paid: number(d.costs[id]), model: model,
		class: fmt.Sprintf("%s%s %.2f", mark, name(d.tree.Label.Classes[n.Class]), n.Probabilities[n.Class]),
	})
	below := make([]branch, len(branches), len(branches)+1)
	copy(below, branches)
	if k := len(below); k > 0 { // descendants draw this node's branch only if it goes on below
		below[k-1] = below[k-1].below()
	}
	for i := range n.Branches {
		own := child
		if i == len(n.Branches)-1 {
			own = last
		}
		d.node(n.Branches[i].Child, append(below[:len(below):len(below)], own), d.condition(n, &n.Branches[i]))
	}
}

// cutMiddle shortens a text to a width. It keeps both ends: a condition begins with the
// feature and ends with the value.
func cutMiddle(s string, width int) string {
	if displayed(s) <= width {
		return s
	}
	tail := (width - len(ellipsis)) / 2
	end := []rune(s)
	for len(end) > 0 && displayed(string(end)) > tail {
		end = end[1:]
	}
	return terminal().Truncate(s, width-displayed(string(end)), ellipsis) + string(end)
}

// wrapLines writes a text with wrapped lines.
func wrapLines(w io.Writer, text string, width int) {
	for one := range strings.Lines(text) {
		printf(w, "%s\n", Wrapped(strings.TrimSuffix(one, "\n"), width, ""))
	}
}
