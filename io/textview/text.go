package textview

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Text writes the tree as text. For each node it lists the condition, the training rows with their
// share, the most probable class, and the cost paid for the tests above. For a leaf with a model it
// lists the least and the greatest probability of the class that the model can give: see
// tree.ModelRange. Cuts are Shortened. Lines have at most width characters; 0: unlimited. For a
// tree of more than 500 leaves it shows the first levels, and a table by depth.
func Text(w io.Writer, t *tree.Tree, width int) error {
	return Shown(w, &View{Tree: t, Depth: FittingDepth, Width: width})
}

// Shown is Text for a view.
func Shown(w io.Writer, v *View) error {
	var head, tail strings.Builder
	t := v.Tree
	p := v.newPart()
	c := &t.Complexity
	printf(&head, "%s by %s: %d rows, expected cost %s, %d leaves, depth %d\n\n",
		name(t.Label.Column), describe(&t.Algorithm), t.Training.Rows, Expected(t, number), c.Leaves, c.Depth)
	about(&head, t)
	if v.Guess != "" {
		printf(&head, "%s\n\n", v.Guess)
	}
	certificate(&tail, t)
	b := bufio.NewWriter(w)
	wrapLines(b, head.String(), v.Width)
	if v.Node > 0 {
		printf(b, "%s\n\n", Wrapped(fmt.Sprintf("from node %d, where %s", v.Node, p.way()), v.Width, "  "))
	}
	(&sketch{part: p}).write(b)
	if p.folded {
		p.writeByDepth(b)
	}
	if v.Node == 0 {
		wrapLines(b, tail.String(), v.Width)
	}
	return b.Flush()
}

// printf writes to a buffered writer, which returns its first error from Flush.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// Expected formats the expected cost of a row with its unit, and the number of tests.
func Expected(t *tree.Tree, spell func(float64) string) string {
	s := spell(t.Complexity.ExpectedCost)
	if unit := t.Algorithm.CostUnit; unit != "" {
		s += " " + name(unit)
	}
	return s + " (" + spell(t.Complexity.ExpectedTests) + " tests)"
}

// FurtherCosts describes costs in further currencies, each after a separator; empty without any. spell writes an
// amount, named the name of a currency.
func FurtherCosts(costs *dataset.FurtherCosts, separator string, spell func(float64) string, named func(string) string) string {
	var text strings.Builder
	for _, cost := range costs.List() {
		fmt.Fprintf(&text, "%s%s %s on average, %s at most", separator, spell(cost.ExpectedCost), named(cost.Unit), spell(cost.MaxCost))
	}
	return text.String()
}

func describe(a *tree.Algorithm) string {
	s := a.Name
	if a.ByTotal() {
		s = "least cost of tests and errors"
	}
	if by, err := split.ParseAlgorithm(a.Name); err == nil && by.HasLambda() {
		s += " (lambda " + number(a.Lambda) + ")"
	}
	if a.Prices != "" {
		s += ", prices " + a.Prices
	}
	if a.SetUps != "" {
		s += ", set-ups " + a.SetUps
	}
	if a.PathFeatures > 0 {
		s += fmt.Sprintf(", features on a path: %d", a.PathFeatures)
	}
	if len(a.Selected) > 0 {
		s += ", features selected together: " + Listed(a.Selected, name)
	}
	if a.Once {
		s += ", each feature tested once on a path"
	}
	if a.MaxCost > 0 {
		s += ", cost of a path: " + number(a.MaxCost)
	}
	var further strings.Builder
	for _, unit := range slices.Sorted(maps.Keys(a.MaxFurther)) {
		fmt.Fprintf(&further, ", %s of a path: %s", name(unit), number(a.MaxFurther[unit]))
	}
	s += further.String()
	if a.MaxTests > 0 {
		s += fmt.Sprintf(", paid tests on a path: %d", a.MaxTests)
	}
	if a.RootByCodes {
		s += ", the root tests the feature whose values together tell the most"
	}
	if a.Teacher != "" {
		s += ", taught"
	}
	return s
}

// Listed joins words: "a", "a and b", "a, b and c". spell writes a word.
func Listed(words []string, spell func(string) string) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(spell(word))
	}
	return b.String()
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// number writes a number with at most six significant digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// maxName is the greatest number of characters shown of a name.
const maxName = 40

// Name returns the name of a column or a value in the form used by this package: shortened to 40
// characters, with escapes for characters that are not printable.
func Name(s string) string { return name(s) }

// name returns the name of a column or a value for a line of text: shortened, and with escapes for
// characters that are not printable.
func name(s string) string {
	if s != strings.TrimSpace(s) && utf8.RuneCountInString(s) <= maxName { // shows blanks at the ends
		s = `"` + s + `"`
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxName {
			b.WriteString("...")
			break
		}
		writeRune(&b, r)
	}
	if n == 0 {
		return `""`
	}
	return b.String()
}

// quoted escapes characters that are not printable, as Go does, so that a text stays on its line,
// and does not control the terminal.
func quoted(s string) string {
	var b strings.Builder
	for _, r := range s {
		writeRune(&b, r)
	}
	return b.String()
}

func writeRune(b *strings.Builder, r rune) {
	if unicode.IsPrint(r) && r != utf8.RuneError {
		b.WriteRune(r)
		return
	}
	b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
}
