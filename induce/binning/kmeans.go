package binning

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Fitter fits cuts, and keeps its memory from column to column. The zero value is ready for use.
// Only one goroutine at a time may use it.
//
// # K-means
//
// One-dimensional k-means is solved exactly by dynamic programming over the n
// distinct values: with C(i, j) the sum of weighted squares about their mean of
// values i..j-1,
//
//	D(1, j) = C(0, j)
//	D(q, j) = min over i of D(q-1, i) + C(i, j)
//
// and the least best i, s(q, j), neither falls with j nor with q (C meets the
// quadrangle inequality). So a layer is computed by halving: its middle entry
// first, then each half between the splits found around it, above s(q-1, j), in
// O(n log n). See Wang and Song, Ckmeans.1d.dp, The R Journal 3/2 (2011), and
// Gronlund et al., Fast exact k-means ... in 1D, arXiv:1701.07204.
//
// C comes from prefix sums of w, w x and w x^2. In plain float64 the square of a far outlier would
// swallow the costs of small bins. So each sum is kept in two parts: a float64 on a grid, whose
// differences are exact, and the remainder. A first run only uses the grid part, which is three
// times as fast. If the cost found is too small relative to rounding errors, a second run uses both
// parts.
type Fitter struct {
	values  []float64 // distinct, ascending
	weights []int64
	shift   uint8 // shift of the summary

	midpoints bool // cut at midpoints, not at short decimals

	sums   []sums    // prefix sums of the finite values, starting with zeros
	before []float64 // D(q-1, j)
	here   []float64 // D(q, j)
	splits []int32   // s(q, j), a row of n+1 for each q from 2
	rough  bool      // leave out the remainders of the sums
}

// sums are prefix sums over scaled values x: of w, and of w x and w x^2 in two parts, on the grid
// and the remainder.
type sums struct {
	w, x, xx    float64
	xLow, xxLow float64
}

// scaling maps values to [-1, 1]: x becomes (x - zero) * down * down2. All steps are
// exact: zero is 0 unless all values lie within a factor of two of it, and the factors
// are powers of two. Their product may not be a float64.
type scaling struct {
	zero        float64
	down, down2 float64
}

func newScaling(lo, hi float64) scaling {
	var s scaling
	switch {
	case lo > 0 && hi/2 <= lo:
		s.zero = lo
	case hi < 0 && lo/2 >= hi:
		s.zero = hi
	}
	_, e := math.Frexp(max(math.Abs(lo-s.zero), math.Abs(hi-s.zero)))
	s.down = math.Ldexp(1, -e/2)
	s.down2 = math.Ldexp(1, -e-(-e/2))
	return s
}

func (s scaling) apply(x float64) float64 { return (x - s.zero) * s.down * s.down2 }

func (s scaling) undo(x float64) float64 { return float64(x/s.down/s.down2) + s.zero }

// kmeans appends the cuts between the best bins. Infinities have their own bins as long as two bins
// are left, because their squares would outweigh all other values.
func (f *Fitter) kmeans(cuts []float64, bins int) []float64 {
	from, to := f.finite()
	if from > 0 && bins > 1 {
		cuts = f.cutBefore(cuts, from)
		bins--
	}
	ownLast := to < len(f.values) && bins > 1
	if ownLast {
		bins--
	}
	if from < to {
		scale := newScaling(f.values[from], f.values[to-1])
		f.prefixSums(from, to, scale)
		cuts = f.centreCuts(cuts, from, f.partition(bins), scale)
	}
	if ownLast {
		cuts = f.cutBefore(cuts, to)
	}
	return cuts
}

// centreCuts appends the cuts of a partition of the finite values: the midpoints between the means
// of neighbouring bins. from is the position of the first finite value.
func (f *Fitter) centreCuts(cuts []float64, from int, starts []int, scale scaling) []float64 {
	for k, i := range starts[1 : len(starts)-1] {
		cut := scale.undo((mean(&f.sums[starts[k]], &f.sums[i]) + mean(&f.sums[i], &f.sums[starts[k+2]])) / 2)
		if a, b := f.values[from+i-1], f.values[from+i]; f.shift == 0 && a < cut && cut <= b {
			cuts = append(cuts, cut)
		} else {
			cuts = f.cutBefore(cuts, from+i)
		}
	}
	return cuts
}

// mean returns the mean of the scaled values between two positions of the prefix sums.
func mean(a, b *sums) float64 { return (b.x - a.x + (b.xLow - a.xLow)) / (b.w - a.w) }

