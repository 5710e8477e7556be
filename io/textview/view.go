package textview

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// View selects the part of a tree to show.
type View struct {
	Tree  *tree.Tree
	Node  int // the node at the top, a node of the tree
	Depth int // levels of tests shown below it; WholeDepth: all; FittingDepth: as many as fit on a page

	Width    int    // greatest number of characters of a line; 0: unlimited
	Coloured bool   // whether texts have colours for terminals
	Guess    string // says which class of interest is guessed, see Interested; empty: none
	Route    *Route // the path of a row, which drawings show regardless of the depth; optional

	brief int // for an Overview: the greatest number of nodes, with few figures each; otherwise 0
}

// Values of View.Depth.
const (
	WholeDepth   = 0
	FittingDepth = -1
)

// The greatest number of leaves of a tree that FittingDepth shows whole, and the greatest number of
// nodes that it shows of any other tree.
const (
	maxWholeLeaves = 500
	maxFittedNodes = 60
)

// part is the part of a tree that a view shows: the nodes at or below its top.
type part struct {
	*View

	costs  []float64 // by node: billed cost of its path
	depth  []int     // by node: number of tests above it; -1 if the node is not below the top
	open   []bool    // by node: whether its branches are shown
	leaves []int     // by node: number of leaves at or below it
	levels []int     // by node: number of tests on the longest path below it
	folded bool      // whether some inner node is not open
}

// newPart determines what is shown.
func (v *View) newPart() *part {
	nodes := v.Tree.Nodes
	_, costs := v.Tree.PathCosts()
	p := &part{
		View: v, costs: costs, depth: make([]int, len(nodes)), open: make([]bool, len(nodes)),
		leaves: make([]int, len(nodes)), levels: make([]int, len(nodes)),
	}
	p.measure()
	most := p.shownLevels()
	for i := range nodes {
		p.open[i] = !nodes[i].Leaf() && p.depth[i] >= 0 && p.depth[i] < most
	}
	if v.Route != nil {
		for _, step := range v.Route.Steps {
			p.open[step.Node] = p.depth[step.Node] >= 0
		}
	}
	for i := range nodes {
		p.folded = p.folded || p.depth[i] >= 0 && !nodes[i].Leaf() && !p.open[i]
	}
	return p
}

