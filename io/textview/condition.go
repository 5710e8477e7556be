package textview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Paths returns the conditions on the path to each leaf, in the order of the leaves'
// nodes. A row fulfils the path of its own leaf, and no other path. Numbers have all
// needed digits, points in time are in ISO 8601, and names are whole. A name that looks
// like another part of the text is quoted as in Go.
//
// A comparison ends in "or missing" if rows without a value take the same branch, unless
// an earlier test on the path implies that the row has a value.
func Paths(t *tree.Tree) []string {
	ways := make([][]string, len(t.Nodes))
	paths := []string(nil)
	conditions := Conditions(t)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Leaf() {
			paths = append(paths, strings.Join(ways[i], " and "))
		}
		for _, b := range n.Branches {
			ways[b.Child] = append(slices.Clip(ways[i]), conditions[b.Child])
		}
	}
	return paths
}

// Conditions returns by node the condition of the branch that leads to it, as Paths writes it; none
// of the root.
func Conditions(t *tree.Tree) []string {
	conditions := make([]string, len(t.Nodes))
	above := newAbove(t)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for k := range n.Branches {
			b := &n.Branches[k]
			c := newCondition(t, n, b, exactly())
			text := c.text
			if b.Missing && c.lacks && !above.present(i, n.Test.Feature) {
				text += " or missing"
			}
			if b.Other && c.lists {
				text += " or another"
			}
			if text != c.text {
				text = "(" + text + ")"
			}
			conditions[b.Child] = text
			above.enter(b.Child, i, k)
		}
	}
	return conditions
}

// above holds the path to each node.
type above struct {
	tree           *tree.Tree
	parent, branch []int // by node; -1 for the root
}

func newAbove(t *tree.Tree) *above {
	a := &above{tree: t, parent: make([]int, len(t.Nodes)), branch: make([]int, len(t.Nodes))}
	a.parent[0] = -1
	return a
}

func (a *above) enter(node, parent, branch int) { a.parent[node], a.branch[node] = parent, branch }

// present reports whether a test above a node implies that its rows have a value of a
// feature.
func (a *above) present(node, feature int) bool {
	for at := node; a.parent[at] >= 0; at = a.parent[at] {
		n := &a.tree.Nodes[a.parent[at]]
		if n.Test.Feature == feature && !n.Branches[a.branch[at]].Missing {
			return true
		}
	}
	return false
}

// condition is the condition of a branch, in values of the feature.
type condition struct {
	text  string
	lacks bool // a row without a value takes another branch than the text suggests
	lists bool // an unlisted value takes another branch than the text suggests
}

// spelling writes the parts of a condition.
type spelling struct {
	name   func(string) string
	number func(f *dataset.Feature, cut float64) string
	most   int // how many values of a set are listed
}

// exactly spells everything that is needed.
func exactly() *spelling { return &spelling{exact, allDigits, math.MaxInt} }

// allDigits spells a cut of a feature in full.
func allDigits(f *dataset.Feature, cut float64) string {
	if f.Unit != dataset.Plain {
		return f.Unit.Spell(cut)
	}
	return plain(cut)
}

// readable spells what can be read at a glance.
func readable() *spelling { return &spelling{name, Shortened, listedValues} }

// newCondition returns the condition of a branch.
func newCondition(t *tree.Tree, n *tree.Node, b *tree.Branch, s *spelling) condition {
	f := &t.Features[n.Test.Feature]
	name := s.name
	column := name(f.Name)
	yes := b.Outcome == 1
	switch n.Test.Kind {
	case split.Threshold:
		return condition{column + pick(yes, " >= ", " < ") + s.number(f, f.Cuts[n.Test.Code-1]), true, false}
	case split.Bin:
		return bin(f, &n.Test.Test, column, yes, s)
	case split.Equals:
		return condition{column + pick(yes, " = ", " != ") + name(f.Category(n.Test.Code)), yes, yes}
	case split.In:
		if from := leastOf(f, listed(f, n, 1)); from != "" {
			return condition{column + pick(yes, " >= ", " < ") + name(from), true, true}
		}
		return condition{column + " in " + s.set(listed(f, n, b.Outcome)), true, true}
	case split.Multiway:
		return outcome(f, b.Outcome, column, name)
	default:
		return condition{text: column + pick(yes, " is ", " is not ") + n.Test.Kind.String()}
	}
}