// prefixSums fills sums with the scaled finite values.
func (f *Fitter) prefixSums(from, to int, scale scaling) {
	var total uint64
	for _, w := range f.weights[from:to] {
		total += uint64(w)
	}
	// float64 adds up weights exactly below 1<<53. A larger total is counted in larger
	// units. Every weight is at least one unit, so no bin weighs nothing.
	unit := max(0, bits.Len64(total)-52)
	// The sums are at most the total, below 1<<Len64. The grid leaves 50 bits to its
	// multiples; adding and subtracting snap rounds to the grid.
	snap := math.Ldexp(1.5, bits.Len64(total>>unit)+2)
	f.sums = append(f.sums[:0], sums{})
	var s sums
	for i := from; i < to; i++ {
		x := scale.apply(f.values[i])
		w := float64(max(1, f.weights[i]>>unit))
		wx, wxErr := product(w, x)
		x2, x2Err := product(x, x)
		wx2, wx2Err := product(w, x2)
		s.w += w
		s.x, s.xLow = accumulate(s.x, s.xLow, wx, wxErr, snap)
		s.xx, s.xxLow = accumulate(s.xx, s.xxLow, wx2, wx2Err+float64(w*x2Err), snap)
		f.sums = append(f.sums, s)
	}
}

// product returns a*b and its rounding error.
func product(a, b float64) (p, err float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// accumulate adds a term and its error to a sum in two parts.
func accumulate(sum, low, term, err, snap float64) (newSum, newLow float64) {
	s := low + term
	t := s - low
	err += (low - (s - t)) + (term - t) // the rounding error of s
	onGrid := (s + snap) - snap
	return sum + onGrid, s - onGrid + err
}

// partition returns the starts of the best bins of all values, followed by the number of
// values.
func (f *Fitter) partition(bins int) []int {
	// The grid is at most 2^-49 of the weight, and the error of a bin's cost at most three
	// times that. Above this cost the excess of the chosen bins is below 1e-9.
	safe := float64(bins) * f.sums[len(f.sums)-1].w * 0x1p-16
	f.rough = false
	limit := f.limit(f.sums, bins)
	if limit > safe {
		f.rough = true
		starts, cost := f.solve(f.sums, bins, limit)
		if cost > safe {
			return starts
		}
		f.rough = false
	}
	starts, _ := f.solve(f.sums, bins, limit)
	return starts
}

// coarseness is the number of values that limit takes together.
const coarseness = 16

// limit returns an upper bound on the cost of the best bins: the cost of the best bins
// whose starts are multiples of coarseness, improved, plus room for rounding.
func (f *Fitter) limit(p []sums, bins int) float64 {
	n := len(p) - 1
	if n < 2*coarseness*bins {
		return math.Inf(1)
	}
	coarse := make([]sums, 0, n/coarseness+2)
	for i := 0; i < n; i += coarseness {
		coarse = append(coarse, p[i])
	}
	coarse = append(coarse, p[n])
	starts, cost := f.solve(coarse, bins, f.limit(coarse, bins))
	for k := range starts {
		starts[k] = min(starts[k]*coarseness, n)
	}
	const rounds = 8
	for range rounds {
		f.improve(p, starts)
	}
	improved := 0.0
	for k := range bins {
		improved += f.cost(&p[starts[k]], &p[starts[k+1]])
	}
	return float64(min(cost, improved)*(1+0x1p-30)) + float64(p[n].w*0x1p-80)
}

// improve moves each start half-way between the means of its two bins, as in Lloyd's
// algorithm.
func (f *Fitter) improve(p []sums, starts []int) {
	for k := 1; k < len(starts)-1; k++ {
		from, to := starts[k-1], starts[k+1]
		middle := (mean(&p[from], &p[starts[k]]) + mean(&p[starts[k]], &p[to])) / 2
		starts[k] = from + 1 + sort.Search(to-from-2, func(i int) bool {
			return mean(&p[from+1+i], &p[from+2+i]) >= middle
		})
	}
}

// solve returns the starts of the best bins, followed by the number of values, and the cost of the
// bins. limit must be above this cost; more expensive bins are not searched.
func (f *Fitter) solve(p []sums, bins int, limit float64) (starts []int, cost float64) {
	n := len(p) - 1
	starts = make([]int, bins+1)
	starts[bins] = n
	if bins == 1 {
		return starts, 0
	}
	if f.rough {
		limit += float64(p[n].w * 0x1p-40)
	}
	least := f.leastStarts(p, bins, limit)
	f.before = slices.Grow(f.before[:0], n+1)[:n+1]
	f.here = slices.Grow(f.here[:0], n+1)[:n+1]
	f.splits = slices.Grow(f.splits[:0], bins*(n+1))[:bins*(n+1)]
	l := layer{f: f, p: p, limit: limit}
	l.first(max(1, least[1]), n-(bins-1))
	for q := 2; q < bins; q++ {
		l.splits = f.splits[q*(n+1) : (q+1)*(n+1)]
		most := l.last
		l.last = 0
		l.fill(max(q, least[q]), n-(bins-q), max(q-1, least[q-1]), most)
		f.before, f.here = f.here, f.before
	}
	starts[bins-1], cost = f.scan(p, n, max(bins-1, least[bins-1]), l.last)
	for q := bins - 1; q > 1; q-- {
		starts[q-1] = int(f.splits[q*(n+1)+starts[q]])
	}
	return starts, cost
}

// leastStarts returns for each bin its least start such that no bin costs more than the
// limit.
func (f *Fitter) leastStarts(p []sums, bins int, limit float64) []int {
	least := make([]int, bins+1)
	least[bins] = len(p) - 1
	for q := bins - 1; q > 0; q-- {
		end := &p[least[q+1]]
		least[q] = sort.Search(least[q+1], func(i int) bool { return f.cost(&p[i], end) <= limit })
	}
	return least
}

// layer computes D(q, j) and s(q, j) for one q.
type layer struct {
	f      *Fitter
	p      []sums
	splits []int32
	limit  float64
	last   int // greatest j with D(q, j) <= limit
}

// first computes D(1, j) for j = from..to.
func (l *layer) first(from, to int) {
	for j := from; j <= to; j++ {
		d := l.f.cost(&l.p[0], &l.p[j])
		if d > l.limit {
			return
		}
		l.f.before[j] = d
		l.last = j
	}
}

// fill computes the entries from..to, given that their splits are in least..most.
func (l *layer) fill(from, to, least, most int) {
	for from <= to {
		j := (from + to) / 2
		i, d := l.f.scan(l.p, j, least, min(most, j-1))
		l.f.here[j] = d
		l.splits[j] = int32(i)
		if d > l.limit {
			to = j - 1
			most = i
			continue
		}
		l.last = max(l.last, j)
		l.fill(from, j-1, least, i)
		from = j + 1
		least = i
	}
}

// scan returns the least of D(q-1, i) + C(i, j) over i = lo..hi, and the first i with it.
// It goes down from hi: C grows, and D(q-1, i) falls, but not below D(q-1, lo). So it
// ends once C + D(q-1, lo) is above the least sum found.
func (f *Fitter) scan(p []sums, j, lo, hi int) (best int, least float64) {
	best, least = hi, math.Inf(1)
	if lo > hi {
		return best, least
	}
	if !f.rough {
		return f.scanPrecisely(p, j, lo, hi)
	}
	end := &p[j]
	before := f.before[:hi+1]
	p = p[:hi+1]
	w := end.w
	x := end.x
	xx := end.xx
	room := least
	for i := hi; i >= lo; i-- {
		s := &p[i]
		dx := x - s.x
		c := (xx - s.xx) - float64(dx*dx)/(w-s.w)
		if c > room {
			break
		}
		if d := before[i] + c; d <= least {
			best = i
			least = d
			room = d - before[lo]
		}
	}
	return best, least
}

func (f *Fitter) scanPrecisely(p []sums, j, lo, hi int) (best int, least float64) {
	best, least = hi, math.Inf(1)
	before := f.before[:hi+1]
	end := &p[j]
	room := least
	for i := hi; i >= lo; i-- {
		c := f.cost(&p[i], end)
		if c > room {
			break
		}
		if d := before[i] + c; d <= least {
			best = i
			least = d
			room = d - before[lo]
		}
	}
	return best, least
}

// cost returns C(i, j). With q close to the mean and r = sum of w (x - q),
//
//	C = sum of w x^2 - q * sum of w x - q r - r^2/w
//
// where q is the rounded mean, so r and r^2/w are tiny.
func (f *Fitter) cost(a, b *sums) float64 {
	w := b.w - a.w
	x := b.x - a.x
	xx := b.xx - a.xx
	if f.rough {
		return xx - float64(x*x)/w
	}
	xLow := b.xLow - a.xLow
	xxLow := b.xxLow - a.xxLow
	q := (x + xLow) / w
	p := float64(q * x)
	pErr := math.FMA(q, x, -p)
	r := math.FMA(-q, w, x) + xLow
	return (xx - p) + (xxLow - pErr - float64(q*(xLow+r)))
}
