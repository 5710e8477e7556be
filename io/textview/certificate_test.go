package textview_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestCertificateDigits: at every magnitude of costs, the printed bound is at most the
// bound, the printed cost and ratio are at least the cost and ratio, and none is 0.
func TestCertificateDigits(t *testing.T) {
	for exponent := -300; exponent <= 300; exponent += 15 {
		unit := math.Pow(10, float64(exponent))
		bound, cost := 1.23456789*unit, 2.34565999*unit
		m := &tree.Tree{
			Label: tree.Label{Classes: []string{"a", "b"}},
			Nodes: []tree.Node{{
				Weight: 1, ClassWeights: []int64{1, 0}, RawClassWeights: []int64{1, 0},
				Probabilities: []float64{1, 0},
			}},
			Certificate: &tree.Certificate{
				Theta: 0.00123456, LowerBound: bound, ExpectedCost: cost,
				Ratio: cost / bound, Method: certify.Cover, Confidence: 1,
			},
		}
		var b strings.Builder
		if err := textview.Text(&b, m, 0); err != nil {
			t.Fatal(err)
		}
		at := strings.Index(b.String(), "certificate:")
		if at < 0 {
			t.Fatalf("no certificate in %q", b.String())
		}
		text := b.String()[at:]
		var got []float64
		for _, digits := range regexp.MustCompile(`[0-9][0-9.e+-]*[0-9]`).FindAllString(text, -1) {
			x, err := strconv.ParseFloat(digits, 64)
			if err != nil {
				t.Fatalf("%q in %q", digits, text)
			}
			got = append(got, x)
		}
		if len(got) != 4 {
			t.Fatalf("1e%d: numbers %v in %q", exponent, got, text)
		}
		theta, low, high, ratio := got[0], got[1], got[2], got[3]
		if theta < 0.123456 || low > bound || low < 0.999*bound || high < cost || high > 1.001*cost ||
			ratio < cost/bound || ratio > 1.91 {
			t.Errorf("1e%d: %q", exponent, text)
		}
	}
}
