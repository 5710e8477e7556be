package report

import (
	"io"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/tree"
)

// certificate writes what is known of the cost of the best tree, in a line or two.
func certificate(w io.Writer, t *tree.Tree) {
	c := t.Certificate
	if c == nil {
		return
	}
	printf(w, "\ncertificate: any tree that separates the rows as far, to leaves of one class or of at most %s%% of them,\ncosts at least %s", number(roundTo(100*c.Theta)), number(roundTo(c.LowerBound)))
	switch {
	case c.Method == certify.Optimum:
		printf(w, ", the optimum")
	case c.Sampled:
		printf(w, " (by %s, from %d rows drawn, at %s%% confidence)", c.Method, c.Sample, number(100*c.Confidence))
	default:
		printf(w, " (by %s)", c.Method)
	}
	if c.Ratio > 0 {
		printf(w, "; this one costs %s times that", number(roundTo(c.Ratio)))
	}
	printf(w, "\n")
}

// roundTo rounds to four digits behind the point.
func roundTo(x float64) float64 {
	const digits = 1e4
	return float64(int64(x*digits+0.5)) / digits
}
