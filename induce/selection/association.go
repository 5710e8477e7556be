package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
)

// association tests whether features are associated with the class, on the rows of some parts. All its statistics follow
// from the numbers of rows by code and class. If the labels are dealt to the rows at random, the distributions of the
// statistics are known, whatever the distribution of the feature. Each test is of one class against all other classes; of
// two classes, one is tested. P-values are corrected for the number of tests (Bonferroni), so that some feature has a p-value
// of at most p in a share of at most p of the data sets without a signal.
type association struct {
	parts   []*dataset.Objects
	classes []int   // classes that are tested
	place   []int   // by class: its index in classes; -1: not tested
	unit    float64 // weight of an effective row (Kish)

	keyed   bool    // whether rows with keys in the same bucket may depend on each other
	buckets float64 // effective number of buckets (Kish), if keyed

	// The feature that is tested:
	column int
	rows   []float64 // by code: effective rows
	own    []float64 // by code, then by tested class: effective rows of the class
}

const (
	// mostTested bounds the classes that are tested: they have the most rows.
	mostTested = 32
	// mostKeyed bounds the values of a categorical feature that are tested if rows have keys: they have the most rows.
	mostKeyed = 64
	// leastValue is how many rows a value of a categorical feature needs to be tested.
	leastValue = 2
	// leastExpected is how many rows chi square expects of a class and of all other classes in each value; values with fewer rows
	// are counted together (Cochran, Biometrics 10, 1954).
	leastExpected = 1
)

// objectBytes returns the memory of all training objects.
func (c *Chooser) objectBytes() int64 {
	return c.Training.Objects * int64(dataset.NewLayout(c.Features).Stride)
}

// association returns how strongly a feature is associated with the class, among the training and validation rows; nil
// if the objects do not fit into memory, or if rows have keys and the objects lack them.
func (c *Chooser) association(ctx context.Context) (*frontier.Association, error) {
	if bytes := c.objectBytes(); bytes > crossvalidate.MaxBytes {
		c.Host.Note(fmt.Sprintf("whether a feature is associated with the class is not tested, as it takes all training objects in "+
			"memory, %d MiB, and at most %d MiB are allowed", bytes>>20, int64(crossvalidate.MaxBytes)>>20))
		return nil, nil
	}
	return compute(ctx, c.Host, "association", int64(len(c.Features)), "features", func(s *parallel.Steps) (*frontier.Association, error) {
		keyed := c.Grouped != nil && c.Grouped.Keyed
		validation := c.Sample
		if keyed {
			validation = c.Grouped.Objects
		}
		train, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		a := &association{parts: []*dataset.Objects{train}, keyed: keyed}
		if more, err := validation(ctx, dataset.Validation); err != nil {
			return nil, err
		} else if more != nil && (!keyed || more.Grouped()) {
			a.parts = append(a.parts, more)
		}
		if keyed && !train.Grouped() {
			return nil, nil
		}
		return a.strongest(ctx, c.Features, c.Classes, c.Training.WeightEffect, &s.Done)
	})
}

// strongest returns the association of the feature with the least p-value; nil if no feature or no label varies. effect is
// the design effect of weights.
func (a *association) strongest(
	ctx context.Context, features []dataset.Feature, classes int, effect float64, done *atomic.Int64,
) (*frontier.Association, error) {
	a.count(classes, effect)
	if len(a.classes) == 0 {
		return nil, nil
	}
	var found *frontier.Association
	varying := 0
	for f := range features {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		done.Add(1)
		codes := a.load(f, features[f].Codes())
		if len(codes) < 2 {
			continue
		}
		varying++
		test := a.categorical
		if features[f].Kind == dataset.Numeric {
			test = a.numeric
		}
		if p := test(codes); found == nil || p < found.P {
			found = &frontier.Association{Feature: features[f].Name, P: p}
		}
	}
	if found != nil {
		found.P = min(1, float64(found.P*float64(varying)))
	}
	return found, nil
}

// count counts rows, classes and buckets.
func (a *association) count(classes int, effect float64) {
	var rows, weight int64
	own := make([]int64, classes)
	var buckets [1 << 8]int64
	for _, o := range a.parts {
		for i := range o.Len() {
			rows += o.RowsOf(i)
			for _, w := range o.Labels(i) {
				own[w.Class] += w.Weight
				weight += w.Weight
			}
			if a.keyed {
				for _, s := range o.Groups(i) {
					buckets[s.Bucket] += s.Weight
				}
			}
		}
	}
	a.unit = float64(weight) / float64(rows) * max(1, effect)
	squares := 0.0
	for _, w := range buckets {
		share := float64(w) / float64(weight)
		squares += float64(share * share)
	}
	a.buckets = 1 / squares
	a.place = make([]int, classes)
	for k, w := range own {
		a.place[k] = -1
		if w > 0 {
			a.classes = append(a.classes, k)
		}
	}
	if len(a.classes) <= 2 {
		a.classes = a.classes[min(1, len(a.classes)):]
	}
	slices.SortStableFunc(a.classes, func(k, l int) int { return cmp.Compare(own[l], own[k]) })
	a.classes = a.classes[:min(len(a.classes), mostTested)]
	for i, k := range a.classes {
		a.place[k] = i
	}
}

