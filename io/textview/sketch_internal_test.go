package textview

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// TestFitted: a condition that is too wide loses values of its set before its middle.
func TestFitted(t *testing.T) {
	l := line{
		condition: "spore-print-color in {b, h, k, n, and 3 more}",
		shorter:   []string{"spore-print-color in {b, h, k, and 4 more}", "spore-print-color in {b, and 6 more}"},
	}
	for width, want := range map[int]string{
		50: l.condition, 45: l.condition, 44: l.shorter[0], 36: l.shorter[1],
	} {
		if _, got := l.fitted(0, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

// TestAllDigits: numbers have all digits, without an exponent.
func TestAllDigits(t *testing.T) {
	for x, want := range map[float64]string{15406975.65: "15406975.65", 0.001: "0.001", 30: "30", 1e20: "100000000000000000000"} {
		if got := allDigits(&dataset.Feature{}, x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
