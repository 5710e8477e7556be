package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Rules writes a rule for each leaf of a view, the most frequent first: its class and
// probability, rows, share, tests and cost, and then what a row has to fulfil, a line for
// each feature in the order of the tests. A row fulfils exactly one rule of the whole
// tree. Numbers have all digits, and names are whole. The depth of the view does not count.
func Rules(w io.Writer, v *View) error {
	b, p := bufio.NewWriter(w), v.newPart()
	t, lit := v.Tree, v.Route.lit()
	ranges := t.ModelRanges()
	unit, tests := "", make([]int, len(t.Nodes))
	if t.Algorithm.CostUnit != "" {
		unit = " " + name(t.Algorithm.CostUnit)
	}
	var leaves []int
	above := newAbove(t)
	for i := range t.Nodes {
		for k, branch := range t.Nodes[i].Branches {
			tests[branch.Child] = tests[i] + 1
			above.enter(branch.Child, i, k)
		}
		if t.Nodes[i].Leaf() && p.depth[i] >= 0 && (lit == nil || lit[i]) {
			leaves = append(leaves, i)
		}
	}
	slices.SortStableFunc(leaves, func(i, k int) int { return cmp.Compare(t.Nodes[k].Weight, t.Nodes[i].Weight) })
	colours := ink{v.Coloured}
	for at, leaf := range leaves {
		n := &t.Nodes[leaf]
		if at > 0 {
			printf(b, "\n")
		}
		head := fmt.Sprintf("%s = %s %.4g%s: %s (%s), %s, paid %s%s, leaf %d", name(t.Label.Column),
			name(t.Label.Classes[n.Class]), n.Probabilities[n.Class], rangeOf(t, ranges[leaf]), plural(n.Rows, "row"), Percent(p.share(leaf)), plural(int64(tests[leaf]), "test"), number(p.costs[leaf]), unit, leaf)
		for line := range strings.Lines(Wrapped(head, v.Width, "  ")) {
			printf(b, "%s\n", colours.of(colours.class(n.Class), strings.TrimSuffix(line, "\n")))
		}
		word := "if "
		for _, c := range above.conditions(leaf) {
			printf(b, "  %s\n", Wrapped(word+c, max(0, v.Width-2), "      "))
			word = "and "
		}
	}
	return b.Flush()
}

// plural writes a number of things.
func plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}

// conditions returns what a row has to fulfil to reach a leaf, one text for each feature on
// the path.
func (a *above) conditions(leaf int) []string {
	t := a.tree
	var path []int // children on the path, from the leaf up
	for at := leaf; a.parent[at] >= 0; at = a.parent[at] {
		path = append(path, at)
	}
	var order []int
	sets := make(map[int][]codes)
	for _, child := range slices.Backward(path) {
		n := &t.Nodes[a.parent[child]]
		feature := n.Test.Feature
		f := &t.Features[feature]
		if sets[feature] == nil {
			order, sets[feature] = append(order, feature), []codes{{0, f.MissingCode()}}
		}
		sets[feature] = both(sets[feature], codesOf(n, f, a.branch[child]))
	}
	var texts []string
	for _, feature := range order {
		if f := &t.Features[feature]; f.Kind == dataset.Numeric {
			texts = append(texts, numericRule(f, sets[feature]))
		} else {
			texts = append(texts, categoricalRule(f, sets[feature]))
		}
	}
	return texts
}

// codes is a range of codes of a feature, with both ends. Sets of codes are ascending ranges
// that do not touch.
type codes struct{ from, to int }