// load counts the rows of a feature, and returns the codes with rows.
func (a *association) load(feature, codes int) (present []int) {
	tested := len(a.classes)
	rows := make([]int64, codes)
	own := make([]int64, codes*tested)
	for _, o := range a.parts {
		column := &o.Codes[feature]
		for i := range o.Len() {
			code := column.At(i)
			for _, w := range o.Labels(i) {
				rows[code] += w.Weight
				if k := a.place[w.Class]; k >= 0 {
					own[code*tested+k] += w.Weight
				}
			}
		}
	}
	a.column = feature
	a.rows = make([]float64, codes)
	a.own = make([]float64, codes*tested)
	for code, w := range rows {
		if a.rows[code] = float64(w) / a.unit; w > 0 {
			present = append(present, code)
		}
	}
	for i, w := range own {
		a.own[i] = float64(w) / a.unit
	}
	return present
}

// sumOf returns the effective rows with some codes, and of these the rows of a tested class.
func (a *association) sumOf(codes []int, class int) (rows, own float64) {
	for _, code := range codes {
		rows += a.rows[code]
		own += a.own[code*len(a.classes)+class]
	}
	return rows, own
}

// numeric tests a numeric feature: whether the values of a class are high or low (the rank sum of Wilcoxon, Biometrics
// Bulletin 1, 1945), whether they are far from the median or near to it (squares of ranks, as in Mood, Annals of
// Mathematical Statistics 25, 1954), and whether they are missing more or less often.
func (a *association) numeric(codes []int) float64 {
	var p []float64
	if last := len(codes) - 1; codes[last] == len(a.rows)-1 {
		missing := make([]float64, len(codes))
		missing[last] = 1
		p = append(p, a.linear(codes, missing))
		codes = codes[:last]
	}
	if len(codes) > 1 {
		ranks, squares := a.ranks(codes)
		p = append(p, a.linear(codes, ranks))
		if len(codes) > 2 {
			p = append(p, a.linear(codes, squares))
		}
	}
	return float64(float64(len(p)) * slices.Min(p))
}

// ranks returns the average ranks of the rows with each code, scaled to -1 to 1, and the part of their squares that is
// not linear in the ranks.
func (a *association) ranks(codes []int) (ranks, squares []float64) {
	all := 0.0
	for _, code := range codes {
		all += a.rows[code]
	}
	ranks = make([]float64, len(codes))
	squares = make([]float64, len(codes))
	var before, second, third float64
	for i, code := range codes {
		n := a.rows[code]
		r := (float64(2*before)+n)/all - 1
		ranks[i] = r
		before += n
		second += float64(n * float64(r*r))
		third += float64(n * float64(r*float64(r*r)))
	}
	for i, r := range ranks {
		squares[i] = float64(r*r) - float64(third/second*r)
	}
	return ranks, squares
}

// categorical tests a categorical feature: whether a class is more or less frequent in one of its values, and whether the
// frequency of a class varies among the values (Pearson's chi square). With keys, only the first is tested.
func (a *association) categorical(codes []int) float64 {
	var values []int // positions
	for i, code := range codes {
		if a.rows[code] >= leastValue {
			values = append(values, i)
		}
	}
	if a.keyed {
		slices.SortStableFunc(values, func(i, j int) int { return cmp.Compare(a.rows[codes[j]], a.rows[codes[i]]) })
		values = values[:min(len(values), mostKeyed)]
	}
	p := float64(a.single(codes, values) * float64(max(1, len(values))))
	if len(codes) == 2 || a.keyed {
		return p
	}
	return 2 * min(p, a.variation(codes))
}

// single returns the least p-value of one of the values at some positions, as linear does for a score that is 1 for this
// value and 0 for each other value.
func (a *association) single(codes, values []int) float64 {
	p := 1.0
	if a.keyed {
		score := make([]float64, len(codes))
		for _, i := range values {
			score[i] = 1
			p = min(p, a.linear(codes, score))
			score[i] = 0
		}
		return p
	}
	for k := range a.classes {
		all, n := a.sumOf(codes, k)
		for _, i := range values {
			q := a.rows[codes[i]] / all
			v := float64(q * (1 - q))
			if v > 0 && all > 2 {
				own := a.own[codes[i]*len(a.classes)+k]
				p = min(p, tailOf(all, n, own-float64(n*q), v, (1-float64(2*q))/math.Sqrt(v), 1))
			}
		}
	}
	return float64(p * float64(len(a.classes)))
}

