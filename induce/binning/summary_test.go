package binning_test

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// lowerEdge returns the lower edge of x's bucket: the number of float64 values between
// zero and x, without its low bits, as a float64 again.
func lowerEdge(x float64, dropped int) float64 {
	n := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		n = -n
	}
	if n = n >> dropped << dropped; n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}

// contents are the results of a summary's methods.
type contents struct {
	Numbers         []float64
	Spelled         []string
	Weights         []int64
	Distinct        int
	Missing, Weight int64
	Exact, Overflow bool
}

func contentsOf(s *binning.Summary) contents {
	c := contents{
		Distinct: s.Distinct(), Missing: s.Missing(), Weight: s.Weight(), Exact: s.Exact(),
		Overflow: s.Overflow(),
	}
	c.Numbers, c.Weights = s.Numbers()
	c.Spelled, c.Weights = s.Spelled()
	return c
}

// naive computes the contents of the column's summary from the definitions.
func (c *column) naive() contents {
	want := contents{Exact: true}
	texts, numbers := make(map[string]int64), make(map[float64]int64)
	for _, x := range c.cells {
		switch {
		case x.missing:
			want.Missing += x.weight
			continue
		case c.typ == dataset.Text:
			texts[x.text] += x.weight
		default:
			numbers[x.number+0] += x.weight // -0 + 0 is 0
		}
		want.Weight += x.weight
	}
	if c.kind == dataset.Categorical && len(texts)+len(numbers) > c.limits.Categories {
		want.Exact, want.Overflow = false, true
		return want
	}
	for dropped := 1; c.kind == dataset.Numeric && len(numbers) > c.limits.Values && dropped <= 42; dropped++ {
		want.Exact = false
		buckets := make(map[float64]int64)
		for x, w := range numbers {
			buckets[lowerEdge(x, dropped)] += w
		}
		numbers = buckets
	}
	want.Distinct = len(texts) + len(numbers)
	for _, x := range slices.Sorted(maps.Keys(numbers)) {
		want.Numbers, want.Weights = append(want.Numbers, x), append(want.Weights, numbers[x])
		want.Spelled = append(want.Spelled, dataset.SpellNumber(x))
	}
	for _, x := range slices.Sorted(maps.Keys(texts)) {
		want.Spelled, want.Weights = append(want.Spelled, x), append(want.Weights, texts[x])
	}
	return want
}

// randomColumn draws cells with about the given number of distinct values. Some distinct
// numbers are neighbours in one bucket, some are far apart.
func randomColumn(r *rand.Rand, kind dataset.Kind, typ dataset.ValueType, distinct int) *column {
	c := &column{kind: kind, typ: typ}
	numbers := extremes()
	r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	numbers = append(numbers[:r.IntN(len(numbers))], math.Copysign(0, -1), 0, math.NaN())
	spread := math.Exp2(float64(r.IntN(70) - 60))
	for len(numbers) < distinct {
		x := 1000 * (1 + spread*r.NormFloat64())
		numbers = append(numbers, x, math.Round(x), math.Nextafter(x, 0))
	}
	for range 1 + r.IntN(3*distinct) {
		x := numbers[r.IntN(distinct)]
		cell := cell{
			number: x, text: strconv.FormatFloat(x, 'g', 3, 64), weight: 1,
			missing: math.IsNaN(x) || r.IntN(20) == 0,
		}
		if r.IntN(2) == 0 {
			cell.weight = 1 + r.Int64N(1<<uint(r.IntN(40)))
		}
		c.cells = append(c.cells, cell)
	}
	exactly := randomLimit(r, c)
	c.limits = binning.Limits{Values: exactly, Categories: exactly}
	return c
}

// randomLimit is often the column's number of distinct values, or one off.
func randomLimit(r *rand.Rand, c *column) int {
	c.limits = binning.Limits{Values: math.MaxInt, Categories: math.MaxInt}
	distinct := c.naive().Distinct
	return max(1, []int{distinct, distinct - 1, distinct + 1, distinct / 2, distinct / 10, 1}[r.IntN(6)])
}

// anyKinds are the kinds and types of column that have summaries.
func anyKinds() []column {
	return []column{
		{kind: dataset.Numeric, typ: dataset.Number},
		{kind: dataset.Categorical, typ: dataset.Number},
		{kind: dataset.Categorical, typ: dataset.Text},
	}
}

func TestSummaryNaive(t *testing.T) {
	for _, k := range anyKinds() {
		for seed := range uint64(120) {
			r := rand.New(rand.NewPCG(1, seed))
			distinct := 3 + r.IntN(300)
			if seed == 0 {
				distinct = 9000 // a large dictionary, whose scratch memory is not kept
			}
			c := randomColumn(r, k.kind, k.typ, distinct)
			s := c.empty()
			for chunk := range slices.Chunk(c.cells, 1+r.IntN(len(c.cells))) {
				c.addSomehow(r, s, chunk)
			}
			if diff := cmp.Diff(c.naive(), contentsOf(s), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s %s, seed %d, limit %d: contents (-want +got):\n%s", k.kind, k.typ, seed, c.limits.Values,
					diff)
			}
		}
	}
}

