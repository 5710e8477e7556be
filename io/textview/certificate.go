package textview

import (
	"io"
	"strings"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
)

// certificate writes the lower bound on the cost of the best tree, in a line or two.
func certificate(w io.Writer, t *tree.Tree) {
	if text := Certificate(t); text != "" {
		printf(w, "\ncertificate: %s\n", text)
	}
}

// Certificate describes in words how far a tree is from the optimum: the lower bound on the cost of
// the best tree. The text has line breaks. It is empty if the tree has no certificate, or one that bounds nothing.
func Certificate(t *tree.Tree) string {
	c := t.Certificate
	if c == nil || c.LowerBound == 0 {
		return ""
	}
	w := new(strings.Builder)
	this := "this tree"
	if c.Pruned {
		this = "this tree, before pruning,"
	}
	printf(w, "no tree over these bins and tests whose leaves have one class, or at most %s%% of the\n"+
		"rows, costs less than %s per row", atMost(100*c.Theta), atLeast(c.LowerBound))
	switch {
	case c.Method == certify.Optimum:
		printf(w, ", the optimum")
	case c.Sampled:
		printf(w, " (%s%% confidence)", number(100*c.Confidence))
	}
	if c.Ratio > 0 {
		printf(w, "; %s costs %s, at most %s times the optimum", this, atMost(c.ExpectedCost), atMost(c.Ratio))
	}
	return w.String()
}

// atMost and atLeast write a number with four significant digits, rounded up and rounded
// down: a printed bound stays true.
func atMost(x float64) string  { return number(portable.Up(x, shownDigits)) }
func atLeast(x float64) string { return number(portable.Down(x, shownDigits)) }

const shownDigits = 4
