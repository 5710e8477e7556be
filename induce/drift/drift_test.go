package drift_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
)

// Columns without special codes.
var plain, ordered = drift.Column{Other: -1, Missing: -1}, drift.Column{Ordered: true, Other: -1, Missing: -1}

// TestMeasure has expected values of measured in bench/check_drift.py, which computes them by scipy 1.17.1 and numpy
// 2.4.6 (rel_entr, chi2_contingency, betainc) with its own rule of merging.
func TestMeasure(t *testing.T) {
	repeated := func(list []int64, last ...int64) []int64 { return append(slices.Repeat(list, 30), last...) }
	categories := drift.Column{Other: 9, Missing: 10}
	before, now := []int64{400, 300, 1, 1, 1, 2, 2, 3, 90, 0, 10}, []int64{380, 310, 0, 2, 1, 2, 1, 0, 70, 60, 4}
	for _, c := range []struct {
		name        string
		column      drift.Column
		before, now drift.Sample
		want        drift.Measures
	}{
		{"all bins moved", plain, drift.Sample{Rows: []int64{10, 20, 30, 40}}, drift.Sample{Rows: []int64{40, 30, 20, 10}}, drift.Measures{
			PSI:       0.7919768526109904,
			ChiSquare: 42.05042381677953, Freedom: 3, P: 4.349423350183997e-09,
		}},
		{"chance", plain, drift.Sample{Rows: []int64{1000, 2000, 3000}}, drift.Sample{Rows: []int64{1010, 1985, 3005}}, drift.Measures{
			ChiSquare: 0.11035356783212509, Freedom: 2, P: 1,
		}},
		{"a bin appears, another goes", plain, drift.Sample{Rows: []int64{50, 0, 50, 900}}, drift.Sample{Rows: []int64{60, 40, 0, 1000}}, drift.Measures{
			PSI:       0.38586746144389206,
			ChiSquare: 73.20905455389973, Freedom: 2, P: 1.4080344526000948e-16,
		}},
		{"too few rows for bins", plain, drift.Sample{Rows: []int64{2, 3}}, drift.Sample{Rows: []int64{4, 1}}, drift.Measures{
			P: 0.623046875,
		}},
		{
			"many rows", plain,
			drift.Sample{Rows: []int64{100_000_000, 300_000_000, 7}},
			drift.Sample{Rows: []int64{100_030_000, 299_960_000, 40}},
			drift.Measures{
				PSI:       1.643403815269859e-07,
				ChiSquare: 7.041167922608142, Freedom: 1, P: 5.352332541875715e-06,
			},
		},
		{
			"values go missing",
			drift.Column{Ordered: true, Other: -1, Missing: 10},
			drift.Sample{Rows: append(slices.Repeat([]int64{100}, 10), 0)},
			drift.Sample{Rows: append(slices.Repeat([]int64{50}, 10), 40)},
			drift.Measures{
				PSI: 0.34630816010425475, Freedom: 9,
				P: 6.236221891535749e-18,
			},
		},
		{"rare categories", categories, drift.Sample{Rows: before}, drift.Sample{Rows: now}, drift.Measures{
			PSI:       0.12881046638564678,
			ChiSquare: 4.945273752075937, Freedom: 3, P: 2.708234035153832e-07,
		}},
		{"many categories", drift.Column{Other: 300, Missing: 301}, drift.Sample{
			Rows: repeated([]int64{3, 1, 2, 4, 1, 1, 3, 2, 5, 2}, 0, 0),
		}, drift.Sample{Rows: repeated([]int64{1, 4, 0, 2, 0, 3, 3, 1, 2, 2}, 150, 0)}, drift.Measures{
			PSI:       0.0022743002482566027,
			ChiSquare: 14.318935982381833, Freedom: 13, P: 0.390858398190578,
		}},
		{
			"categories by key", categories,
			drift.Sample{Rows: before, Effect: 2.5, Keys: []int64{60, 58, 1, 1, 1, 1, 2, 3, 40, 0, 9}},
			drift.Sample{Rows: now, Effect: 1.5},
			drift.Measures{
				PSI:       0.08057705384253318,
				ChiSquare: 1.4992368681721393, Freedom: 2, P: 0.008305594227465844,
			},
		},
		{"no rows now", plain, drift.Sample{Rows: []int64{5, 5}}, drift.Sample{Rows: []int64{0, 0}}, drift.Measures{P: 1}},
	} {
		got := c.column.Measure(c.before, c.now)
		for _, one := range []struct {
			name      string
			got, want float64
		}{
			{"PSI", got.PSI, c.want.PSI},
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
	got := ordered.Measure(drift.Sample{Rows: []int64{1000, 0, 3000}}, drift.Sample{Rows: []int64{2000, 0, 6000}})
	if got.ChiSquare > 1e-9 || got.P != 1 || got.PSI != 0 {
		t.Errorf("%+v, want 0 in all", got)
	}
}

// simulated is a kind of column with a known distribution.
type simulated struct {
	name    string
	numeric bool
	perKey  int                                            // rows of a key; 0: no key
	draw    func(r *rand.Rand) func() (x float64, ok bool) // of a key: what draws its rows; ok is false for a missing value
	leftOut bool                                           // whether the column has nothing to compare
}

func kinds() []simulated {
	independent := func(draw func(r *rand.Rand) float64) func(r *rand.Rand) func() (float64, bool) {
		return func(r *rand.Rand) func() (float64, bool) { return func() (float64, bool) { return draw(r), true } }
	}
	shares := func(shares ...float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			u := r.Float64()
			return float64(slices.IndexFunc(shares, func(p float64) bool { u -= p; return u < 0 }))
		}
	}
	zipf := func(r *rand.Rand) float64 { return math.Floor(math.Pow(r.Float64(), -2)) } // tail of 1/sqrt(x)
	withNone := func(none float64) func(r *rand.Rand) func() (float64, bool) {
		return func(r *rand.Rand) func() (float64, bool) {
			return func() (float64, bool) { return r.NormFloat64(), r.Float64() >= none }
		}
	}
	zeros := func(r *rand.Rand) float64 { return max(0, r.NormFloat64()-1) }
	same := func(draw func(r *rand.Rand) float64) func(r *rand.Rand) func() (float64, bool) {
		return func(r *rand.Rand) func() (float64, bool) {
			x := draw(r)
			return func() (float64, bool) { return x, true }
		}
	}
	normal := (*rand.Rand).NormFloat64
	six := shares(0.4, 0.3, 0.1, 0.1, 0.07, 0.03)
	return []simulated{
		{name: "normal", numeric: true, draw: independent(normal)},
		{name: "log-normal", numeric: true, draw: independent(func(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) })},
		{name: "integers", numeric: true, draw: independent(func(r *rand.Rand) float64 { return math.Floor(20 * r.Float64() * r.Float64()) })},
		{name: "rounded", numeric: true, draw: independent(func(r *rand.Rand) float64 { return math.Round(10*r.NormFloat64()) / 10 })},
		{name: "zeros", numeric: true, draw: independent(zeros)},
		{name: "missing", numeric: true, draw: withNone(0.1)},
		{name: "rarely missing", numeric: true, draw: withNone(0.002)},
		{name: "boolean", draw: independent(shares(0.9, 0.1))},
		{name: "rare boolean", draw: independent(shares(0.997, 0.003))},
		{name: "six categories", draw: independent(six)},
		{name: "rare categories", draw: independent(shares(0.6, 0.38, 0.005, 0.005, 0.003, 0.003, 0.002, 0.002))},
		{name: "300 values", draw: independent(func(r *rand.Rand) float64 { return float64(r.IntN(300)) })},
		{name: "5,000 values", draw: independent(func(r *rand.Rand) float64 { return float64(r.IntN(5000)) }), leftOut: true},
		{name: "Zipf", draw: independent(zipf)},
		{name: "id", draw: independent(func(r *rand.Rand) float64 { return float64(r.IntN(1 << 50)) }), leftOut: true},
		{name: "numbers of keys", numeric: true, perKey: 10, draw: same(normal)},
		{name: "numbers that keys share in part", numeric: true, perKey: 10, draw: func(r *rand.Rand) func() (float64, bool) {
			x := r.NormFloat64()
			return func() (float64, bool) { return x + r.NormFloat64(), true }
		}},
		{name: "numbers of rows of keys", numeric: true, perKey: 10, draw: independent(normal)},
		{name: "categories of keys", perKey: 10, draw: same(six)},
		{name: "30 values of keys", perKey: 5, draw: same(func(r *rand.Rand) float64 { return float64(r.IntN(30)) })},
		{name: "Zipf of keys", perKey: 5, draw: same(zipf)},
		{name: "names of keys", perKey: 5, draw: same(func(r *rand.Rand) float64 { return float64(r.IntN(1 << 50)) }), leftOut: true},
	}
}

