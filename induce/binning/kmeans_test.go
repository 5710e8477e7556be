package binning_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/binning"
)

// excess is the greatest relative difference of the cost of the chosen bins to the best:
// the rounding error of Fitter's first run.
const excess = 1e-9

// costs are the sums of squares of values i..j-1 about their mean. With 512 bits the
// sums are exact for the values here, and the quotients nearly.
type costs [][]*big.Float

func exact(x float64) *big.Float { return new(big.Float).SetPrec(512).SetFloat64(x) }

func newCosts(values []float64, weights []int64) costs {
	c := make(costs, len(values))
	for i := range c {
		c[i] = make([]*big.Float, len(values)+1)
		w, wx, wxx := exact(0), exact(0), exact(0)
		for j := i; j < len(values); j++ {
			x, term := exact(values[j]), new(big.Float).SetInt64(weights[j])
			w.Add(w, term)
			term = exact(0).Mul(term, x)
			wx.Add(wx, term)
			wxx.Add(wxx, term.Mul(term, x))
			square := exact(0).Mul(wx, wx)
			c[i][j+1] = exact(0).Sub(wxx, square.Quo(square, w))
		}
	}
	return c
}

// cost returns the sum of squares of bins with the given starts.
func (c costs) cost(starts []int) *big.Float {
	sum := exact(0)
	for k := range len(starts) - 1 {
		sum.Add(sum, c[starts[k]][starts[k+1]])
	}
	return sum
}

// brute tries all partitions of the values from start on.
func (c costs) brute(start, bins int) *big.Float {
	if bins == 1 {
		return c[start][len(c)]
	}
	var best *big.Float
	for next := start + 1; next <= len(c)-(bins-1); next++ {
		if sum := exact(0).Add(c[start][next], c.brute(next, bins-1)); best == nil || sum.Cmp(best) < 0 {
			best = sum
		}
	}
	return best
}

// dynamic is the dynamic program without short cuts.
func (c costs) dynamic(bins int) *big.Float {
	before := c[0]
	for q := 2; q <= bins; q++ {
		here := make([]*big.Float, len(c)+1)
		for j := q; j <= len(c); j++ {
			for i := q - 1; i < j; i++ {
				if sum := exact(0).Add(before[i], c[i][j]); here[j] == nil || sum.Cmp(here[j]) < 0 {
					here[j] = sum
				}
			}
		}
		before = here
	}
	return before[len(c)]
}

// checkBest fits bins and compares their cost with the least cost.
func checkBest(t *testing.T, name string, s *binning.Summary, bins int, best func(c costs, bins int) *big.Float) {
	t.Helper()
	values, weights := s.Numbers()
	cuts := binning.FitNumeric(s, binning.KMeans, bins)
	checkCuts(t, s, cuts, bins)
	if len(cuts) != min(bins, len(values))-1 {
		t.Errorf("%s: %d cuts for %d bins of %d values", name, len(cuts), bins, len(values))
	}
	c := newCosts(values, weights)
	got, want := c.cost(startsOf(values, cuts)), best(c, min(bins, len(values)))
	if limit := exact(1 + excess); got.Cmp(limit.Mul(limit, want)) > 0 {
		t.Errorf("%s, %d bins of %v with weights %v: cuts %v cost %.17g, the best %.17g", name, bins, values, weights,
			cuts, got, want)
	}
}

// TestKMeansBrute: few values, on a coarse grid so that many partitions tie.
func TestKMeansBrute(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(1, seed))
		n := 1 + r.IntN(10)
		values, weights := make([]float64, n), make([]int64, n)
		grid := []float64{1, 0.1, 1e-300, 1e150, 1 << 40}[r.IntN(5)]
		far := []float64{0, 0, 1e6, -1e6}[r.IntN(4)]
		for i := range values {
			values[i] = (float64(r.IntN(15)-7) + far) * grid
			weights[i] = 1 + r.Int64N([]int64{1, 5, 1 << 40}[r.IntN(3)])
		}
		for bins := 2; bins <= 6; bins++ {
			checkBest(t, fmt.Sprintf("seed %d", seed), weightedSummary(values, weights), bins,
				func(c costs, bins int) *big.Float {
					return c.brute(0, bins)
				})
		}
	}
}

func TestKMeansDynamicProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const n = 100
	for _, c := range mediumColumns(r, n) {
		weights := slices.Repeat([]int64{1}, n)
		if r.IntN(2) == 0 {
			for i := range weights {
				weights[i] = 1 + r.Int64N(1000)
			}
		}
		s := weightedSummary(c.values, weights)
		for _, bins := range []int{2, 3, 12} {
			checkBest(t, c.name, s, bins, costs.dynamic)
		}
	}
}

// TestKMeansNeighbours: values close together and far from zero. The rounding error of
// their squares is larger than the cost of the bins.
func TestKMeansNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, far := range []float64{1, -1, 1e15, -1e15, 0x1p900} {
		values, weights := make([]float64, 70), make([]int64, 70)
		for i := range values {
			values[i] = far * (1 + float64(r.IntN(1000))*0x1p-52)
			weights[i] = 1 + r.Int64N(9)
		}
		for _, bins := range []int{2, 3, 12} {
			checkBest(t, fmt.Sprintf("near %v", far), weightedSummary(values, weights), bins, costs.dynamic)
		}
	}
}

// squares returns the cost of bins with the given starts in float64, from distances to
// the mean, so no digits cancel.
func squares(values []float64, weights []int64, starts []int) float64 {
	sum := 0.0
	for k := range len(starts) - 1 {
		m := mean(values, weights, starts[k], starts[k+1])
		for i := starts[k]; i < starts[k+1]; i++ {
			sum += float64(weights[i]) * (values[i] - m) * (values[i] - m)
		}
	}
	return sum
}

func mean(values []float64, weights []int64, from, to int) float64 {
	sum, weight := 0.0, 0.0
	for i := from; i < to; i++ {
		sum += float64(weights[i]) * values[i]
		weight += float64(weights[i])
	}
	return sum / weight
}

// lloyd improves random starts until they no longer change.
func lloyd(r *rand.Rand, values []float64, weights []int64, bins int) []int {
	starts := r.Perm(len(values) - 1)[:bins-1]
	starts = append(starts, len(values)-1, -1)
	slices.Sort(starts)
	for k := range starts {
		starts[k]++
	}
	for {
		var cuts []float64
		for k := range bins - 1 {
			cuts = append(cuts, (mean(values, weights, starts[k], starts[k+1])+mean(values, weights, starts[k+1],
				starts[k+2]))/2)
		}
		next := startsOf(values, cuts)
		if slices.Equal(next, starts) {
			return starts
		}
		starts = next
	}
}

// TestKMeansLloyd: on columns too large for a brute-force reference, no random start of
// Lloyd's algorithm (which scikit-learn uses) leads to better bins.
func TestKMeansLloyd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range mediumColumns(r, 2500) {
		s := numericSummary(c.values)
		values, weights := s.Numbers()
		for _, bins := range []int{3, 5, 32, 100} {
			cuts := binning.FitNumeric(s, binning.KMeans, bins)
			checkCuts(t, s, cuts, bins)
			got := squares(values, weights, startsOf(values, cuts))
			for range 3 {
				if want := squares(values, weights, lloyd(r, values, weights, bins)); got > want*(1+excess) {
					t.Errorf("%s, %d bins cost %v, Lloyd's %v", c.name, bins, got, want)
				}
			}
		}
	}
}

