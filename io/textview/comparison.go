package textview

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/comparison"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// CompareNodes describes a matching of two trees. total is the weight of all rows.
func CompareNodes(a, b *tree.Tree, m *comparison.Matching, total int64) runfolder.ComparedNodes {
	c := runfolder.ComparedNodes{
		A: len(a.Nodes), B: len(b.Nodes), Unchanged: m.Unchanged, Changed: m.Changed, Removed: m.Removed, Added: m.Added,
		Estimates: runfolder.OtherEstimates{
			Leaves: m.Estimates, Rows: m.EstimateRows, Share: float64(m.EstimateWeight) / float64(max(1, total)),
		},
		Differences: places(a, b, m, total), Prices: []runfolder.ComparedPrice{},
	}
	for i := range a.Features {
		for k := range b.Features {
			if x, y := &a.Features[i], &b.Features[k]; x.Name == y.Name && x.Cost != y.Cost {
				c.Prices = append(c.Prices, runfolder.ComparedPrice{Feature: x.Name, A: x.Cost, B: y.Cost})
			}
		}
	}
	return c
}

// places describes the differences of two trees.
func places(a, b *tree.Tree, m *comparison.Matching, total int64) []runfolder.Place {
	share := func(weight int64) float64 { return float64(weight) / float64(max(1, total)) }
	pathA := wholeAbove(a)
	pathB := wholeAbove(b)
	list := make([]runfolder.Place, len(m.Differences))
	for i, d := range m.Differences {
		p := runfolder.Place{
			Kind: d.Kind, A: placeNode(a, d.A, d.NodesA), B: placeNode(b, d.B, d.NodesB),
			Rows: d.Rows, Weight: d.Weight, Share: share(d.Weight),
		}
		if d.A >= 0 {
			p.Path = pathA.conditions(d.A)
		} else {
			p.Path = pathB.conditions(d.B)
		}
		if p.Path == nil {
			p.Path = []string{}
		}
		if d.Kind == comparison.MovedCut {
			p.Other = &runfolder.OtherRoute{Rows: d.OtherWay, Weight: d.OtherWayWeight, Share: share(d.OtherWayWeight)}
		}
		list[i] = p
	}
	return list
}

func wholeAbove(t *tree.Tree) *above {
	a := newAbove(t)
	for i := range t.Nodes {
		for k, b := range t.Nodes[i].Branches {
			a.enter(b.Child, i, k)
		}
	}
	return a
}

// placeNode describes a node; nil for no node.
func placeNode(t *tree.Tree, node, alone int) *runfolder.PlaceNode {
	if node < 0 {
		return nil
	}
	p := &runfolder.PlaceNode{Node: node, Alone: alone}
	n := &t.Nodes[node]
	switch {
	case n.Leaf():
		p.Predicts = t.Label.Classes[n.Class]
	case n.Test.Kind == split.Multiway:
		p.Asks = exact(t.Features[n.Test.Feature].Name) + ", by its value"
	default:
		for k := range n.Branches {
			if n.Branches[k].Outcome == 1 {
				p.Asks = newCondition(t, n, &n.Branches[k], exactly()).text
			}
		}
	}
	return p
}

// says returns what a node asks or predicts.
func says(p *runfolder.PlaceNode) string {
	if p.Asks != "" {
		return "asks " + p.Asks
	}
	return "predicts " + name(p.Predicts)
}

// placeText returns a place as a sentence without its end.
func placeText(p *runfolder.Place) string {
	where := "at the root"
	if len(p.Path) > 0 {
		where = "where " + strings.Join(p.Path, " and ")
	}
	switch {
	case p.A == nil:
		return fmt.Sprintf("%s: B has a branch of its own with %s", where, plural(int64(p.B.Alone), "node"))
	case p.B == nil:
		return fmt.Sprintf("%s: A has a branch of its own with %s", where, plural(int64(p.A.Alone), "node"))
	}
	text := fmt.Sprintf("%s: B %s, A %s", where, says(p.B), says(p.A))
	switch p.Kind {
	case comparison.Added:
		return text + fmt.Sprintf(" (%s added)", plural(int64(p.B.Alone), "node"))
	case comparison.Removed:
		return text + fmt.Sprintf(" (%s removed)", plural(int64(p.A.Alone), "node"))
	case comparison.OtherTest:
		return text + fmt.Sprintf(" (below: %s removed, %d added)", plural(int64(p.A.Alone), "node"), p.B.Alone)
	case comparison.MovedCut:
		return text + fmt.Sprintf(" (%s of the rows take the other branch)", Percent(p.Other.Share))
	default:
		return text
	}
}

// maxPlaces is the greatest number of places that Nodes lists.
const maxPlaces = 20

