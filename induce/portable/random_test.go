package portable_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/portable"
)

// TestRandom: the first numbers of SplitMix64 for the seed 1234567, as Rosetta Code lists them.
func TestRandom(t *testing.T) {
	r := portable.Random{Key: 1234567}
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		if got := r.Next(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// TestBinomial: successes have the mean and the variance of the binomial distribution, of few trials and of many, with
// probabilities near 0 and 1, and its fourth moment, which is about 3 where they are many.
func TestBinomial(t *testing.T) {
	r := portable.Random{Key: 58}
	const times = 4000
	for _, n := range []int64{1, 2, 63, 64, 65, 1000, 4097, 100_000, 1_000_000_000, 1 << 52} {
		for _, p := range [][2]uint64{{1, 2}, {70, 100}, {1, 10}, {1, 1 << 20}, {1<<20 - 1, 1 << 20}, {0, 7}, {7, 7}} {
			share := float64(p[0]) / float64(p[1])
			mean, variance := float64(n)*share, float64(n)*share*(1-share)
			sum, squares, fourths := 0.0, 0.0, 0.0
			for range times {
				x := r.Binomial(n, p[0], p[1])
				if x < 0 || x > n {
					t.Fatalf("%d of %d trials succeed", x, n)
				}
				d := float64(x) - mean
				sum += d
				squares += d * d
				fourths += d * d * d * d
			}
			if variance == 0 {
				if sum != 0 {
					t.Errorf("%d trials at %v: %v", n, share, sum)
				}
				continue
			}
			if z := sum / math.Sqrt(times*variance); math.Abs(z) > 5 {
				t.Errorf("%d trials at %v: the mean is %.1f standard errors off", n, share, z)
			}
			if kurtosis := 3 + (1-6*share*(1-share))/variance; math.Abs(squares/times/variance-1) > 5*math.Sqrt((kurtosis-1)/times) {
				t.Errorf("%d trials at %v: %.3f times the variance", n, share, squares/times/variance)
			}
			if variance > 1000 && math.Abs(fourths/times/variance/variance-3) > 0.6 {
				t.Errorf("%d trials at %v: kurtosis %.2f", n, share, fourths/times/variance/variance)
			}
		}
	}
}