// TestKMeansReference has the optima that scikit-learn 1.9.1 finds:
//
//	c = np.sort(KMeans(bins, n_init=200, tol=0, random_state=0).fit(x, sample_weight=w).cluster_centers_[:, 0])
//	cuts = (c[1:] + c[:-1]) / 2
//
// Petal lengths are those of its iris data, weighted by how often they occur.
func TestKMeansReference(t *testing.T) {
	petals := []float64{
		1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.9, 3, 3.3, 3.5, 3.6, 3.7, 3.8, 3.9, 4, 4.1, 4.2, 4.3, 4.4, 4.5,
		4.6, 4.7, 4.8, 4.9, 5, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7, 5.8, 5.9, 6, 6.1, 6.3, 6.4, 6.6, 6.7, 6.9,
	}
	often := []int64{
		1, 1, 2, 7, 13, 13, 7, 4, 2, 1, 2, 2, 1, 1, 1, 3, 5, 3, 4, 2, 4, 8,
		3, 5, 4, 5, 4, 8, 2, 2, 2, 3, 6, 3, 3, 2, 2, 3, 1, 1, 1, 2, 1,
	}
	steps, stepWeights := []float64{1, 2, 4, 7, 11, 16, 22, 29, 37, 46}, []int64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	mixed := []float64{-3.5, -3.25, -1, 0.125, 0.5, 2, 2.25, 8, 8.5, 9.75, 20}
	for _, test := range []struct {
		name    string
		values  []float64
		weights []int64
		want    []float64
	}{
		{"petals", petals, often, []float64{2.8763703703703705, 4.959500805152979}},
		{"petals", petals, often, []float64{2.673, 4.324926829268293, 5.169883351007423, 5.964229249011858}},
		{"weighted", steps, stepWeights, []float64{9.149305555555557, 25.34375}},
		{"weighted", steps, stepWeights, []float64{8.662698412698415, 20.732142857142858, 33.8125}},
		{"mixed", mixed, nil, []float64{5.575892857142857}},
		{"mixed", mixed, nil, []float64{-0.6822916666666661, 4.984375, 14.375}},
		{"mixed", mixed, nil, []float64{-1.75, 1, 5.1875, 9, 14.875}},
	} {
		bins := len(test.want) + 1
		got := binning.FitNumeric(weightedSummary(test.values, test.weights), binning.KMeans, bins)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-14, 0)); diff != "" {
			t.Errorf("%s, %d bins: cuts (-want +got):\n%s", test.name, bins, diff)
		}
	}
}

// TestKMeansTies: among partitions of equal cost, the last bin starts as far left as
// possible, then the bin before it, and so on: Fitter's "least best i". The costs here
// are exact in float64, so ties are exact. By hand.
func TestKMeansTies(t *testing.T) {
	for _, test := range []struct {
		values, want []float64
	}{
		{[]float64{0, 1, 2}, []float64{0.75}},                       // 0 | 1 2
		{[]float64{0, 1, 2, 3, 4}, []float64{0.75, 2.5}},            // 0 | 1 2 | 3 4
		{[]float64{0, 1, 2, 3, 4, 5, 6}, []float64{0.75, 2.5, 4.5}}, // 0 | 1 2 | 3 4 | 5 6
		{[]float64{-2, -1, 1, 2}, []float64{-1.5, 0.25}},            // -2 | -1 | 1 2
	} {
		got := binning.FitNumeric(numericSummary(test.values), binning.KMeans, len(test.want)+1)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: cuts (-want +got):\n%s", test.values, diff)
		}
	}
}

// TestKMeansHugeWeights: light values beside a heavy one are partitioned optimally,
// though plain float64 sums with the heavy one would lose them.
func TestKMeansHugeWeights(t *testing.T) {
	for _, n := range []int{5, 70} {
		for _, huge := range []int64{1 << 50, 1<<53 + 1, 1 << 58, math.MaxInt64 - 1000} {
			for _, at := range []int{0, n / 2, n - 1} {
				values, weights := make([]float64, n), slices.Repeat([]int64{1}, n)
				for i := range values {
					values[i] = float64(i * i)
				}
				weights[at] = huge
				name := fmt.Sprintf("weight %d at %d of %d", huge, at, n)
				for _, bins := range []int{2, 4} {
					checkBest(t, name, weightedSummary(values, weights), bins, costs.dynamic)
				}
			}
		}
	}
}