// mergeSomehow deals the cells to summaries, and merges these in a random order. In
// between, some are read, or encoded and decoded.
func (c *column) mergeSomehow(t *testing.T, r *rand.Rand) *binning.Summary {
	t.Helper()
	cells := slices.Clone(c.cells)
	r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	parts := []*binning.Summary{c.empty()}
	for chunk := range slices.Chunk(cells, 1+r.IntN(len(cells))) {
		s := parts[r.IntN(len(parts))]
		if r.IntN(2) == 0 {
			s = c.empty()
			parts = append(parts, s)
		}
		c.addSomehow(r, s, chunk)
	}
	for len(parts) > 1 {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		into, from := parts[0], parts[1]
		switch r.IntN(4) {
		case 0:
			from.Distinct()
		case 1:
			from = decode(t, encode(t, from))
		case 2:
			into = decode(t, encode(t, into))
		}
		if err := into.Merge(from); err != nil {
			t.Fatal(err)
		}
		parts = append([]*binning.Summary{into}, parts[2:]...)
	}
	return parts[0]
}

// TestMergeLaws: a summary's bytes depend only on the union of its values and weights. So
// merging is commutative and associative, and the empty summary is neutral.
func TestMergeLaws(t *testing.T) {
	for _, k := range anyKinds() {
		for seed := range uint64(150) {
			r := rand.New(rand.NewPCG(2, seed))
			c := randomColumn(r, k.kind, k.typ, 3+r.IntN(200))
			want := encode(t, c.sum())
			for range 4 {
				if got := encode(t, c.mergeSomehow(t, r)); !bytes.Equal(got, want) {
					t.Fatalf("%s %s, seed %d, limit %d: merged to %x, want %x", k.kind, k.typ, seed, c.limits.Values,
						got, want)
				}
			}
		}
	}
}

// TestMergeLeavesOther: neither Merge nor later changes of the result change the other
// summary.
func TestMergeLeavesOther(t *testing.T) {
	for _, k := range anyKinds() {
		r := rand.New(rand.NewPCG(3, 3))
		c := randomColumn(r, k.kind, k.typ, 50)
		c.limits = binning.Limits{Values: 500, Categories: 500}
		other, sum := c.sum(), c.empty()
		want := encode(t, other)
		if err := sum.Merge(other); err != nil {
			t.Fatal(err)
		}
		c.addSomehow(r, sum, c.cells)
		if got := encode(t, other); !bytes.Equal(got, want) {
			t.Errorf("%s %s: merged in, then %x, want %x", k.kind, k.typ, got, want)
		}
	}
}

func TestMergeErrors(t *testing.T) {
	limits := binning.Limits{Values: 5, Categories: 6}
	s := binning.New(dataset.Categorical, dataset.Number, limits)
	for _, test := range []struct {
		other *binning.Summary
		want  string
	}{
		{binning.New(dataset.Numeric, dataset.Number, limits), "numeric"},
		{binning.New(dataset.Categorical, dataset.Text, limits), "text"},
		{binning.New(dataset.Categorical, dataset.Number, binning.Limits{Values: 5, Categories: 7}), "limits"},
		{binning.New(dataset.Categorical, dataset.Number, binning.Limits{Values: 6, Categories: 6}), "limits"},
		{s, "itself"},
	} {
		if err := s.Merge(test.other); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

// TestBucketWidth: no bucket is wider than 0.1 % of its numbers, for any limit.
func TestBucketWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	numbers := make([]float64, 20000)
	for i := range numbers {
		numbers[i] = math.Ldexp(1+r.Float64(), r.IntN(2000)-1000)
		if r.IntN(2) == 0 {
			numbers[i] = -numbers[i]
		}
	}
	edges, _ := limitedSummary(numbers, nil, binning.Limits{Values: 1, Categories: 1}).Numbers()
	for _, x := range numbers {
		at, ok := slices.BinarySearch(edges, x)
		if !ok {
			at--
		}
		if at < 0 || x-edges[at] > math.Abs(x)/1000 {
			t.Errorf("%v: its bucket starts at %v", x, edges[max(at, 0)])
		}
	}
}

// TestBucketsFine: buckets are no wider than the limit requires. By hand: among 1, 1+u,
// 1+2u, ... with u one unit in the last place, dropping one bit merges two numbers, and
// dropping two bits merges four.
func TestBucketsFine(t *testing.T) {
	var numbers []float64
	for i := range 16 {
		numbers = append(numbers, 1+float64(i)*0x1p-52)
	}
	for limit, want := range map[int]int{16: 16, 15: 8, 8: 8, 7: 4, 4: 4, 3: 2, 2: 2, 1: 1} {
		s := limitedSummary(numbers, nil, binning.Limits{Values: limit, Categories: 1})
		edges, weights := s.Numbers()
		if len(edges) != want || s.Exact() != (limit == 16) {
			t.Errorf("limit %d: %d buckets, exact %v, want %d", limit, len(edges), s.Exact(), want)
			continue
		}
		for i, x := range edges {
			if x != numbers[i*16/want] || weights[i] != int64(16/want) {
				t.Errorf("limit %d: bucket %d from %v has weight %d", limit, i, x, weights[i])
			}
		}
	}
}

// TestReadersSettle: a summary may hold numbers beyond the limit for a while, but no
// method returns them.
func TestReadersSettle(t *testing.T) {
	limits := binning.Limits{Values: 2, Categories: 1}
	fresh := func() *binning.Summary { return limitedSummary([]float64{1, math.Nextafter(1, 2), 3}, nil, limits) }
	if fresh().Exact() {
		t.Error("exact")
	}
	if got := fresh().Distinct(); got != 2 {
		t.Errorf("%d distinct values", got)
	}
	if got, _ := fresh().Numbers(); !slices.Equal(got, []float64{1, 3}) {
		t.Errorf("numbers %v", got)
	}
	if got, _ := fresh().Spelled(); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("spelled %q", got)
	}
	if got := binning.FitNumeric(fresh(), binning.Quantile, 9); !slices.Equal(got, []float64{3}) {
		t.Errorf("cuts %v", got)
	}
	if s := decode(t, encode(t, fresh())); s.Exact() || s.Distinct() != 2 {
		t.Errorf("encoded: exact %v, %d distinct values", s.Exact(), s.Distinct())
	}
}

