package textview

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/region"
)

// Rules writes a rule for each leaf of a view, the most frequent first: its class and probability,
// rows, share, tests and cost, followed by the conditions on a row, one line for each feature in
// the order of the tests. A row satisfies exactly one rule of the whole tree. Numbers have all
// digits, and names are complete. The depth of the view has no effect.
func Rules(w io.Writer, v *View) error {
	b := bufio.NewWriter(w)
	p := v.newPart()
	t := v.Tree
	lit := v.Route.lit()
	ranges := t.ModelRanges()
	unit := ""
	tests, _ := t.PathCosts()
	if t.Algorithm.CostUnit != "" {
		unit = " " + name(t.Algorithm.CostUnit)
	}
	var leaves []int
	above := newAbove(t)
	for i := range t.Nodes {
		for k, branch := range t.Nodes[i].Branches {
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
		head := fmt.Sprintf("%s = %s%s: %s, %s, paid %s%s, leaf %d", name(t.Label.Column),
			verdict(&t.Label, n.Class, n.Probabilities, Probability), rangeOf(t, ranges[leaf]), p.rows(leaf),
			plural(int64(tests[leaf]), "test"), number(p.costs[leaf]), unit, leaf)
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

// rows describes the training rows at a node.
func (p *part) rows(node int) string {
	text := p.counted(plural(p.Tree.Nodes[node].Rows, "row"), node)
	if of := p.ofClass(node); of != "" {
		class := "of this class"
		if d := p.Tree.Label.Decision; d != nil {
			class = name(d.Positive)
		}
		text += ", " + of + " " + class
	}
	return text
}

// plural formats a number of things.
func plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}

// conditions returns the conditions on a row that reaches a leaf, one text for each feature on the
// path.
func (a *above) conditions(leaf int) []string {
	t := a.tree
	var path []int // children on the path, from the leaf up
	for at := leaf; a.parent[at] >= 0; at = a.parent[at] {
		path = append(path, at)
	}
	var order []int
	sets := make(map[int][]region.Codes)
	for _, child := range slices.Backward(path) {
		n := &t.Nodes[a.parent[child]]
		feature := n.Test.Feature
		f := &t.Features[feature]
		if sets[feature] == nil {
			order, sets[feature] = append(order, feature), []region.Codes{{From: 0, To: f.MissingCode()}}
		}
		sets[feature] = region.Both(sets[feature], region.Of(n, f, a.branch[child]))
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

// numericRule describes which bins are allowed.
func numericRule(f *dataset.Feature, set []region.Codes) string {
	column := exact(f.Name)
	missing := region.Has(set, f.MissingCode())
	last := f.Bins() - 1
	var runs []string
	for _, c := range region.Both(set, []region.Codes{{From: 0, To: last}}) {
		switch {
		case c.From == 0 && c.To == last:
			return column + pick(missing, " has any value, or none", " is not missing")
		case c.From == 0:
			runs = append(runs, column+" < "+allDigits(f, f.Cuts[c.To]))
		case c.To == last:
			runs = append(runs, column+" >= "+allDigits(f, f.Cuts[c.From-1]))
		default:
			runs = append(runs, column+" in ["+allDigits(f, f.Cuts[c.From-1])+", "+allDigits(f, f.Cuts[c.To])+")")
		}
	}
	if missing {
		runs = append(runs, pick(len(runs) == 0, column+" is missing", "missing"))
	}
	return orNothing(runs, column)
}

// categoricalRule describes which values are allowed.
func categoricalRule(f *dataset.Feature, set []region.Codes) string {
	column := exact(f.Name)
	missing := region.Has(set, f.MissingCode())
	other := region.Has(set, f.OtherCode())
	spelled := func(ranges []region.Codes) (texts []string) {
		for _, c := range region.Both(ranges, []region.Codes{{From: 0, To: len(f.Values) - 1}}) {
			for code := c.From; code <= c.To; code++ {
				texts = append(texts, exact(f.Category(code)))
			}
		}
		return texts
	}
	in, out := spelled(set), spelled(region.Without(set, f.MissingCode()))
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

// allBut allows all values except those in out, including values that are not listed.
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
