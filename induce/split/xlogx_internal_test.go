package split

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// exactLog2 returns log2 x for x >= 1 to about 100 bits, by the schoolbook method:
// squaring doubles the logarithm, and the next binary digit is 1 if the square is at
// least 2.
func exactLog2(x float64) *big.Float {
	const precision, digits = 256, 100
	fraction, exponent := math.Frexp(x)
	y := new(big.Float).SetPrec(precision).SetFloat64(2 * fraction)
	log := new(big.Float).SetPrec(precision).SetInt64(int64(exponent - 1))
	digit, two := new(big.Float).SetPrec(precision).SetInt64(1), big.NewFloat(2)
	for range digits {
		digit.Quo(digit, two)
		if y.Mul(y, y); y.Cmp(two) >= 0 {
			y.Quo(y, two)
			log.Add(log, digit)
		}
	}
	return log
}

// ulps returns how far x is from the exact value, in units of x's last place.
func ulps(x float64, exact *big.Float) float64 {
	d, _ := new(big.Float).Sub(new(big.Float).SetPrec(256).SetFloat64(x), exact).Float64()
	return math.Abs(d) / (math.Nextafter(math.Abs(x), math.Inf(1)) - math.Abs(x))
}

func TestLog2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	xs := []float64{2, 3, 5, 7, 10, 1<<53 - 1, 1 << 53, 1<<62 + 1<<20}
	for range 2000 { // whole numbers of any size, as weights are
		xs = append(xs, math.Floor(2+math.Exp2(62*r.Float64())))
	}
	for _, x := range xs {
		// 1.5: half a unit each for the product, the sum and the series.
		if got := portable.Log2(x); ulps(got, exactLog2(x)) > 1.5 {
			t.Errorf("log2(%v) = %v, off by %.2f units of its last place", x, got, ulps(got, exactLog2(x)))
		}
	}
	for e := range 63 { // powers of two: exact
		if got := portable.Log2(math.Ldexp(1, e)); got != float64(e) {
			t.Errorf("log2(2^%d) = %v", e, got)
		}
	}
}

func TestXlogx(t *testing.T) {
	table := newXlogx()
	for _, m := range []int64{0, 1} {
		for _, x := range []xlogx{table, {}} { // a table, and none
			if got := x.at(m); got != 0 {
				t.Errorf("xlogx(%d) = %v, want 0", m, got)
			}
		}
	}
	for _, m := range []int64{2, 3, 100, xlogxTable - 1, xlogxTable, xlogxTable + 1, 1 << 20, 1e12 + 7} {
		exact := exactLog2(float64(m))
		exact.Mul(exact, big.NewFloat(float64(m)))
		if off := ulps(table.at(m), exact); off > 3 { // the error of log2, at most doubled, and of the product
			t.Errorf("xlogx(%d) = %v, off by %.2f units of its last place", m, table.at(m), off)
		}
	}
}

// TestHeavy compares the fixed-point sum with exact fractions: it is the sum of
// the quotients, each rounded down to 2^-64, whatever the order and grouping.
func TestHeavy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		node := 2 + r.Int64N(1<<(2+r.IntN(60)))
		weights := make([]int64, 1+r.IntN(50))
		want := new(big.Int)
		weight := int64(0)
		for i := range weights {
			w := 1 + r.Int64N(min(node-1, 1<<56))
			weights[i] = w
			weight += w
			q := new(big.Int).Lsh(big.NewInt(w), 64)
			want.Add(want, q.Quo(q, big.NewInt(node-w)))
		}
		var forward, halves, first, second Heavy
		for i, w := range weights {
			h := NewHeavy(w, node)
			forward.Add(&h)
			if i%2 == 0 {
				first.Add(&h)
			} else {
				second.Add(&h)
			}
		}
		halves.Add(&second)
		halves.Add(&first)
		if forward != halves {
			t.Fatalf("sums in two orders: %+v and %+v", forward, halves)
		}
		got := new(big.Int).Lsh(new(big.Int).SetUint64(forward.Hi), 64)
		got.Add(got, new(big.Int).SetUint64(forward.Lo))
		if got.Cmp(want) != 0 || forward.Weight != weight {
			t.Fatalf("sum %v of weight %d, want %v of %d", got, forward.Weight, want, weight)
		}
		if rest := forward.Minus(&first); rest != second {
			t.Fatalf("less one half: %+v, want %+v", rest, second)
		}
		exact, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(want), -64).Float64()
		if q := forward.quotients(); math.Abs(q-exact) > 0x1p-52*exact {
			t.Fatalf("quotients %v, want %v", q, exact)
		}
	}
}