// linear returns the p-value of the sum of the scores of the rows of a class: the least of any tested class, times their
// number. score has the score of each code. If the labels are dealt to N rows at random, n of them to the class, and the
// scores of all rows have the mean m, the variance v and the skewness g, then the sum has the mean n m and
//
//	variance = n (N-n) / (N-1) v
//	skewness = g (N-2n) sqrt(N-1) / ((N-2) sqrt(n (N-n)))
//
// The tails are taken from Pearson's distribution of type III with these moments (Mielke and Berry, Permutation Methods,
// 2001). The sum is moved by half of the least difference of the scores of two codes in turn, as it is discrete.
func (a *association) linear(codes []int, score []float64) float64 {
	var all, m float64
	for i, code := range codes {
		all += a.rows[code]
		m += float64(a.rows[code] * score[i])
	}
	m /= all
	var second, third float64
	gap := math.Inf(1)
	for i, code := range codes {
		d := score[i] - m
		square := float64(a.rows[code] * float64(d*d))
		second += square
		third += float64(square * d)
		if i > 0 && score[i] != score[i-1] {
			gap = min(gap, math.Abs(score[i]-score[i-1]))
		}
	}
	v := second / all
	if !(v > 0) || all <= 2 {
		return 1
	}
	if a.keyed {
		return a.clustered(codes, score, m)
	}
	p := 1.0
	for k := range a.classes {
		_, n := a.sumOf(codes, k)
		sum := 0.0
		for i, code := range codes {
			sum += float64(a.own[code*len(a.classes)+k] * (score[i] - m))
		}
		p = min(p, tailOf(all, n, sum, v, third/all/v/math.Sqrt(v), gap))
	}
	return float64(p * float64(len(a.classes)))
}

// tailOf returns the p-value of the sum of the centred scores of n of all rows, given the variance v, the skewness g and
// the least difference of the scores.
func tailOf(all, n, sum, v, g, gap float64) float64 {
	if n < 1 || all-n < 1 {
		return 1
	}
	both := math.Sqrt(float64(n * (all - n)))
	skew := g * (all - float64(2*n)) * math.Sqrt(all-1) / (all - 2) / both
	if sum < 0 {
		skew = -skew
	}
	deviation := both * math.Sqrt(v/(all-1))
	return 2 * pearsonTail((math.Abs(sum)-float64(gap/2))/deviation, skew)
}

// pearsonTail returns the probability that a variable of Pearson's distribution of type III with the mean 0, the variance 1
// and the given skewness is at least z. If the skewness is not above 0, it returns the tail of the normal distribution, which
// is greater; 1 if z is less than 1.
func pearsonTail(z, skew float64) float64 {
	const none = 0.002 // the gamma distribution would take thousands of steps
	if z < 1 {
		return 1
	}
	if skew < none {
		return portable.GammaTail(0.5, float64(z*z)/2) / 2
	}
	r := 2 / skew
	return portable.GammaTail(float64(r*r), float64(r*(r+z)))
}

// rounding is the part of the square of all scores that may be left, by rounding, of sums of squares that are 0.
const rounding = 1e-20

// sumOfProducts is a sum of products, a whole number of 128 bits in two's complement. It does not depend on the order of the
// objects, however large the weights are.
type sumOfProducts struct{ hi, lo uint64 }

