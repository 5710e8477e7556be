package textview

import (
	"fmt"
	"strings"

	"github.com/espalier-ml/espalier/io/drawing"
)

// Picture returns a view as a drawing.
func Picture(v *View) *drawing.Tree {
	p := v.newPart()
	t := v.Tree
	lit := v.Route.lit()
	unit := ""
	if t.Algorithm.CostUnit != "" {
		unit = " " + name(t.Algorithm.CostUnit)
	}
	ranges := t.ModelRanges()
	d := &drawing.Tree{Title: v.title(), Notes: v.notes(p)}
	for _, class := range t.Label.Classes[:min(maxLegend, len(t.Label.Classes))] {
		d.Groups = append(d.Groups, name(class))
	}
	add := func(node int, edge, tip string) {
		n := &t.Nodes[node]
		least := 1 / float64(len(t.Label.Classes))
		strength := 1.0
		if least < 1 {
			strength = (n.Probabilities[n.Class] - least) / (1 - least)
		}
		paid := fmt.Sprintf(", paid %s%s", number(p.costs[node]), unit)
		d.Nodes = append(d.Nodes, drawing.Node{
			ID: node, Edge: edge, Label: p.verdict(node) + rangeOf(t, ranges[node]), Folded: p.leftOut(node), Leaf: n.Leaf(), Lit: lit[node],
			Share: p.share(node), Group: n.Class, Strength: strength,
			Detail: p.counted(count(n.Rows, false)+" rows", node) + paid,
			Tip:    fmt.Sprintf("node %d: %s\n%s%s, %s", node, tip, p.rows(node), paid, probabilities(v, node)),
		})
	}
	add(v.Node, p.top(), p.top())
	nodes := []int{v.Node} // by place in the drawing
	for at := 0; at < len(nodes); at++ {
		n := &t.Nodes[nodes[at]]
		if !p.open[nodes[at]] {
			continue
		}
		for k := range n.Branches {
			b := &n.Branches[k]
			d.Nodes[at].Children = append(d.Nodes[at].Children, len(nodes))
			nodes = append(nodes, b.Child)
			add(b.Child, Condition(t, n, b), cutMiddle(newCondition(t, n, b, exactly()).text, maxTip))
		}
	}
	return d
}

// maxTip is the greatest number of characters of a long text in a drawing, and maxLegend of
// classes in a legend.
const (
	maxTip    = 400
	maxLegend = 24
)

// title names the tree.
func (v *View) title() string {
	title := name(v.Tree.Label.Column) + " by " + describe(&v.Tree.Algorithm)
	if v.Node > 0 {
		title += fmt.Sprintf(", from node %d", v.Node)
	}
	return title
}

// notes describes in lines what the drawing shows.
func (v *View) notes(p *part) []string {
	c := &v.Tree.Complexity
	of := ""
	if d := v.Tree.Label.Decision; d != nil {
		of = " of " + name(d.Positive)
	}
	notes := []string{
		fmt.Sprintf("%d training rows, expected cost %s, %d leaves, depth %d", v.Tree.Training.Rows, Expected(v.Tree, number),
			c.Leaves, c.Depth),
		fmt.Sprintf("A node has its condition, its class with the probability%s, its rows and their share, and the cost paid so far.", of),
	}
	if v.Guess != "" {
		notes = append(notes, v.Guess)
	}
	if p.folded {
		notes = append(notes, "Dashed nodes have more nodes below, which are left out here.")
	}
	if r := v.Route; r != nil {
		notes = append(notes, fmt.Sprintf("In red: %s, to leaf %d, paid %s", quoted(r.Row), r.Leaf, number(r.standing.Paid)))
	}
	return notes
}

// probabilities lists the most probable classes of a node.
func probabilities(v *View, node int) string {
	n := &v.Tree.Nodes[node]
	var list []string
	for k, x := range n.Probabilities {
		if len(list) == maxListed {
			list = append(list, "..")
			break
		}
		list = append(list, name(v.Tree.Label.Classes[k])+" "+Probability(x))
	}
	return strings.Join(list, ", ")
}