// rows draws rows, and the buckets of their keys.
func (s *simulated) rows(r *rand.Rand, n int) (v *dataset.Vector, buckets []uint8) {
	v, buckets = &dataset.Vector{Type: dataset.Number}, make([]uint8, n)
	var next func() (float64, bool)
	for i := range n {
		if s.perKey == 0 || i%s.perKey == 0 {
			next = s.draw(r)
			buckets[i] = uint8(r.IntN(dataset.Buckets))
		} else {
			buckets[i] = buckets[i-1]
		}
		x, ok := next()
		if !ok {
			x = math.NaN()
		}
		v.Numbers = append(v.Numbers, x)
	}
	if s.numeric {
		return v, buckets
	}
	texts := &dataset.Vector{Type: dataset.Text}
	for i, x := range v.Numbers {
		texts.Texts, texts.Index = append(texts.Texts, strconv.FormatFloat(x, 'f', -1, 64)), append(texts.Index, int32(i))
	}
	return texts, buckets
}

// sample counts rows by code and, if they have keys, by group of codes and bucket.
func (s *simulated) sample(f *dataset.Feature, v *dataset.Vector, groups []int64, buckets []uint8) drift.Sample {
	const width = 2
	codes := make([]byte, width*len(buckets))
	dataset.NewEncoder(f).Encode(v, codes, 0, width, nil)
	one := drift.Sample{Rows: make([]int64, f.Codes())}
	var table [dataset.Buckets][]int64
	for b := range table {
		if groups != nil {
			table[b] = make([]int64, slices.Max(groups)+1)
		}
	}
	seen := make([]uint64, f.Codes())
	for i, b := range buckets {
		code := int(codes[width*i]) + int(codes[width*i+1])<<8
		one.Rows[code]++
		seen[code] |= 1 << b
		if groups != nil {
			table[b][groups[code]]++
		}
	}
	if groups != nil {
		one.Effect = drift.DesignEffect(&table)
		for _, set := range seen {
			one.Keys = append(one.Keys, int64(bits.OnesCount64(set)))
		}
	}
	return one
}