// measure sets depths, numbers of leaves and levels.
func (p *part) measure() {
	nodes := p.Tree.Nodes
	for i := range p.depth {
		p.depth[i] = -1
	}
	p.depth[p.Node] = 0
	for i := p.Node; i < len(nodes); i++ { // parents come before their children
		for _, b := range nodes[i].Branches {
			if p.depth[i] >= 0 {
				p.depth[b.Child] = p.depth[i] + 1
			}
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if nodes[i].Leaf() {
			p.leaves[i] = 1
		}
		for _, b := range nodes[i].Branches {
			p.leaves[i] += p.leaves[b.Child]
			p.levels[i] = max(p.levels[i], 1+p.levels[b.Child])
		}
	}
}

// shownLevels returns the number of levels of tests that are shown.
func (p *part) shownLevels() int {
	all := p.levels[p.Node]
	switch {
	case p.Depth == WholeDepth || p.Depth < 0 && p.brief == 0 && p.leaves[p.Node] <= maxWholeLeaves:
		return all
	case p.Depth > 0:
		return min(p.Depth, all)
	}
	byDepth := make([]int, all+1)
	for _, depth := range p.depth {
		if depth >= 0 {
			byDepth[depth]++
		}
	}
	most := cmp.Or(p.brief, maxFittedNodes)
	levels := 0
	nodes := byDepth[0]
	for levels < all && nodes+byDepth[levels+1] <= most {
		levels++
		nodes += byDepth[levels]
	}
	return max(1, levels)
}

// share returns the share of all training rows that reach a node, by weight.
func (p *part) share(node int) float64 {
	total := p.Tree.Nodes[0].Weight
	if total <= 0 {
		return 0
	}
	return float64(p.Tree.Nodes[node].Weight) / float64(total)
}

// percent returns the share in percent; empty for the training rows below a presence test that lack the value. They were
// not asked for it, and no row is where they are once its tests are done.
func (p *part) percent(node int) string {
	if p.share(node) == 0 && p.Tree.Nodes[node].Rows > 0 {
		return ""
	}
	return Percent(p.share(node))
}

// counted returns the rows at a node, in the given words, with their share in brackets.
func (p *part) counted(rows string, node int) string {
	if share := p.percent(node); share != "" {
		return rows + " (" + share + ")"
	}
	return rows
}

// verdict returns the class of a node and a probability.
func (p *part) verdict(node int) string {
	n := &p.Tree.Nodes[node]
	return verdict(&p.Tree.Label, n.Class, n.Probabilities, p.spelled)
}

// spelled writes a probability in few digits.
func (p *part) spelled(probability float64) string {
	if p.brief > 0 {
		return spell(probability, 100, 'f', 0) + " %"
	}
	return decimals(probability, 2)
}

// verdict returns a class and its probability or, if the tree names a class of interest, the probability of the class of
// interest, as in "well (ill 0.07)".
func verdict(l *tree.Label, class int, probabilities []float64, spelled func(float64) string) string {
	if k := l.Positive(); k >= 0 {
		return fmt.Sprintf("%s (%s %s)", name(l.Classes[class]), name(l.Classes[k]), spelled(probabilities[k]))
	}
	return name(l.Classes[class]) + " " + spelled(probabilities[class])
}

// ofClass returns how many training rows at a node are of the class that its probability is about; empty if rows have
// weights or probabilities of classes.
func (p *part) ofClass(node int) string {
	n := &p.Tree.Nodes[node]
	if !Counted(p.Tree, n) {
		return ""
	}
	return count(n.RawClassWeights[p.Tree.Label.Shown(n)], p.short())
}

// Counted reports whether the class weights of a node are numbers of training rows: rows have no weights, and no
// probabilities of classes.
func Counted(t *tree.Tree, n *tree.Node) bool {
	sum := portable.Sum(n.RawClassWeights)
	return t.Training.Weights == "" && t.Training.Scale() == 1 && sum == n.Rows
}

// OfInterest describes the class of interest at a node, as in "ill: 17 of 235 training rows"; empty if the tree does
// not name one, or if the rows at the node are not counted.
func OfInterest(t *tree.Tree, node int) string {
	n := &t.Nodes[node]
	k := t.Label.Positive()
	if k < 0 || !Counted(t, n) {
		return ""
	}
	return fmt.Sprintf("%s: %d of %s", name(t.Label.Classes[k]), n.RawClassWeights[k], plural(n.Rows, "training row"))
}

// Condition formats the condition of a node's branch: names are shortened, and missing values are
// mentioned only if training rows have some.
func Condition(t *tree.Tree, n *tree.Node, b *tree.Branch) string {
	return conditionOf(t, n, b, readable())
}

// conditionOf is Condition in another spelling.
func conditionOf(t *tree.Tree, n *tree.Node, b *tree.Branch, s *spelling) string {
	f := &t.Features[n.Test.Feature]
	c := newCondition(t, n, b, s)
	if b.Missing && c.lacks && f.Missing > 0 && !f.Unordered {
		c.text += " or missing"
	}
	return c.text
}

// top returns the condition of the node at the top.
func (p *part) top() string {
	if p.Node == 0 {
		return "all rows"
	}
	n := &p.Tree.Nodes[parentOf(p.Tree, p.Node)]
	for k := range n.Branches {
		if n.Branches[k].Child == p.Node {
			return Condition(p.Tree, n, &n.Branches[k])
		}
	}
	return ""
}

// parentOf returns the parent of a node that is not the root.
func parentOf(t *tree.Tree, node int) int {
	for i := range node {
		for _, b := range t.Nodes[i].Branches {
			if b.Child == node {
				return i
			}
		}
	}
	return 0
}

// way returns all conditions above the node at the top.
func (p *part) way() string {
	a := newAbove(p.Tree)
	for i := range p.Tree.Nodes {
		for k, b := range p.Tree.Nodes[i].Branches {
			a.enter(b.Child, i, k)
		}
	}
	return strings.Join(a.conditions(p.Node), " and ")
}

// leftOut describes the leaves below a node whose branches are not shown.
func (p *part) leftOut(node int) string {
	if p.open[node] || p.Tree.Nodes[node].Leaf() {
		return ""
	}
	return "+" + strconv.Itoa(p.leaves[node]) + " leaves"
}

// count formats a number of rows, in at most six characters if short is true.
func count(n int64, short bool) string {
	if !short || n < 100_000 {
		return strconv.FormatInt(n, 10)
	}
	x := float64(n) / 1e3
	unit := "k"
	for _, next := range []string{"M", "G", "T", "P"} {
		if x < 999.5 {
			break
		}
		x /= 1e3
		unit = next
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + unit
}

// maxBands is the greatest number of lines of the table by depth.
const maxBands = 24

// ByDepth returns a table of the nodes of a view by their depth: how many nodes and leaves there
// are, how many training rows end there, and what these rows pay on average.
func ByDepth(v *View) *Table { return v.newPart().byDepth() }

// byDepth returns a table of all nodes of the part by their depth.
func (p *part) byDepth() *Table {
	levels := p.levels[p.Node] + 1
	step := (levels + maxBands - 1) / maxBands
	table := NewTable(Column{Head: "tests asked"}, Column{Head: "nodes"}, Column{Head: "leaves"},
		Column{Head: "rows that end"}, Column{Head: "of all rows"}, Column{Head: "paid on average", Rank: 1})
	for from := 0; from < levels; from += step {
		to := min(from+step, levels) - 1
		nodes := 0
		leaves := 0
		rows := int64(0)
		weight := int64(0)
		paid := 0.0
		for i := range p.Tree.Nodes {
			n := &p.Tree.Nodes[i]
			if p.depth[i] < from || p.depth[i] > to {
				continue
			}
			if nodes++; n.Leaf() {
				leaves++
				rows += n.Rows
				weight += n.Weight
				paid += float64(p.costs[i] * float64(n.Weight))
			}
		}
		asked := strconv.Itoa(from)
		mean := "-"
		if to > from {
			asked += " to " + strconv.Itoa(to)
		}
		if weight > 0 {
			mean = strconv.FormatFloat(paid/float64(weight), 'g', 4, 64)
		}
		share := 0.0
		if total := p.Tree.Nodes[0].Weight; total > 0 {
			share = float64(weight) / float64(total)
		}
		table.Add(asked, strconv.Itoa(nodes), strconv.Itoa(leaves), strconv.FormatInt(rows, 10), Percent(share), mean)
	}
	return table
}

// writeByDepth writes the table of all nodes of the part by their depth.
func (p *part) writeByDepth(w io.Writer) {
	below := "the whole tree"
	if p.Node > 0 {
		below = "all below node " + strconv.Itoa(p.Node)
	}
	printf(w, "\n%s\n", Wrapped(below+" by depth (--depth 0 shows it, --node N a part)", p.Width, ""))
	_ = p.byDepth().Write(w, p.Width) // the writer keeps its first error
}

// ink writes texts in colours; its zero value writes them unchanged.
type ink struct{ on bool }

// The codes of colours for terminals.
const (
	faint = "2"
	bold  = "1"
)

// of returns a text in a colour.
func (k ink) of(code, text string) string {
	if !k.on || code == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// class returns the colour of a class. Even readers who see few colours can tell the first colours
// apart.
func (ink) class(class int) string {
	codes := []string{"36", "33", "35", "34", "32", "31"}
	return codes[class%len(codes)]
}
