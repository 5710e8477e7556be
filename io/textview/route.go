package textview

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Route is the path of a row through a tree, with the paid costs.
type Route struct {
	Row   string // names the row
	Steps []tree.PathStep
	Leaf  int // the node where the path ends

	standing tree.Standing
	model    []string // features of the leaf's model
	modelled bool
}

// NewRoute asks for the values of a row, one at a time and only for tests that the tree reaches, as
// tree.Inquiry does. values are in the order of Scorer.Features.
func NewRoute(t *tree.Tree, values []tree.Value) (*Route, error) {
	inquiry, err := t.Questions().Follow(values)
	if err != nil {
		return nil, err
	}
	r := &Route{Steps: inquiry.Path(), standing: inquiry.Standing()}
	r.Leaf = r.standing.Node
	r.model, r.modelled = inquiry.Model()
	return r, nil
}

// lit reports by node whether the route passes it; r may be nil.
func (r *Route) lit() map[int]bool {
	if r == nil {
		return nil
	}
	lit := map[int]bool{r.Leaf: true}
	for i := range r.Steps {
		lit[r.Steps[i].Node] = true
	}
	return lit
}

// Spelled formats the value of a feature: points in time in ISO 8601, and texts in quotes only if
// they could be mistaken for a missing value.
func Spelled(f *dataset.Feature, v tree.Value) string {
	text := v.String()
	if v.Missing() {
		return text
	}
	if strings.HasPrefix(text, `"`) {
		if plain, err := strconv.Unquote(text); err == nil && plain != "" && plain != "missing" {
			return plain
		}
		return text
	}
	if x, ok := dataset.Plain.Parse(text); ok && f.Unit != dataset.Plain {
		return f.Unit.Spell(x)
	}
	return text
}

// outside says that a value is outside the values of training: far outside if it is further away than their whole range is
// wide. It is empty for other values, and where the range is unknown.
func outside(f *dataset.Feature, v tree.Value) string {
	x, ok := dataset.Plain.Parse(v.String())
	if v.Missing() || !ok || len(f.Range) != 2 {
		return ""
	}
	low := f.Range[0]
	high := f.Range[1]
	by := max(low-x, x-high)
	if !(by > 0) {
		return ""
	}
	return fmt.Sprintf(", %soutside the values of training", pick(by > high-low, "far ", "")) // a report does not have the ends
}

// PathTable is the path of a row for reading.
type PathTable struct {
	Head  string // the row, its class, its leaf and the paid costs
	Model string // what the leaf's model uses; empty if the leaf has no model
	Steps []PathLine
}

// PathLine is a test on the path of a row: the row's value, the branch that it takes, the price,
// and the cost paid so far. Rows, Share and Class describe the node that the branch leads to.
type PathLine struct{ Node, Value, So, Price, Paid, Rows, Share, Class string }

// NewPathTable returns the path of a view's row; nil if the view has no row.
func NewPathTable(v *View) *PathTable {
	if v.Route == nil {
		return nil
	}
	p := v.newPart()
	r := v.Route
	t := &PathTable{}
	unit := ""
	class := "no class"
	if v.Tree.Algorithm.CostUnit != "" {
		unit = " " + name(v.Tree.Algorithm.CostUnit)
	}
	if k := slices.Index(v.Tree.Label.Classes, r.standing.Class); k >= 0 {
		class = verdict(&v.Tree.Label, k, r.standing.Probabilities, Probability)
	}
	t.Head = fmt.Sprintf("%s: %s = %s, leaf %d, after %s for %s%s", quoted(r.Row), name(v.Tree.Label.Column), class,
		r.Leaf, plural(int64(r.standing.Tests), "test"), number(r.standing.Paid), unit)
	if r.modelled {
		of := ""
		if len(r.model) > 0 {
			of = " of " + Listed(r.model, name)
		}
		t.Model = fmt.Sprintf("by the leaf's model%s; without it %s", of, p.verdict(r.Leaf))
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		n := &v.Tree.Nodes[s.Node]
		line := PathLine{
			Node: strconv.Itoa(s.Node), Value: name(v.Tree.Features[n.Test.Feature].Name) + " = " +
				name(Spelled(&v.Tree.Features[n.Test.Feature], s.Value)) + outside(&v.Tree.Features[n.Test.Feature], s.Value),
			Price: number(s.Cost), Paid: number(s.Paid), Rows: count(v.Tree.Nodes[s.Child].Rows, v.short()),
			Share: Percent(p.share(s.Child)), Class: p.verdict(s.Child),
		}
		for k := range n.Branches {
			if n.Branches[k].Child == s.Child {
				line.So = newCondition(v.Tree, n, &n.Branches[k], readable()).text
			}
		}
		t.Steps = append(t.Steps, line)
	}
	return t
}

// Path writes the path of a view's row as a table.
func Path(w io.Writer, v *View) error {
	b := bufio.NewWriter(w)
	t := NewPathTable(v)
	wrapLines(b, t.Head+"\n", v.Width)
	if t.Model != "" {
		wrapLines(b, t.Model+"\n", v.Width)
	}
	if len(t.Steps) > 0 {
		printf(b, "\n")
		table := NewTable(Column{Head: "node", Rank: 4}, Column{Head: "value", Left: true}, Column{Head: "so", Left: true},
			Column{Head: "price", Rank: 1}, Column{Head: "paid"}, Column{Head: "rows", Rank: 3}, Column{Head: "share", Rank: 2},
			Column{Head: "class then", Left: true})
		for _, s := range t.Steps {
			table.Add(s.Node, s.Value, s.So, s.Price, s.Paid, s.Rows, s.Share, s.Class)
		}
		_ = table.Write(b, v.Width) // the writer keeps its first error
	}
	return b.Flush()
}