// measure draws training rows, fits bins to them, and measures a day of rows, changed by change.
func (s *simulated) measure(t *testing.T, r *rand.Rand, train, day int, change func(v *dataset.Vector)) drift.Measures {
	t.Helper()
	before, keys := s.rows(r, train)
	typ, kind := dataset.Text, dataset.Categorical
	if s.numeric {
		typ, kind = dataset.Number, dataset.Numeric
	}
	summary, all := binning.New(kind, typ, binning.DefaultLimits()), make([]int32, train)
	for i := range all {
		all[i] = int32(i)
	}
	summary.AddVector(before, all, nil)
	f, err := binning.FitFeature("x", summary, binning.FeatureConfig{Bins: 128, Method: binning.Quantile, Categories: 1000, MinRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := drift.ColumnOf(&f)
	was := s.sample(&f, before, nil, keys)
	var groups []int64
	if s.perKey > 0 {
		groups = c.Groups(was.Rows)
		was = s.sample(&f, before, groups, keys)
	}
	now, keys := s.rows(r, day)
	change(now)
	return c.Measure(was, s.sample(&f, now, groups, keys))
}

// TestFalseAlarms draws training rows and days from the same known distributions of many kinds: the test of a column
// rejects at most at the stated rate. Of 150 days, more than 17 at a rate of 0.05 come with a probability of 0.0006
// (binomial); the seed is fixed. bench/check_drift.py --runs does the same with the whole program.
func TestFalseAlarms(t *testing.T) {
	const days, rate, most = 150, 0.05, 17
	for _, s := range kinds() {
		r, alarms, leftOut, psi := rand.New(rand.NewPCG(1, 2)), 0, 0, 0.0
		for range days {
			m := s.measure(t, r, 700, 500, func(*dataset.Vector) {})
			switch {
			case m.LeftOut != "":
				leftOut++
			case m.P <= rate:
				alarms++
			}
			psi += m.PSI / days
		}
		if alarms > most {
			t.Errorf("%s: %d of %d days without drift give an alarm, want at most %v of them", s.name, alarms, days, rate)
		}
		if s.leftOut != (leftOut > days/2) {
			t.Errorf("%s: left out on %d of %d days, want %v", s.name, leftOut, days, s.leftOut)
		}
		if psi > 0.05 {
			t.Errorf("%s: the mean PSI of days without drift is %v", s.name, psi)
		}
	}
}

// TestPower: a shift by half a standard deviation on a day of 500 rows, a category whose share doubles from 0.1 on
// a day of 1,000, and a new category of 5 % are found among 20 columns on nearly all days.
func TestPower(t *testing.T) {
	all := kinds()
	kind := func(name string) *simulated {
		return &all[slices.IndexFunc(all, func(s simulated) bool { return s.name == name })]
	}
	replace := func(v *dataset.Vector, share float64, by string) {
		v.Texts = append(v.Texts, by)
		for i := range v.Index {
			if float64(i) < share*float64(len(v.Index)) {
				v.Index[i] = int32(len(v.Texts) - 1)
			}
		}
	}
	for _, c := range []struct {
		kind       string
		train, day int
		change     func(v *dataset.Vector)
	}{
		{"normal", 700, 500, func(v *dataset.Vector) {
			for i := range v.Numbers {
				v.Numbers[i] += 0.5
			}
		}},
		{"boolean", 1000, 1000, func(v *dataset.Vector) { replace(v, 0.1/0.9, "1") }},
		{"six categories", 1000, 1000, func(v *dataset.Vector) { replace(v, 0.05, "new") }},
		{"normal", 700, 500, func(v *dataset.Vector) {
			for i := range 25 {
				v.Numbers[i] = math.NaN()
			}
		}},
	} {
		const days, columns = 100, 20
		r, found := rand.New(rand.NewPCG(3, 4)), 0
		for range days {
			if m := kind(c.kind).measure(t, r, c.train, c.day, c.change); m.P <= 0.01/columns && m.PSI >= 0.05 {
				found++
			}
		}
		if found < 90 {
			t.Errorf("a shift of %s on days of %d rows is found on %d of %d days", c.kind, c.day, found, days)
		}
	}
}

// TestLeftOut: a column that is left out has no alarm, and takes no part of the level.
func TestLeftOut(t *testing.T) {
	limits := drift.Limits{FalseAlarms: 0.01}
	moved := drift.Measures{P: 0.006, PSI: 1}
	out := drift.Measures{LeftOut: "for a reason"}
	if got := limits.Alarms([]drift.Measures{moved, out}); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("%v, want an alarm of the first", got)
	}
	if got := limits.Alarms([]drift.Measures{moved, {P: 1}}); !slices.Equal(got, []bool{false, false}) {
		t.Errorf("%v, want no alarm at half the level", got)
	}
}

// TestDesignEffect: with values that all rows of a key share, the design effect is about the number of rows of a key,
// and is about 1 without keys. The greatest of many ratios with 59 degrees of freedom each is above the truth: by half at most.
func TestDesignEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, perKey := range []int{1, 10} {
		var table [dataset.Buckets][]int64
		for b := range table {
			table[b] = make([]int64, 4)
		}
		for range 2000 {
			table[r.IntN(dataset.Buckets)][r.IntN(4)] += int64(perKey)
		}
		if got, truth := drift.DesignEffect(&table), float64(perKey); got < 0.9*truth || got > 1.6*truth {
			t.Errorf("%d rows of each key: design effect %v", perKey, got)
		}
	}
}

// TestLeastPSI: of very many rows a movement of no weight gives no alarm.
func TestLeastPSI(t *testing.T) {
	moved := []drift.Measures{plain.Measure(drift.Sample{Rows: []int64{1_000_000, 1_000_000}}, drift.Sample{Rows: []int64{1_010_000, 990_000}})}
	if !(drift.Limits{FalseAlarms: 0.01}).Alarms(moved)[0] {
		t.Error("a movement by 20 standard deviations gives no alarm")
	}
	if (drift.Limits{FalseAlarms: 0.01, PSI: 0.1}).Alarms(moved)[0] {
		t.Errorf("a PSI of %v gives an alarm", moved[0].PSI)
	}
}