// codesOf returns the codes that take a branch of a node.
func codesOf(n *tree.Node, f *dataset.Feature, branch int) []codes {
	b, last := &n.Branches[branch], f.MissingCode()
	if n.Test.Kind != split.Multiway {
		yes := codes{n.Test.Code, n.Test.Code + n.Test.Span}
		if n.Test.Kind == split.Threshold {
			yes.to = last - 1
		}
		if b.Outcome == 1 {
			return []codes{yes}
		}
		return without([]codes{yes}, last)
	}
	var taken []codes // by other branches
	for k := range n.Branches {
		if k != branch {
			taken = append(taken, codes{n.Branches[k].Outcome, n.Branches[k].Outcome})
		}
	}
	slices.SortFunc(taken, func(a, b codes) int { return a.from - b.from })
	var set []codes
	for _, c := range without(taken, last) { // codes of this branch, or of none
		switch {
		case b.Other && b.Missing:
			set = append(set, c)
		case b.Other:
			set = append(set, both([]codes{c}, []codes{{0, last - 1}})...)
		default:
			set = append(set, both([]codes{c}, []codes{{b.Outcome, b.Outcome}})...)
			if b.Missing && b.Outcome != last && c.to == last {
				set = append(set, codes{last, last})
			}
		}
	}
	return set
}

// without returns the codes up to the last one that are in none of the ranges.
func without(ranges []codes, last int) []codes {
	var rest []codes
	next := 0
	for _, c := range ranges {
		if c.from > next {
			rest = append(rest, codes{next, c.from - 1})
		}
		next = max(next, c.to+1)
	}
	if next <= last {
		rest = append(rest, codes{next, last})
	}
	return rest
}

// both returns the codes in both sets.
func both(a, b []codes) []codes {
	set := []codes{}
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if c := (codes{max(a[i].from, b[k].from), min(a[i].to, b[k].to)}); c.from <= c.to {
			set = append(set, c)
		}
		if a[i].to < b[k].to {
			i++
		} else {
			k++
		}
	}
	return set
}

// has reports whether a code is in a set.
func has(set []codes, code int) bool {
	return slices.ContainsFunc(set, func(c codes) bool { return c.from <= code && code <= c.to })
}

// numericRule says which bins are allowed.
func numericRule(f *dataset.Feature, set []codes) string {
	column, missing, last := exact(f.Name), has(set, f.MissingCode()), f.Bins()-1
	var runs []string
	for _, c := range both(set, []codes{{0, last}}) {
		switch {
		case c.from == 0 && c.to == last:
			return column + pick(missing, " has any value, or none", " is not missing")
		case c.from == 0:
			runs = append(runs, column+" < "+f.Unit.Spell(f.Cuts[c.to]))
		case c.to == last:
			runs = append(runs, column+" >= "+f.Unit.Spell(f.Cuts[c.from-1]))
		default:
			runs = append(runs, column+" in ["+f.Unit.Spell(f.Cuts[c.from-1])+", "+f.Unit.Spell(f.Cuts[c.to])+")")
		}
	}
	if missing {
		runs = append(runs, pick(len(runs) == 0, column+" is missing", "missing"))
	}
	return orNothing(runs, column)
}

// categoricalRule says which values are allowed.
func categoricalRule(f *dataset.Feature, set []codes) string {
	column, missing, other := exact(f.Name), has(set, f.MissingCode()), has(set, f.OtherCode())
	spelled := func(ranges []codes) (texts []string) {
		for _, c := range both(ranges, []codes{{0, len(f.Values) - 1}}) {
			for code := c.from; code <= c.to; code++ {
				texts = append(texts, exact(Category(f, code)))
			}
		}
		return texts
	}
	in, out := spelled(set), spelled(without(set, f.MissingCode()))
	if other && len(in) > 0 {
		return allBut(column, out, missing)
	}
	var texts []string
	if len(in) == 1 {
		texts = append(texts, column+" = "+in[0])
	} else if len(in) > 1 {
		texts = append(texts, column+" one of "+strings.Join(in, ", "))
	}
	if other {
		texts = append(texts, column+" is other")
	}
	if missing {
		texts = append(texts, pick(len(texts) == 0, column+" is missing", "missing"))
	}
	return orNothing(texts, column)
}

// allBut allows all values but some, and values that are not listed too.
func allBut(column string, out []string, missing bool) string {
	also := pick(missing, "", " and not missing")
	switch len(out) {
	case 0:
		return column + pick(missing, " has any value", " is not missing")
	case 1:
		return column + " != " + out[0] + also
	default:
		return column + " none of " + strings.Join(out, ", ") + also
	}
}

func orNothing(texts []string, column string) string {
	if len(texts) == 0 {
		return column + " has no value that leads here"
	}
	return strings.Join(texts, " or ")
}