// listedValues is how many values of a set are listed where texts are to be read at a glance.
const listedValues = 5

// leastOf returns the least of the last values of a feature with ordered values; empty if the values are others.
func leastOf(f *dataset.Feature, values []string) string {
	from := len(f.Values) - len(values)
	if !f.Ordered || from <= 0 || from == len(f.Values) || !slices.Equal(f.Values[from:], values) {
		return ""
	}
	return values[0]
}

// listed returns the listed values with an outcome of a test for a set.
func listed(f *dataset.Feature, n *tree.Node, outcome int) []string {
	var values []string
	for code := range f.Values {
		if n.Test.Outcome(code, f.MissingCode()) == outcome {
			values = append(values, f.Category(code))
		}
	}
	return values
}

// set writes a set of values in braces: a list, or how many values if there is no room for two.
func (s *spelling) set(values []string) string {
	if s.most == 1 && len(values) > 1 {
		return fmt.Sprintf("{%d values}", len(values))
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, value := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == s.most-1 && len(values) > s.most {
			fmt.Fprintf(&b, "and %d more", len(values)-i)
			break
		}
		b.WriteString(s.name(value))
	}
	b.WriteByte('}')
	return b.String()
}

// RunnerUp writes what takes the yes branch of a runner-up at a node of a tree, for reading. Cuts
// of a feature that the tree does not test have few digits: no other cut of it is known.
func RunnerUp(t *tree.Tree, r *tree.RunnerUp) string {
	column := name(r.Feature)
	short := func(x float64) string { return strconv.FormatFloat(x, 'g', enoughDigits, 64) }
	least := ""
	if at := slices.IndexFunc(t.Features, func(f dataset.Feature) bool { return f.Name == r.Feature }); at >= 0 {
		least = leastOf(&t.Features[at], r.Values)
		short = func(x float64) string { return Shortened(&t.Features[at], x) }
	}
	switch {
	case r.Kind == split.Multiway:
		return column + ", by its value"
	case least != "":
		return column + " >= " + name(least)
	case r.Kind == split.In:
		return column + " in " + readable().set(r.Values)
	case r.Kind == split.Equals:
		return column + " = " + name(r.Value)
	case r.GE != nil && r.LT != nil:
		return column + " in [" + short(*r.GE) + ", " + short(*r.LT) + ")"
	case r.GE != nil:
		return column + " >= " + short(*r.GE)
	case r.LT != nil:
		return column + " < " + short(*r.LT)
	default:
		return column + " is " + r.Kind.String()
	}
}

func outcome(f *dataset.Feature, code int, column string, name func(string) string) condition {
	switch code {
	case f.MissingCode():
		return condition{text: column + " is missing", lists: true}
	case f.OtherCode():
		return condition{text: column + " is other", lacks: true}
	default:
		return condition{column + " = " + name(f.Category(code)), true, true}
	}
}

func bin(f *dataset.Feature, t *split.Test, column string, yes bool, s *spelling) condition {
	low, high := "", ""
	if t.Code > 0 {
		low = s.number(f, f.Cuts[t.Code-1])
	}
	if end := t.Code + t.Span; end < len(f.Cuts) {
		high = s.number(f, f.Cuts[end])
	}
	switch {
	case low == "" && high == "":
		return condition{text: column + pick(!yes, " is ", " is not ") + "missing"}
	case low == "":
		return condition{column + pick(yes, " < ", " >= ") + high, true, false}
	case high == "":
		return condition{column + pick(yes, " >= ", " < ") + low, true, false}
	default:
		return condition{column + pick(yes, " in [", " not in [") + low + ", " + high + ")", yes, false}
	}
}

// exact writes a name or a category, quoted if it looks like another part of a path.
func exact(s string) string {
	odd := s == "" || s != strings.TrimSpace(s) || strings.ContainsAny(s, "\"()") ||
		strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	for _, word := range []string{" and ", " or ", " = ", " != ", " < ", " >= ", " in [", " not in [", " is "} {
		odd = odd || strings.Contains(" "+s+" ", word)
	}
	if odd {
		return strconv.Quote(s)
	}
	return s
}