// TestBytes: memory depends on the limits, not on the number of values.
func TestBytes(t *testing.T) {
	const limit = 1000
	limits := binning.Limits{Values: limit, Categories: limit}
	r := rand.New(rand.NewPCG(5, 5))
	for _, k := range anyKinds() {
		s := binning.New(k.kind, k.typ, limits)
		empty := s.Bytes()
		for range 20 {
			c := column{kind: k.kind, typ: k.typ}
			for range 1000 {
				x := 1 + r.Float64() // 1,024 buckets at most
				c.cells = append(c.cells, cell{number: x, text: strconv.FormatFloat(x, 'g', -1, 64), weight: 1})
			}
			c.addSomehow(r, s, c.cells)
			// Up to twice the limit of numbers, in a table at least three eighths full.
			if got := s.Bytes(); !s.Overflow() && got <= empty || got > 16*2*limit*8/3 {
				t.Errorf("%s %s: %d bytes, %d without values", k.kind, k.typ, got, empty)
			}
		}
	}
}

func TestSpelled(t *testing.T) {
	c := categories(dataset.Number, 9)
	for _, x := range []float64{10, -2, 0.5, 1e21, 3, 1 << 53, math.Inf(1)} {
		c.cells = append(c.cells, cell{number: x, weight: 1})
	}
	got, _ := c.sum().Spelled()
	want := []string{"-2", "0.5", "3", "10", "9007199254740992", "1e+21", "+Inf"} // by hand
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spelled (-want +got):\n%s", diff)
	}
}

func TestNew(t *testing.T) {
	s := binning.New(dataset.Categorical, dataset.Text, binning.Limits{Values: 0, Categories: -1})
	if s.Kind() != dataset.Categorical || s.Type() != dataset.Text ||
		s.Limits() != (binning.Limits{Values: 1, Categories: 1}) {
		t.Errorf("kind %s, type %s, limits %+v", s.Kind(), s.Type(), s.Limits())
	}
	if l := binning.DefaultLimits(); l.Values != 65536 || l.Categories != 65536 { // as the flag --max_values
		t.Errorf("default limits %+v", l)
	}
	if diff := cmp.Diff(contents{Exact: true}, contentsOf(s), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("contents of an empty summary (-want +got):\n%s", diff)
	}
}

func TestPanics(t *testing.T) {
	t.Run("numeric texts", func(t *testing.T) {
		defer wantPanic(t)
		binning.New(dataset.Numeric, dataset.Text, binning.DefaultLimits())
	})
	t.Run("no kind", func(t *testing.T) {
		defer wantPanic(t)
		binning.New(0, dataset.Number, binning.DefaultLimits())
	})
	t.Run("no type", func(t *testing.T) {
		defer wantPanic(t)
		binning.New(dataset.Categorical, 0, binning.DefaultLimits())
	})
	t.Run("vector of another type", func(t *testing.T) {
		defer wantPanic(t)
		numericSummary(nil).AddVector(&dataset.Vector{Type: dataset.Text}, nil, nil)
	})
}
