package textview

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// sketch draws a part of a tree in lines of text, depth first.
type sketch struct {
	*part

	ranges []*tree.ModelRange
	lines  []line
}

// line is the line of a node: its branches, its condition and its figures.
type line struct {
	branches []branch // by level, from the root down
	condition,
	rows, ofClass, share, paid, node, class string
	p       string   // probability of the class of interest; empty if none is named
	shorter []string // the condition with fewer and fewer values of a set
	leaves  string   // number of leaves omitted below the node
	model   string   // range of the leaf's model; empty if the leaf has no model
	leaf    bool
	index   int // index of the class
}

// branch is the drawing of one level in a line.
type branch uint8

const (
	through branch = iota // a branch to a line further down passes through
	nothing               // no branch passes
	child                 // the branch to this line, with further branches below
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

// fitted shortens left to at most width characters. It leaves out values of a set, then the middle of the
// condition. If the branches take most of the width, it leaves out the first branches.
func (l *line) fitted(indent, width int) (drawn, condition string) {
	branches := l.drawn(indent)
	if most := width / 2; displayed(branches+l.condition) > width && displayed(branches) > most {
		levels := []rune(branches)
		branches = ellipsis + string(levels[len(levels)-most+len(ellipsis):])
	}
	condition = l.condition
	for _, shorter := range l.shorter {
		if displayed(condition) <= width-displayed(branches) {
			break
		}
		condition = shorter
	}
	return branches, cutMiddle(condition, width-displayed(branches))
}

// figure is a column to the right of the tree.
type figure struct {
	head  string
	of    func(*line) string
	rank  int // on a narrow page figures are dropped, starting with the highest rank; 0: never
	width int
}

// maxHead is the greatest width of a class as the head of a column.
const maxHead = 16

// figures returns the columns to the right of the tree for which a page has room, from left to
// right. class is the width of the classes after them.
func (d *sketch) figures(class int) (list []figure, taken int) {
	all := []figure{{head: "rows", of: func(l *line) string { return l.rows }}}
	right := figure{head: "right", of: func(l *line) string { return l.ofClass }, rank: 3}
	decision := d.Tree.Label.Decision
	if decision != nil {
		right.head = cutMiddle(name(decision.Positive), maxHead)
	}
	if d.ofClass(0) != "" {
		all = append(all, right)
	}
	if decision != nil {
		p := figure{head: "p", of: func(l *line) string { return l.p }}
		if d.ofClass(0) == "" {
			p.head = right.head
		}
		all = append(all, p)
	}
	if d.brief == 0 {
		all = append(all, figure{head: "share", of: func(l *line) string { return l.share }, rank: 1})
	}
	all = append(all, figure{head: "paid", of: func(l *line) string { return l.paid }, rank: 2})
	if d.brief == 0 && (d.Width == 0 || d.Width >= wide || d.folded) {
		all = append(all, figure{head: "node", of: func(l *line) string { return l.node }})
	}
	if d.folded {
		all = append(all, figure{head: "leaves", of: func(l *line) string { return l.leaves }})
	}
	for k := range all {
		f := &all[k]
		f.width = d.longest(len(f.head), f.of)
		taken += len(gap) + f.width
	}
	for rank := 3; rank > 0 && d.Width > 0 && minCondition+taken+1+class > d.Width; rank-- {
		at := slices.IndexFunc(all, func(f figure) bool { return f.rank == rank })
		if at < 0 {
			continue
		}
		taken -= len(gap) + all[at].width
		all = slices.Delete(all, at, at+1)
	}
	return all, taken
}

// longest returns the width of the longest text over all lines, and at least least.
func (d *sketch) longest(least int, of func(*line) string) int {
	for i := range d.lines {
		least = max(least, displayed(of(&d.lines[i])))
	}
	return least
}

// wide is the least width of a page with the numbers of the nodes, in characters.
const wide = 100

// short reports whether long numbers are shortened.
func (v *View) short() bool { return v.Width > 0 && v.Width < wide }

// write draws the tree. If the lines are too long, it indents levels less, then leaves out
// the middles of conditions.
func (d *sketch) write(w io.Writer) {
	d.ranges = d.Tree.ModelRanges()
	d.node(d.Node, nil, d.top())
	if d.brief > 0 && len(d.lines) > d.brief { // a node with many branches
		d.lines = d.lines[:d.brief]
	}
	head := "class (* leaf)"
	if d.Tree.Label.Decision != nil {
		head = "class *leaf" // there is one column more
	}
	class := d.longest(1+len(head), func(l *line) string { return l.class + l.model })
	below := d.Width > 0 && class > d.Width/2 && d.Tree.Modelled() // the models are written below their leaves
	if below {
		class = d.longest(1+len(head), func(l *line) string { return l.class })
	}
	if d.Width > 0 {
		most := d.Width / 4
		if d.Tree.Modelled() && !below {
			most = d.Width / 2
		}
		class = min(class, max(1+len(head), most))
	}
	columns, taken := d.figures(class)
	indent := wideIndent
	left := d.longest(0, func(l *line) string { return l.left(indent) })
	if d.Width > 0 {
		room := max(minCondition, d.Width-taken-1-class)
		for left > room && indent > narrowIndent {
			indent--
			left = d.longest(0, func(l *line) string { return l.left(indent) })
		}
		left = min(left, room)
	}
	colours := ink{d.Coloured}
	printf(w, "%s", strings.Repeat(" ", left))
	for _, c := range columns {
		printf(w, "%s%s", gap, colours.of(faint, aligned(c.head, c.width, false)))
	}
	printf(w, "  %s\n", colours.of(faint, head))
	for i := range d.lines {
		d.line(w, &d.lines[i], indent, left, class, columns, below)
	}
}

// line writes the line of a node.
func (d *sketch) line(w io.Writer, l *line, indent, left, class int, columns []figure, below bool) {
	colours := ink{d.Coloured}
	branches, condition := l.fitted(indent, left)
	printf(w, "%s%s%s", colours.of(faint, branches), condition, strings.Repeat(" ",
		max(0, left-displayed(branches)-displayed(condition))))
	for _, c := range columns {
		printf(w, "%s%s", gap, aligned(c.of(l), c.width, false))
	}
	text := l.class + l.model
	if below {
		text = l.class
	}
	code := faint
	if l.leaf {
		code = colours.class(l.index)
	}
	printf(w, " %s\n", colours.of(code, cutMiddle(text, class)))
	if below && l.model != "" {
		printf(w, "%s\n", l.modelBelow(indent, d.Width))
	}
}

// modelBelow returns a line with the range of the model of the line's leaf.
func (l *line) modelBelow(indent, width int) string {
	under := line{branches: slices.Clone(l.branches), condition: strings.TrimSpace(l.class) + l.model}
	if k := len(under.branches); k > 0 {
		under.branches[k-1] = under.branches[k-1].below()
	}
	under.condition = "   " + strings.TrimPrefix(under.condition, "*")
	branches, text := under.fitted(indent, width)
	return branches + text
}

// minCondition is the least number of characters of a condition with its branches.
const minCondition = 20

// node adds the lines of a node and of all its descendants that are shown.
func (d *sketch) node(id int, branches []branch, condition string, shorter ...string) {
	n := &d.Tree.Nodes[id]
	mark := " "
	if n.Leaf() {
		mark = "*"
	}
	p := ""
	class := d.verdict(id)
	if k := d.Tree.Label.Positive(); k >= 0 { // its probability has a column
		class = name(d.Tree.Label.Classes[n.Class])
		p = strings.ReplaceAll(d.spelled(n.Probabilities[k]), " ", "")
	}
	d.lines = append(d.lines, line{
		branches: branches, condition: condition, shorter: shorter, rows: count(n.Rows, d.short()), ofClass: d.ofClass(id), p: p, share: d.percent(id),
		paid: number(d.costs[id]), node: strconv.Itoa(id), leaves: strings.TrimSuffix(d.leftOut(id), " leaves"), model: rangeOf(d.Tree, d.ranges[id]),
		class: mark + class, leaf: n.Leaf(), index: n.Class,
	})
	if !d.open[id] {
		return
	}
	below := make([]branch, len(branches), len(branches)+1)
	copy(below, branches)
	if k := len(below); k > 0 { // descendants draw this node's branch only if it continues below
		below[k-1] = below[k-1].below()
	}
	for i := range n.Branches {
		own := child
		if i == len(n.Branches)-1 {
			own = last
		}
		b := &n.Branches[i]
		var shorter []string
		for most := listedValues - 1; most > 0 && n.Test.Kind == split.In; most-- {
			shorter = append(shorter, conditionOf(d.Tree, n, b, &spelling{name, Shortened, most}))
		}
		d.node(b.Child, append(below[:len(below):len(below)], own), Condition(d.Tree, n, b), shorter...)
	}
}

// rangeOf describes which probabilities the model of a leaf can give; r is nil without a model.
func rangeOf(t *tree.Tree, r *tree.ModelRange) string {
	if r == nil {
		return ""
	}
	var features []string
	for _, f := range r.Features {
		features = append(features, t.Features[f].Name)
	}
	text := fmt.Sprintf("from %s to %s", decimals(r.Low, 2), decimals(r.High, 2))
	if d := t.Label.Decision; d != nil {
		text = name(d.Positive) + " " + text
	}
	text = ", " + text
	if len(features) > 0 {
		text += " with " + Listed(features, name)
	}
	return text
}

// cutMiddle shortens a text to a width. It keeps both ends: a condition begins with the
// feature and ends with the value.
func cutMiddle(s string, width int) string {
	if displayed(s) <= width {
		return s
	}
	tail := (width - len(ellipsis)) / 2
	at := len(s) // where the end begins
	end := 0     // width of the end
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if end += terminal().RuneWidth(r); end > tail {
			break
		}
		at -= size
	}
	return terminal().Truncate(s, width-displayed(s[at:]), ellipsis) + s[at:]
}

// wrapLines writes a text with wrapped lines.
func wrapLines(w io.Writer, text string, width int) {
	for one := range strings.Lines(text) {
		printf(w, "%s\n", Wrapped(strings.TrimSuffix(one, "\n"), width, ""))
	}
}
