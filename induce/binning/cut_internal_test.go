package binning

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// The cuts are worked out by hand.
func TestShortest(t *testing.T) {
	for _, test := range []struct{ a, b, want float64 }{
		{13, 14.4, 14},
		{13, 14, 14},
		{14, 15, 15},
		{0, 1, .5},
		{0, 14, 7},
		{1, 11, 6},
		{1, 2, 2},
		{-1, 0, 0},
		{-3, 700, 0},
		{95, 105, 100},
		{10, 1000, 500},
		{8.6, 8.7, 8.7},
		{8.64, 8.66, 8.65},
		{8.5, 8.8, 8.7},
		{-14.4, -13, -14},
		{0.1, 0.1000001, 0.1000001},
		{1e300, 3e300, 2e300}, // the midpoint: beyond exact powers of ten
	} {
		m, _ := midpoint(test.a, test.b)
		if got := shortest(test.a, test.b, m); got != test.want {
			t.Errorf("between %v and %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

// A cut parts its neighbours, and no text between them is shorter by two digits: a text that is shorter by one may be
// nearer to a neighbour than to the middle.
func TestShortestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 7))
	digits := func(x float64) int {
		text := strconv.FormatFloat(x, 'e', -1, 64)
		n := 0
		for _, c := range text {
			if c == 'e' {
				break
			}
			if c >= '0' && c <= '9' {
				n++
			}
		}
		return n
	}
	for range 20_000 {
		a := (r.Float64() - .5) * math.Pow10(r.IntN(12)-4)
		b := a + r.Float64()*math.Pow10(r.IntN(12)-8)
		m, ok := midpoint(a, b)
		if !ok || b <= a {
			continue
		}
		cut := shortest(a, b, m)
		if !(a < cut && cut <= b) {
			t.Fatalf("%v does not part %v and %v", cut, a, b)
		}
		for few := 1; few < digits(cut); few++ {
			near, err := strconv.ParseFloat(strconv.FormatFloat(m, 'e', few-1, 64), 64)
			if err != nil {
				t.Fatal(err)
			}
			if a < near && near <= b {
				t.Fatalf("between %v and %v: %v, but %v has fewer digits", a, b, cut, near)
			}
		}
	}
}
