package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Text writes the tree as text: per node the condition that leads to it, its
// share of the training rows, its most probable class, and what has been paid
// for the tests asked so far. Lines are at most width characters long; 0: of any
// length.
func Text(w io.Writer, t *tree.Tree, width int) error {
	var head, tail strings.Builder
	c := &t.Complexity
	printf(&head, "%s by %s: %d rows, expected cost %s, %d leaves, depth %d\n\n",
		name(t.Label.Column), describe(&t.Algorithm), t.Training.Rows, Expected(t, number), c.Leaves, c.Depth)
	about(&head, t)
	certificate(&tail, t)
	b := bufio.NewWriter(w)
	wrapLines(b, head.String(), width)
	(&drawing{tree: t}).write(b, width)
	wrapLines(b, tail.String(), width)
	return b.Flush()
}

// printf writes to a writer that keeps its first error for Flush.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// Expected spells what a row is expected to cost, as it is billed, in its unit, and
// what the tests would cost one by one where that is not the same.
func Expected(t *tree.Tree, spell func(float64) string) string {
	billed, _ := t.Complexity.Billed()
	s := spell(billed)
	if unit := t.Algorithm.CostUnit; unit != "" {
		s += " " + name(unit)
	}
	s += " (" + spell(t.Complexity.ExpectedTests) + " tests"
	if t.BillsApart() {
		s += ", " + spell(t.Complexity.ExpectedCost) + " by their own prices"
	}
	return s + ")"
}

func describe(a *tree.Algorithm) string {
	s := a.Name
	if a.Name == split.EC45.String() || a.Name == split.ECART.String() {
		s += " (lambda " + number(a.Lambda) + ")"
	}
	if a.SetUps != "" {
		s += ", set-ups " + a.SetUps
	}
	return s
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
	if s != strings.TrimSpace(s) && utf8.RuneCountInString(s) <= maxName { // blanks at an end would not be seen
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

// quoted spells what cannot be printed as Go does, so that a text stays on its
// line and does not steer the terminal.
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