// Nodes writes how many nodes two trees share, and the places where they differ, each with its
// share of the rows. Lines have at most width characters; 0: unlimited.
func Nodes(w io.Writer, c *runfolder.ComparedNodes, width int) error {
	lines := []string{fmt.Sprintf("nodes: %d of A, %d of B; %d are the same, %d changed, %d removed, %d added", c.A, c.B,
		c.Unchanged, c.Changed, c.Removed, c.Added)}
	if n := c.Estimates.Leaves; n > 0 {
		lines = append(lines, fmt.Sprintf("  of these, %s with the same class and other probabilities (%s of the rows)",
			pick(n == 1, "1 leaf", strconv.Itoa(n)+" leaves"), Percent(c.Estimates.Share)))
	}
	for _, p := range c.Prices {
		lines = append(lines, fmt.Sprintf("  a test of %s costs %s by B, %s by A", name(p.Feature), number(p.B), number(p.A)))
	}
	for i := range c.Differences {
		if i == maxPlaces {
			lines = append(lines, fmt.Sprintf("  and %d more, which --json lists", len(c.Differences)-i))
			break
		}
		p := &c.Differences[i]
		lines = append(lines, fmt.Sprintf("%7s of the rows, %s", Percent(p.Share), placeText(p)))
	}
	var s strings.Builder
	for _, line := range lines {
		s.WriteString(Wrapped(line, width, "         ") + "\n")
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// PairedFigures returns a table of the metrics of two trees on the same rows, and of their
// differences. It marks B as better or worse if the interval excludes 0.
func PairedFigures(m *metric.Paired) *Table {
	t := NewTable(Column{Head: "figure", Left: true}, Column{Head: "A"}, Column{Head: "B"}, Column{Head: "B - A"},
		Column{Head: "95 %", Rank: 1}, Column{Head: "B is", Left: true})
	for _, f := range append(m.Qualities(),
		metric.Quality{Title: "cost", Lossy: true, Difference: m.ExpectedCost},
		metric.Quality{Title: "tests", Lossy: true, Difference: m.ExpectedTests}) {
		if f.Difference == nil {
			continue
		}
		interval := "-"
		word := ""
		if i := f.Interval; i != nil {
			interval = fmt.Sprintf("%+.4f to %+.4f", i.Low, i.High)
			switch {
			case i.Low > 0 && !f.Lossy, i.High < 0 && f.Lossy:
				word = "better"
			case i.High < 0 && !f.Lossy, i.Low > 0 && f.Lossy:
				word = "worse"
			}
		}
		t.Add(f.Title, fmt.Sprintf("%.4f", f.A), fmt.Sprintf("%.4f", f.B), fmt.Sprintf("%+.4f", f.Difference.Difference),
			interval, word)
	}
	return t
}

// maxFlips is the greatest number of flips listed one by one.
const maxFlips = 20

// leastP is the least probability that is written with its digits.
const leastP = 0.0001

// GroupsText says that intervals are about the groups of a key; empty for rows that are independent.
func GroupsText(key string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("Intervals count groups: rows with the same %s are one group (--group none: rows are independent)", key)
}

// FlipsText describes how many rows have another class by B than by A.
func FlipsText(f *comparison.Flips, rows int64) string {
	text := fmt.Sprintf("%d of %s (%s) get another class by B", f.Rows, plural(rows, "row"), Percent(f.Share))
	if f.BecameRight != nil && f.Rows > 0 {
		text += fmt.Sprintf("; %d become right, %d become wrong", *f.BecameRight, *f.BecameWrong)
	}
	if f.PValue != nil && f.Rows > 0 {
		p := fmt.Sprintf("%.4f", *f.PValue)
		if *f.PValue < leastP {
			p = fmt.Sprintf("below %v", leastP)
		}
		text += fmt.Sprintf(" (McNemar's p %s)", p)
	}
	return text
}

// FlipsTable returns a table of the flips, the most frequent first.
func FlipsTable(f *comparison.Flips) *Table {
	t := NewTable(Column{Head: "class by A", Left: true}, Column{Head: "by B", Left: true}, Column{Head: "rows"},
		Column{Head: "share"})
	if f.BecameRight != nil {
		t.Columns = append(t.Columns, Column{Head: "become right", Rank: 1}, Column{Head: "become wrong", Rank: 2})
	}
	shown, others := Visible(len(f.ByClasses), maxFlips)
	for i := range f.ByClasses[:shown] {
		x := &f.ByClasses[i]
		row := []string{x.From, x.To, strconv.FormatInt(x.Rows, 10), Percent(x.Share)}
		if f.BecameRight != nil {
			row = append(row, strconv.FormatInt(*x.BecameRight, 10), strconv.FormatInt(*x.BecameWrong, 10))
		}
		t.Add(row...)
	}
	return t.others(others)
}

// PredictedTable returns a table of the shares of the rows that two trees predict each class for.
func PredictedTable(list []comparison.Predicted) *Table {
	t := NewTable(Column{Head: "predicted class", Left: true}, Column{Head: "A"}, Column{Head: "B"}, Column{Head: "B - A"})
	shown, others := Visible(len(list), maxFlips)
	for _, x := range list[:shown] {
		t.Add(x.Class, Percent(x.A), Percent(x.B), fmt.Sprintf("%+.1f%%", 100*(x.B-x.A)))
	}
	return t.others(others)
}
