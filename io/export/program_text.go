package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// Methods of program that the templates call.

// Text returns a text as a literal.
func (p *program) Text(s string) string { return p.language.text(s) }

// Number returns a number as a literal.
func (p *program) Number(x float64) string { return p.language.number(x) }

// Short returns a name for a comment.
func (p *program) Short(name string) string { return short(name) }

// Texts returns literals with commas between them.
func (p *program) Texts(list []string) string { return each(list, p.language.text) }

// Numbers returns literals with commas between them.
func (p *program) Numbers(list []float64) string { return each(list, p.language.number) }

// Head returns lines about the file, for its first comment.
func (p *program) Head() []string { return head(p.tree, p.Options) }

// head returns lines about a file of a tree.
func head(t *tree.Tree, o Options) []string {
	expected := t.Complexity.ExpectedCost
	most := t.Complexity.MaxCost
	written := mark
	if o.Digest != "" {
		written += " from the tree.json with SHA-256 " + o.Digest
	}
	lines := []string{written + "; do not edit."}
	if o.Run != "" {
		lines = append(lines, fmt.Sprintf("The tree is from the run %s; Espalier %s wrote the file.", short(o.Run), o.Version))
	}
	lines = append(lines,
		fmt.Sprintf("A classification tree: it predicts %s, one of %s.", short(t.Label.Column), firsts(t.Label.Classes)),
		"Espalier has trained it (github.com/espalier-ml/espalier), and is not needed to run it: this file is all.",
		fmt.Sprintf("%d leaves; a row of the training data paid %.4g for its tests on average, and at most %.4g.",
			t.Complexity.Leaves, expected, most))
	for _, cost := range t.Complexity.Further.List() {
		lines = append(lines, fmt.Sprintf("In %s it paid %.4g on average, and at most %.4g.", short(cost.Unit), cost.ExpectedCost, cost.MaxCost))
	}
	models := 0
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() && n.Model != nil {
			models++
		}
	}
	if models > 0 {
		lines = append(lines, fmt.Sprintf("%d leaves have models of the values that were asked for on their paths.", models))
	}
	return lines
}

// firsts lists the first texts of a list for a comment.
func firsts(list []string) string {
	const most = 8
	if shown, _ := textview.Visible(len(list), most); shown < len(list) {
		return fmt.Sprintf("%s and %d others", each(list[:shown], short), len(list)-shown)
	}
	return each(list, short)
}

// About describes a feature.
func (p *program) About(f feature) string {
	switch {
	case !f.Numeric:
		return fmt.Sprintf("%s: a text; training has seen %s", short(f.Name), firsts(f.Values))
	case f.Unit == "date":
		return short(f.Name) + ": a date, in days since 1970-01-01"
	case f.Unit == "time":
		return short(f.Name) + ": a time of day, in microseconds since midnight"
	case f.Local:
		return short(f.Name) + ": a local point in time, in microseconds since 1970-01-01 by the clock of the place"
	case f.Unit == "timestamp":
		return short(f.Name) + ": a point in time, in microseconds since 1970-01-01 UTC"
	default:
		return short(f.Name) + ": a number"
	}
}

// mostSlots is how many slots the parameters of a Java constructor may take, in addition to the
// object: two for a number, one for a text.
const mostSlots = 254

// Wide reports whether there are too many features for a Java record.
func (p *program) Wide() bool {
	slots := 0
	for i := range p.Features {
		slots++
		if p.Features[i].Numeric {
			slots++
		}
	}
	return slots > mostSlots
}

// Dated reports whether some feature has a unit.
func (p *program) Dated() bool {
	return slices.ContainsFunc(p.Features, func(f feature) bool { return f.Unit != "" })
}

// Locals reports whether some feature has local timestamps.
func (p *program) Locals() bool {
	return slices.ContainsFunc(p.Features, func(f feature) bool { return f.Local })
}

// Instants reports whether some feature has timestamps that are not local.
func (p *program) Instants() bool {
	return slices.ContainsFunc(p.Features, func(f feature) bool { return f.Unit == "timestamp" && !f.Local })
}

// Width returns the number of scores of a leaf model.
func (p *program) Width() int {
	if len(p.Label.Classes) == 2 {
		return 1
	}
	return len(p.Label.Classes)
}

// Body returns the lines of a function.
func (f function) Body() string { return strings.Join(f.Lines, "\n") }

// Side returns a side of a split for its own template.
func (p *program) Side(s boost.Side) sideText {
	if s.Values != nil {
		return sideText{-1, p.Numbers(s.Values)}
	}
	return sideText{Split: s.Split}
}

// sideText is a side of a split as text.
type sideText struct {
	Split int // -1: a leaf with Texts
	Texts string
}

// Indented returns the lines of a function, each prefixed by a text.
func (f function) Indented(by string) string { return by + strings.Join(f.Lines, "\n"+by) }

// partNumbers is how many numbers a Java method can hold in its 64 KiB of code.
const partNumbers = 4000

// LeafParts returns the leaves in parts that fit into Java methods.
func (p *program) LeafParts() [][]leaf {
	return parts(p.Leaves, func(l leaf) int { return 4 + len(l.Probabilities) })
}

// StepParts returns the steps in such parts.
func (p *program) StepParts() [][]step {
	return parts(p.Steps, func(step) int { return 4 })
}

// ModelParts returns the leaf models in such parts.
func (p *program) ModelParts() [][]model {
	return parts(p.Models, func(m model) int {
		size := len(m.Intercept) + 2
		for i := range m.Terms {
			size += 2 + len(m.Terms[i].At) + (1+len(m.Terms[i].Values))*(1+len(m.Intercept))
		}
		return size
	})
}

// boosterTree is a tree of a booster.
type boosterTree struct {
	Booster, Tree int
	Splits        []boosterSplit
}

// TreeParts returns the trees of all boosters in such parts.
func (p *program) TreeParts() [][]boosterTree {
	var all []boosterTree
	for _, b := range p.Boosters {
		for i, t := range b.Trees {
			all = append(all, boosterTree{b.Index, i, t})
		}
	}
	return parts(all, func(t boosterTree) int { return len(t.Splits) * (8 + 2*p.Width()) })
}

// parts cuts a list into parts of at most partNumbers numbers, or of one element.
func parts[T any](list []T, size func(T) int) [][]T {
	var all [][]T
	room := 0
	for _, one := range list {
		n := size(one)
		if room -= n; room < 0 {
			all = append(all, nil)
			room = partNumbers - n
		}
		all[len(all)-1] = append(all[len(all)-1], one)
	}
	return all
}

// Parts returns texts in parts that fit into Java methods.
func (p *program) Parts(texts []string) [][]string {
	return slices.Collect(slices.Chunk(texts, partNumbers))
}

// Last returns the index of the last feature.
func (p *program) Last() int { return len(p.Features) - 1 }
