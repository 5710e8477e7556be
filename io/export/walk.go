package export

import (
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// Bounds of a function's nodes, and of the nesting of its conditions: compilers take long for more,
// and some refuse it.
const (
	mostNodes   = 250
	mostNesting = 12
)

// levels returns how deeply conditions may be nested.
func (l *language) levels() int {
	if l.nesting > 0 {
		return l.nesting
	}
	return mostNesting
}

// cut divides the tree into functions, and writes each.
func (p *program) cut() {
	leaves := make(map[int]int, len(p.Leaves))
	for i := range p.Leaves {
		leaves[p.Leaves[i].Node] = i
	}
	p.calls[0] = 0
	for roots := []int{0}; len(roots) > 0; roots = roots[1:] {
		w := &writer{program: p, leaves: leaves, called: len(p.calls)}
		w.plan(roots[0])
		for _, root := range w.rest {
			p.calls[root] = len(p.calls)
			roots = append(roots, root)
		}
		w.node(roots[0], 1)
		f := function{Number: p.calls[roots[0]], Nodes: w.nodes, Lines: w.lines}
		for _, root := range w.rest {
			f.Calls = append(f.Calls, p.calls[root])
		}
		p.Walk = append(p.Walk, f)
	}
}

// writer writes one function.
type writer struct {
	*program

	leaves map[int]int // index by node
	called int
	nodes  int
	within map[int]bool // nodes of the function
	rest   []int        // nodes with which other functions begin
	lines  []string
}

// plan finds the nodes of the function, level by level.
func (w *writer) plan(root int) {
	w.within = map[int]bool{root: true}
	level := []int{root}
	for depth := 0; len(level) > 0; depth++ {
		var next []int
		for _, id := range level {
			for _, b := range w.tree.Nodes[id].Branches {
				leaf := w.tree.Nodes[b.Child].Leaf()
				if leaf || depth+1 < w.language.levels() && len(w.within) < mostNodes {
					w.within[b.Child] = true
					next = append(next, b.Child)
				} else {
					w.rest = append(w.rest, b.Child)
				}
			}
		}
		level = next
	}
	w.nodes = len(w.within)
}

func (w *writer) line(depth int, format string, args ...any) {
	w.lines = append(w.lines, strings.Repeat(w.language.indent, depth)+fmt.Sprintf(format, args...))
}

func (w *writer) node(id, depth int) {
	n := &w.tree.Nodes[id]
	l := w.language
	switch {
	case n.Leaf():
		leaf := &w.Leaves[w.leaves[id]]
		comment := fmt.Sprintf("leaf %d: %s", id, short(w.Label.Classes[n.Class]))
		if k := w.Label.Positive(); k >= 0 {
			of := ""
			if textview.Counted(w.tree, n) {
				of = fmt.Sprintf(", %d of %d rows", n.RawClassWeights[k], n.Rows)
			}
			comment += fmt.Sprintf(" (%s %s%s)", short(w.Label.Classes[k]), textview.Probability(n.Probabilities[k]), of)
		}
		w.line(depth, "%s", fmt.Sprintf(l.leaf, leaf.Index)+l.remark(comment))
	case !w.within[id]:
		w.line(depth, "%s", l.call(w.calls[id]))
	case n.Test.Kind == split.Multiway:
		w.multiway(n, depth)
	default:
		yes, no := n.Branches[0], n.Branches[1]
		if yes.Outcome == 0 {
			yes, no = no, yes
		}
		w.line(depth, l.open, w.condition(n))
		w.node(yes.Child, depth+1)
		w.line(depth, "%s", l.otherwise)
		w.node(no.Child, depth+1)
		w.end(depth)
	}
}

func (w *writer) end(depth int) {
	if w.language.end != "" {
		w.line(depth, "%s", w.language.end)
	}
}

// multiway writes a branch for each value; the branch that takes unlisted values comes last.
func (w *writer) multiway(n *tree.Node, depth int) {
	l := w.language
	f := &w.tree.Features[n.Test.Feature]
	text := fmt.Sprintf(l.textOf, w.Features[n.Test.Feature].Const)
	first := true
	var last *tree.Branch
	for i := range n.Branches {
		b := &n.Branches[i]
		var conditions []string
		if b.Missing {
			conditions = append(conditions, fmt.Sprintf(l.lacking, text))
		}
		if b.Outcome < len(f.Values) {
			conditions = append(conditions, fmt.Sprintf(l.same, text, l.text(f.Values[b.Outcome])))
		}
		if b.Other {
			last = b
			continue
		}
		open := l.open
		if !first {
			open = l.elseIf
		}
		w.line(depth, open, strings.Join(conditions, l.or))
		w.node(b.Child, depth+1)
		first = false
	}
	w.line(depth, "%s", l.otherwise)
	w.node(last.Child, depth+1)
	w.end(depth)
}

// condition returns the condition of a test's yes branch.
func (w *writer) condition(n *tree.Node) string {
	l := w.language
	t := n.Test
	f := &w.tree.Features[t.Feature]
	constant := w.Features[t.Feature].Const
	number := fmt.Sprintf(l.numberOf, constant)
	text := fmt.Sprintf(l.textOf, constant)
	switch t.Kind {
	case split.Threshold:
		return number + " >= " + l.number(f.Cuts[t.Code-1])
	case split.Bin:
		from := t.Code > 0
		to := t.Code+t.Span < len(f.Cuts)
		switch {
		case from && to:
			return fmt.Sprintf(l.between, number, l.number(f.Cuts[t.Code-1]), l.number(f.Cuts[t.Code+t.Span]))
		case from:
			return number + " >= " + l.number(f.Cuts[t.Code-1])
		case to:
			return number + " < " + l.number(f.Cuts[t.Code+t.Span])
		default:
			return fmt.Sprintf(l.present, number)
		}
	case split.Equals:
		return fmt.Sprintf(l.same, text, l.text(f.Values[t.Code]))
	case split.Other, split.In:
		values, inverse := tree.Deciding(f, &t.Test)
		return l.member(text, w.set(values), values, inverse)
	default: // missing values; multiway tests have no single condition
		if f.Kind == dataset.Numeric {
			return fmt.Sprintf(l.missing, number)
		}
		return fmt.Sprintf(l.lacking, text)
	}
}
