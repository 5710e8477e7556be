package significance_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/bench/experiments/ranking"
	"github.com/espalier-ml/espalier/bench/experiments/significance"
)

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= float64(relative*math.Abs(want))
}

// TestPublished: the critical values are those of tables 5a and 5b of Demšar (2006), at levels of
// .05 and .10. Some of their figures are cut, not rounded.
func TestPublished(t *testing.T) {
	const sets = 6 // critical differences are values times the root of k (k+1) / 36
	for _, test := range []struct {
		level  float64
		of     func(methods, sets int, level float64) float64
		values []float64
	}{
		{.05, significance.Nemenyi, []float64{1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164}},
		{.10, significance.Nemenyi, []float64{1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920}},
		{.05, significance.BonferroniDunn, []float64{1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773}},
		{.10, significance.BonferroniDunn, []float64{1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539}},
	} {
		for i, want := range test.values {
			k := i + 2
			got := test.of(k, sets, test.level) / math.Sqrt(float64(k*(k+1))/float64(6*sets))
			slip := 0.0
			if want == 2.724 {
				slip = .01 // the normal distribution's quantile is 2.7344: a slip of the table
			}
			if math.Abs(got-want) > .0011+slip {
				t.Errorf("%d methods at %v: %.4f, the table has %v", k, test.level, got, want)
			}
		}
	}
}

// TestSciPy: the values are those of SciPy 1.17: friedmanchisquare, and stats.f.sf of (n-1) c /
// (n (k-1) - c) for its statistic c of k methods on n data sets.
func TestSciPy(t *testing.T) {
	for name, test := range map[string]struct {
		ranks        [][]float64
		chi, p, f, q float64
	}{
		"five sets": {
			[][]float64{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {1, 2, 3}, {1, 2, 3}},
			6.400000000000006, 0.04076220397836611, 7.1111111111111285, 0.016796159999999893,
		},
		"small p": {
			slices.Repeat([][]float64{{1, 2, 3, 4}, {1, 2, 4, 3}}, 10), 54, 1.1220599619487071e-11, 171, 1.8342680917335707e-28,
		},
		"ties": {tiedRanks(), 13.365102639296135, 0.20396871306978903, 1.3606080842204444, 0.2014048160461489},
	} {
		got := significance.NewFriedman(test.ranks)
		if got.F == nil || !near(got.ChiSquared, test.chi, 1e-11) || !near(got.P, test.p, 1e-11) ||
			!near(*got.F, test.f, 1e-11) || !near(got.FP, test.q, 1e-11) {
			t.Errorf("%s: %+v, F %v: want %+v", name, got, got.F, test)
		}
	}
}

// tiedRanks are SciPy's rankdata of numpy.random.default_rng(7).integers(0, 5, (20, 11)).
func tiedRanks() [][]float64 {
	return [][]float64{
		{10, 7, 7, 10, 5, 7, 10, 3, 1, 3, 3},
		{9.5, 9.5, 2, 5.5, 9.5, 2, 7, 2, 5.5, 9.5, 4},
		{2, 2, 10, 2, 11, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5},
		{9.5, 9.5, 6, 6, 6, 2.5, 9.5, 4, 2.5, 9.5, 1},
		{10, 8, 2.5, 2.5, 6, 2.5, 2.5, 6, 10, 6, 10},
		{10, 10, 8, 6, 6, 3, 6, 3, 3, 10, 1},
		{2, 2, 10.5, 8, 10.5, 4.5, 8, 4.5, 6, 2, 8},
		{9, 6, 1.5, 4.5, 3, 9, 9, 1.5, 4.5, 9, 9},
		{9, 9, 1.5, 9, 5, 1.5, 3, 5, 9, 5, 9},
		{11, 9, 4, 9, 6.5, 1.5, 1.5, 9, 4, 6.5, 4},
		{3.5, 1, 3.5, 10.5, 7.5, 3.5, 7.5, 10.5, 3.5, 7.5, 7.5},
		{9, 5.5, 9, 5.5, 9, 11, 1, 5.5, 5.5, 2.5, 2.5},
		{2.5, 6.5, 10, 2.5, 6.5, 10, 10, 5, 2.5, 8, 2.5},
		{3, 5, 9.5, 1.5, 7, 5, 1.5, 9.5, 9.5, 5, 9.5},
		{7.5, 10, 10, 5.5, 3.5, 1.5, 5.5, 1.5, 7.5, 10, 3.5},
		{7, 2, 2, 4.5, 10.5, 10.5, 9, 7, 7, 2, 4.5},
		{10, 5, 2.5, 2.5, 7.5, 1, 10, 10, 5, 5, 7.5},
		{7, 7, 4.5, 7, 9.5, 2, 2, 9.5, 4.5, 11, 2},
		{10.5, 2, 5.5, 10.5, 2, 8.5, 8.5, 5.5, 2, 5.5, 5.5},
		{10, 7.5, 3, 1, 5.5, 3, 7.5, 10, 3, 10, 5.5},
	}
}