// add adds weight * score, for a weight of at least 0.
func (s *sumOfProducts) add(weight, score int64) {
	hi, lo := bits.Mul64(uint64(weight), uint64(score))
	if score < 0 {
		hi -= uint64(weight)
	}
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// times returns the sum times 2^exponent.
func (s *sumOfProducts) times(exponent int) float64 {
	if int64(s.hi) >= 0 {
		return math.Ldexp(float64(s.hi), exponent+64) + math.Ldexp(float64(s.lo), exponent)
	}
	lo, borrow := bits.Sub64(0, s.lo, 0)
	hi, _ := bits.Sub64(0, s.hi, borrow)
	return -(&sumOfProducts{hi, lo}).times(exponent)
}

// clustered is linear for rows with keys. The variance of the sum is that between the buckets of the keys: the sum of the
// squares of each bucket's part (Liang and Zeger, Biometrika 73, 1986). The tails are taken from Student's t distribution
// by Wallace's approximation (Annals of Mathematical Statistics 30, 1959). m is the mean of the scores.
func (a *association) clustered(codes []int, score []float64, m float64) float64 {
	tested := len(a.classes)
	fixed, counts := make([]int64, len(a.rows)), make([]bool, len(a.rows)) // centred scores in fixed point
	weight := 0.0
	for _, code := range codes {
		weight += float64(a.rows[code] * a.unit)
	}
	// Binary digits of the scores: as many as floats would keep exact in sums of few rows, and enough for any number of rows.
	digits := max(24, 48-math.Ilogb(weight))
	spread := 0.0
	for i, code := range codes {
		fixed[code] = int64(math.Round(math.Ldexp(score[i]-m, digits)))
		counts[code] = true
		spread += float64(a.rows[code] * a.unit * math.Ldexp(math.Abs(float64(fixed[code])), -digits))
	}
	var all [1 << 8]sumOfProducts                  // by bucket: sum of the scores
	sums := make([]sumOfProducts, len(all)*tested) // by bucket, then by class
	own := make([]int64, tested)
	total := int64(0)
	for _, o := range a.parts {
		column := &o.Codes[a.column]
		for i := range o.Len() {
			code := column.At(i)
			if !counts[code] {
				continue
			}
			for _, s := range o.Groups(i) {
				total += s.Weight
				all[s.Bucket].add(s.Weight, fixed[code])
				if k := a.place[s.Class]; k >= 0 {
					own[k] += s.Weight
					sums[int(s.Bucket)*tested+k].add(s.Weight, fixed[code])
				}
			}
		}
	}
	p := 1.0
	freedom := a.buckets - 1
	for k := range own {
		var sum, squares float64
		for b := range all {
			x := sums[b*tested+k].times(-digits) - float64(float64(own[k])/float64(total)*all[b].times(-digits))
			sum += x
			squares += float64(x * x)
		}
		if squares > float64(rounding*spread*spread) && freedom > 1 {
			t := float64(sum*sum) / squares
			z := (float64(8*freedom) + 1) / (float64(8*freedom) + 3) * math.Sqrt(float64(freedom*portable.Log(1+t/freedom)))
			p = min(p, 2*pearsonTail(z, 0))
		}
	}
	return float64(p * float64(tested))
}

// variation returns the p-value of Pearson's chi square of a class and the values: the least of any tested class, times
// their number. If labels are dealt at random, N rows with k values, n_i of value i, r of them of the class, have the
// mean N (k-1) / (N-1) and the variance
//
//	2 N / (N-3) (v - w) (v' - w') + N^2 / (N-1) w w'
//
// with v = (k-1) (N-k) / (N-1), w = (N sum of 1/n_i - k^2) / (N-2), and the same for the two classes (v', w'; Haldane,
// Biometrika 31, 1940). The gamma distribution with these moments has the tail.
func (a *association) variation(codes []int) float64 {
	least := 1.0
	for k := range a.classes {
		all, n := a.sumOf(codes, k)
		share := min(n, all-n) / all
		var rows, own []float64
		var few []int
		for _, code := range codes {
			if float64(a.rows[code]*share) >= leastExpected {
				rows = append(rows, a.rows[code])
				own = append(own, a.own[code*len(a.classes)+k])
			} else {
				few = append(few, code)
			}
		}
		if n, of := a.sumOf(few, k); float64(n*share) >= leastExpected {
			rows = append(rows, n)
			own = append(own, of)
		}
		least = min(least, chiSquareTail(rows, own))
	}
	return float64(least * float64(len(a.classes)))
}

// chiSquareTail returns the p-value of Pearson's chi square, given the rows of each value, and of these the rows of a
// class.
func chiSquareTail(rows, own []float64) float64 {
	var all, n, inverses float64
	for i := range rows {
		all += rows[i]
		n += own[i]
		inverses += 1 / rows[i]
	}
	if len(rows) < 2 || all <= 3 || n < 1 || all-n < 1 {
		return 1
	}
	share := n / all
	square := 0.0
	for i, r := range rows {
		off := own[i] - float64(r*share)
		square += float64(off*off) / r
	}
	square /= float64(share * (1 - share))
	values := float64(len(rows))
	mean := float64(all*(values-1)) / (all - 1)
	v := func(k float64) float64 { return float64((k-1)*(all-k)) / (all - 1) }
	w := func(k, inverses float64) float64 { return (float64(all*inverses) - float64(k*k)) / (all - 2) }
	ours, theirs := w(values, inverses), w(2, 1/n+1/(all-n))
	variance := float64(2*all/(all-3)*(v(values)-ours)*(v(2)-theirs)) + float64(all*all/(all-1)*ours*theirs)
	if !(variance > 0) {
		return 1
	}
	return portable.GammaTail(float64(mean*mean)/variance, float64(square*mean)/variance)
}