// TestKMeansAnyWeights: whatever the weights, no bin is empty.
func TestKMeansAnyWeights(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(4, seed))
		n := 2 + r.IntN(200)
		values, weights := make([]float64, n), make([]int64, n)
		for i := range values {
			values[i] = r.NormFloat64()
			weights[i] = 1 + math.MaxInt64/int64(n)>>r.IntN(63)/2
		}
		s := weightedSummary(values, weights)
		for bins := 2; bins <= 5; bins++ {
			if cuts := binning.FitNumeric(s, binning.KMeans, bins); len(cuts) != min(bins, n)-1 {
				t.Errorf("seed %d: %d cuts for %d bins", seed, len(cuts), bins)
			} else {
				checkCuts(t, s, cuts, bins)
			}
		}
	}
}

// TestKMeansInfinities: infinities have bins of their own as long as two bins are left,
// and the finite values have the best partition into the other bins.
func TestKMeansInfinities(t *testing.T) {
	finite := []float64{1, 2, 3, 10, 11, 12, 30}
	inf := math.Inf(1)
	for _, test := range []struct {
		values []float64
		want   []float64 // by hand
	}{
		{append(slices.Clone(finite), inf), []float64{6.5, 20.5, math.MaxFloat64}},
		{append(slices.Clone(finite), -inf), []float64{-math.MaxFloat64, 6.5, 20.5}},
		{append(slices.Clone(finite), -inf, inf), []float64{-math.MaxFloat64, 18.25, math.MaxFloat64}},
		// 2 bins: none left for the other infinity
		{append(slices.Clone(finite), -inf, inf), []float64{-math.MaxFloat64}},
	} {
		s := numericSummary(test.values)
		got := binning.FitNumeric(s, binning.KMeans, len(test.want)+1)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: cuts (-want +got):\n%s", test.values, diff)
		}
	}
}

// TestKMeansScale: multiplying all values by a power of two multiplies the cuts, up to
// the limits of float64.
func TestKMeansScale(t *testing.T) {
	values := []float64{-7.5, -7, -3, 0.5, 1, 1.25, 2, 6, 6.5, 7.75}
	want := binning.FitNumeric(numericSummary(values), binning.KMeans, 4)
	for _, e := range []int{-1060, -1022, -500, 500, 1021} {
		scaled, back := make([]float64, len(values)), make([]float64, len(want))
		for i, x := range values {
			scaled[i] = math.Ldexp(x, e)
		}
		s := numericSummary(scaled)
		got := binning.FitNumeric(s, binning.KMeans, 4)
		checkCuts(t, s, got, 4)
		for i, cut := range got {
			back[i] = math.Ldexp(cut, -e)
		}
		// At 2^-1060 numbers have 14 bits fewer than 53.
		if diff := cmp.Diff(want, back, cmpopts.EquateApprox(1e-3, 0)); diff != "" {
			t.Errorf("times 2^%d: cuts (-want +got):\n%s", e, diff)
		}
	}
}

// TestFitterReuse: a used Fitter gives the same cuts as a new one.
func TestFitterReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var f binning.Fitter
	for range 3 {
		for _, c := range mediumColumns(r, 2+r.IntN(400)) {
			s := numericSummary(c.values)
			for _, m := range methods() {
				bins := 2 + r.IntN(20)
				if diff := cmp.Diff(binning.FitNumeric(s, m, bins), f.FitNumeric(s, m, bins),
					cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s, %d bins: cuts of a new Fitter and of one in use differ:\n%s", c.name, m, bins,
						diff)
				}
			}
		}
	}
}