// TestDifferences: the values are SciPy's (1.17) stats.studentized_range with infinite degrees of
// freedom, and stats.norm. SciPy integrates to about 1e-10.
func TestDifferences(t *testing.T) {
	for _, test := range []struct {
		methods, sets                        int
		difference                           float64
		nemenyiP, dunnP, nemenyi, dunn, at10 float64
	}{
		{4, 14, 1.1, 0.10894449240527337, 0.07252640294513123, 1.2535591471176057, 1.1681425306400992, 1.1180601669815278},
		{11, 20, 2.5, 0.3770720548640045, 0.17141595440795626, 3.375752382561592, 2.9440418533513855, 3.1231096897267587},
		{7, 14, .3, 0.9998074333693141, 1, 2.4072932137937526, 2.154128043401471, 2.198606553794508},
		{2, 5, 1, 0.025347318677467978, 0.025347318677468252, 0.8765225405765812, 0.8765225405765817, 0.7356009045801144},
		{20, 20, 9, 0.00026847009215780204, 2.8576161234172615e-05, 6.6298410988432925, 5.6270533934337505, 6.2097164478417985},
	} {
		k, n := test.methods, test.sets
		for name, pair := range map[string][2]float64{
			"Nemenyi's p":                      {significance.NemenyiP(k, n, test.difference), test.nemenyiP},
			"Bonferroni and Dunn's p":          {significance.BonferroniDunnP(k, n, test.difference), test.dunnP},
			"Nemenyi's difference":             {significance.Nemenyi(k, n, .05), test.nemenyi},
			"Bonferroni and Dunn's difference": {significance.BonferroniDunn(k, n, .05), test.dunn},
			"Nemenyi's difference at .10":      {significance.Nemenyi(k, n, .1), test.at10},
		} {
			if !near(pair[0], pair[1], 1e-8) {
				t.Errorf("%d methods on %d sets: %s %v, want %v", k, n, name, pair[0], pair[1])
			}
		}
	}
}

// TestEnds: equal methods, and methods in the same order on each data set.
func TestEnds(t *testing.T) {
	same := significance.NewFriedman([][]float64{{2, 2, 2}, {2, 2, 2}})
	if same.ChiSquared != 0 || same.P != 1 || same.F == nil || *same.F != 0 || same.FP != 1 {
		t.Errorf("equal methods: %+v", same)
	}
	// Of three methods on four sets the statistic is at most 4 (3 - 1).
	if agreed := significance.NewFriedman([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}); agreed.F != nil ||
		agreed.FP != 0 || agreed.ChiSquared != 8 {
		t.Errorf("methods in the same order: %+v", agreed)
	}
}

// TestGroups holds the runs against all pairs.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	for range 200 {
		rows := make([][]float64, 5)
		for i := range rows {
			for range 8 {
				rows[i] = append(rows[i], r.Float64())
			}
		}
		ranks := slices.Sorted(slices.Values(ranking.MeanRanks(rows, true)))
		const critical = 1.5
		groups := significance.Groups(ranks, critical)
		for a := range ranks {
			for b := a + 1; b < len(ranks); b++ {
				joined := slices.ContainsFunc(groups, func(g [2]int) bool { return g[0] <= a && b <= g[1] })
				if alike := ranks[b]-ranks[a] < critical; alike != joined {
					t.Fatalf("%v: ranks %v and %v are alike: %v; in one of the groups %v: %v", ranks, ranks[a], ranks[b],
						alike, groups, joined)
				}
			}
		}
		for i, g := range groups {
			for _, h := range groups[i+1:] {
				if h[0] <= g[0] || h[1] <= g[1] {
					t.Fatalf("%v: group %v lies in another one: %v", ranks, g, groups)
				}
			}
		}
	}
}
