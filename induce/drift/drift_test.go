package drift_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/drift"
)

// TestMeasure has expected values of scipy 1.17.1 and numpy 2.4.6. b and n are the counts, has = b + n > 0, and
// p, q = (b[has] + .5) / (b.sum() + has.sum()/2), (n[has] + .5) / (n.sum() + has.sum()/2):
//
//	psi = (rel_entr(p, q) + rel_entr(q, p)).sum()            # scipy.special
//	ks = abs(cumsum(b)/b.sum() - cumsum(n)/n.sum()).max()
//	js = jensenshannon(b, n, base=2)                         # scipy.spatial.distance
//	chi = chi2_contingency([b, n], correction=False)         # scipy.stats; rare bins put together by hand
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now []int64
		want        drift.Measures
	}{
		{"all bins moved", []int64{10, 20, 30, 40}, []int64{40, 30, 20, 10}, drift.Measures{
			PSI: 0.8719768526109903, KolmogorovSmirnov: 0.39999999999999997, JensenShannon: 0.3918681606471551,
			ChiSquare: 40, Freedom: 3, P: 1.065509033425585e-08,
		}},
		{"chance", []int64{1000, 2000, 3000}, []int64{1010, 1985, 3005}, drift.Measures{
			PSI: 3.676989158324904e-05, KolmogorovSmirnov: 0.0016666666666666774, JensenShannon: 0.0025758465113970706,
			ChiSquare: 0.11037617260974736, Freedom: 2, P: 0.9463071437999839,
		}},
		{"a bin appears, another goes", []int64{50, 0, 50, 900}, []int64{60, 40, 0, 1000}, drift.Measures{
			PSI: 0.3915947341711648, KolmogorovSmirnov: 0.04090909090909091, JensenShannon: 0.20801345333835028,
			ChiSquare: 91.61809482383646, Freedom: 3, P: 9.839639140279905e-20,
		}},
		{"the first three are one bin", []int64{3, 1, 2, 500, 400}, []int64{1, 2, 9, 450, 700}, drift.Measures{
			PSI: 0.11675860102393479, KolmogorovSmirnov: 0.16090853480145745, JensenShannon: 0.1456794158159251,
			ChiSquare: 55.61144143371274, Freedom: 2, P: 8.397092307593057e-13,
		}},
		{"too few rows for a test", []int64{2, 3}, []int64{4, 1}, drift.Measures{
			PSI: 0.4783615084297742, KolmogorovSmirnov: 0.4, JensenShannon: 0.35286151643903174, P: 1,
		}},
		{"many rows", []int64{100_000_000, 300_000_000, 7}, []int64{100_030_000, 299_960_000, 40}, drift.Measures{
			PSI: 1.7434050594258604e-07, KolmogorovSmirnov: 8.123139755278341e-05, JensenShannon: 0.0001715476971662049,
			ChiSquare: 30.2122044219958, Freedom: 2, P: 2.751079664660928e-07,
		}},
		{"no rows now", []int64{5, 5}, []int64{0, 0}, drift.Measures{P: 1}},
	} {
		got := drift.Measure(c.before, c.now)
		for _, one := range []struct {
			name      string
			got, want float64
		}{
			{"PSI", got.PSI, c.want.PSI},
			{"KS", got.KolmogorovSmirnov, c.want.KolmogorovSmirnov},
			{"JS", got.JensenShannon, c.want.JensenShannon},
			{"chi square", got.ChiSquare, c.want.ChiSquare},
			{"freedom", float64(got.Freedom), float64(c.want.Freedom)},
			{"p", got.P, c.want.P},
		} {
			if !near(one.got, one.want) {
				t.Errorf("%s: %s %v, want %v", c.name, one.name, one.got, one.want)
			}
		}
	}
}

// near allows for the cancellation in the distance of lists that are nearly the same.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-8*math.Abs(want) }

// TestSame: lists with the same shares are 0 apart.
func TestSame(t *testing.T) {
	got := drift.Measure([]int64{1000, 0, 3000}, []int64{2000, 0, 6000})
	if got.KolmogorovSmirnov != 0 || got.JensenShannon != 0 || got.ChiSquare != 0 || got.P != 1 || got.PSI > 1e-7 {
		t.Errorf("%+v, want 0 in all but PSI, which the half rows move", got)
	}
}

// TestPooledAll: a rare bin that is too small alone joins the smallest other one, by hand: of 1,000 and 1,000 rows a
// bin needs 10 of both lists. {600, 391, 9} is rare in the last bin, which joins the second one. The statistic of
// {600, 400} and {500, 500} is 1000 * 2 * (600*500-400*500)^2 / (1100*900*1000*1000) = 20.2.
func TestPooledAll(t *testing.T) {
	got := drift.Measure([]int64{600, 395, 5}, []int64{500, 496, 4})
	if want := 200.0 / 9.9; got.Freedom != 1 || !near(got.ChiSquare, want) {
		t.Errorf("chi square %v with %d degrees of freedom, want %v with 1", got.ChiSquare, got.Freedom, want)
	}
}

// TestFalseAlarms draws both lists from the same distributions: at most the stated share of the days gives an alarm. By
// chance more than 27 of 2,000 days at a rate of 0.01 come with a probability of 0.05 (binomial); the seed is fixed.
func TestFalseAlarms(t *testing.T) {
	const days, columns, bins, rate = 2000, 8, 12, 0.01
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(rows, last int) []int64 {
		counts := make([]int64, bins)
		for range rows {
			at := r.IntN(bins * bins) // bin k has a share of (2k+1) / bins^2
			counts[min(last, int(math.Sqrt(float64(at))))]++
		}
		return counts
	}
	day := func(last int) bool {
		measured := make([]drift.Measures, columns)
		for i := range measured {
			measured[i] = drift.Measure(draw(1500, bins-1), draw(500, last))
		}
		return slices.Contains(drift.Limits{FalseAlarms: rate}.Alarms(measured), true)
	}
	alarms := 0
	for range days {
		if day(bins - 1) {
			alarms++
		}
	}
	if alarms > 27 {
		t.Errorf("%d of %d days without drift give an alarm, want at most %v of them", alarms, days, rate)
	}
	if !day(bins - 2) {
		t.Error("a day on which a bin has gone gives no alarm")
	}
}

// TestLeastPSI: of very many rows a movement of no weight gives no alarm.
func TestLeastPSI(t *testing.T) {
	moved := []drift.Measures{drift.Measure([]int64{1_000_000, 1_000_000}, []int64{1_010_000, 990_000})}
	if !(drift.Limits{FalseAlarms: 0.01}).Alarms(moved)[0] {
		t.Error("a movement by 20 standard deviations gives no alarm")
	}
	if (drift.Limits{FalseAlarms: 0.01, PSI: 0.1}).Alarms(moved)[0] {
		t.Errorf("a PSI of %v gives an alarm", moved[0].PSI)
	}
}
