package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Text writes the tree as text: per node the condition that leads to it, its
// share of the training rows, its most probable class, and what has been paid
// for the tests asked so far.
func Text(w io.Writer, t *tree.Tree) error {
	b := bufio.NewWriter(w)
	c := &t.Complexity
	a := &t.Algorithm
	printf(b, "%s by %s: %d rows, expected cost %s (%s tests), %d leaves, depth %d\n\n",
		name(t.Label.Column), describe(a), t.Training.Rows, cost(t), number(c.ExpectedTests), c.Leaves, c.Depth)
	about(b, t)
	lines := (&drawing{tree: t}).draw()
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l.left))
	}
	printf(b, "%-*s  %7s  %6s  %s\n", width, "", "rows", "paid", "class (* leaf)")
	for _, l := range lines {
		printf(b, "%s%s  %s\n", l.left, strings.Repeat(" ", width-utf8.RuneCountInString(l.left)), l.right)
	}
	certificate(b, t)
	return b.Flush()
}

// printf writes to a writer that keeps its first error for Flush.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// cost spells the expected cost in its unit, and what is billed of it where that
// is not the same.
func cost(t *tree.Tree) string {
	s := number(t.Complexity.ExpectedCost)
	if unit := t.Algorithm.CostUnit; unit != "" {
		s += " " + name(unit)
	}
	if t.BillsApart() {
		billed, _ := t.Complexity.Billed()
		s += ", billed at " + number(billed)
	}
	return s
}

func describe(a *tree.Algorithm) string {
	s := a.Name
	if a.Name == split.EC45.String() || a.Name == split.ECART.String() {
		s += " (lambda " + number(a.Lambda) + ")"
	}
	return s
}

type line struct{ left, right string }

// drawing walks a tree depth first.
type drawing struct {
	tree  *tree.Tree
	costs []float64
	lines []line
}

func (d *drawing) draw() []line {
	d.costs = d.tree.Billed()
	d.node(0, "", "", "all rows")
	return d.lines
}

// node draws a node behind its prefix and all below it behind theirs.
func (d *drawing) node(id int, prefix, below, condition string) {
	n := &d.tree.Nodes[id]
	share := 0.0
	if total := d.tree.Nodes[0].Weight; total > 0 {
		share = 100 * float64(n.Weight) / float64(total)
	}
	mark := " "
	if n.Leaf() {
		mark = "*"
	}
	d.lines = append(d.lines, line{
		left: prefix + condition,
		right: fmt.Sprintf("%6.1f%%  %6s %s%s %.2f", share, number(d.costs[id]), mark,
			name(d.tree.Label.Classes[n.Class]), n.Probabilities[n.Class]),
	})
	for i, b := range n.Branches {
		branch, next := "├─ ", "│  "
		if i == len(n.Branches)-1 {
			branch, next = "└─ ", "   "
		}
		d.node(b.Child, below+branch, below+next, d.condition(n, &b))
	}
}

// Paths spells the conditions on the way to each leaf, in the order of the leaves'
// nodes.
func Paths(t *tree.Tree) []string {
	d := drawing{tree: t}
	ways, paths := make([]string, len(t.Nodes)), []string(nil)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			paths = append(paths, ways[i])
		}
		for _, b := range n.Branches {
			ways[b.Child] = d.condition(n, &b)
			if ways[i] != "" {
				ways[b.Child] = ways[i] + " and " + ways[b.Child]
			}
		}
	}
	return paths
}

// condition spells the way into a branch in the feature's own values.
func (d *drawing) condition(n *tree.Node, b *tree.Branch) string {
	f := &d.tree.Features[n.Test.Feature]
	column, yes := name(f.Name), b.Outcome == 1
	switch n.Test.Kind {
	case split.Threshold:
		return column + pick(yes, " >= ", " < ") + number(f.Cuts[n.Test.Code-1])
	case split.Bin:
		return bin(f, n.Test.Code, column, yes)
	case split.Equals:
		return column + pick(yes, " = ", " != ") + name(f.Values[n.Test.Code])
	case split.Multiway:
		return column + " " + outcome(f, b.Outcome)
	default:
		return column + pick(yes, " is ", " is not ") + n.Test.Kind.String()
	}
}

func outcome(f *dataset.Feature, code int) string {
	switch code {
	case f.MissingCode():
		return "is missing"
	case f.OtherCode():
		return "is other"
	default:
		return "= " + name(f.Values[code])
	}
}

func bin(f *dataset.Feature, code int, column string, yes bool) string {
	low, high := "", ""
	if code > 0 {
		low = number(f.Cuts[code-1])
	}
	if code < len(f.Cuts) {
		high = number(f.Cuts[code])
	}
	switch {
	case low == "":
		return column + pick(yes, " < ", " >= ") + high
	case high == "":
		return column + pick(yes, " >= ", " < ") + low
	default:
		return column + pick(yes, " in [", " not in [") + low + ", " + high + ")"
	}
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// number spells a number with as many digits as tell something.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// maxName is the number of characters of a name that are shown.
const maxName = 40

// name makes a column or value fit for a line of text: it may come from
// anywhere and hold anything.
func name(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxName {
			b.WriteString("...")
			break
		}
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	if n == 0 {
		return `""`
	}
	return b.String()
}
