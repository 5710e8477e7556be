package binning_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// shapes are distributions of distinct values.
func shapes() map[string]func(*rand.Rand) float64 {
	return map[string]func(*rand.Rand) float64{
		"uniform":   (*rand.Rand).Float64,
		"normal":    (*rand.Rand).NormFloat64,
		"lognormal": func(r *rand.Rand) float64 { return math.Exp(3 * r.NormFloat64()) },
	}
}

func draw(shape string, n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = shapes()[shape](r)
	}
	return numbers
}

// named is a column of numbers.
type named struct {
	name   string
	values []float64
}

// mediumColumns are columns on which k-means starts from a bound found on every 16th
// value, or needs its second, precise run.
func mediumColumns(r *rand.Rand, n int) []named {
	var columns []named
	add := func(name string, number func(i int) float64) {
		values := make([]float64, n)
		for i := range values {
			values[i] = number(i)
		}
		columns = append(columns, named{name, values})
	}
	for _, shape := range []string{"uniform", "normal", "lognormal"} {
		add(shape, func(int) float64 { return shapes()[shape](r) })
	}
	add("whole", func(int) float64 { return float64(r.IntN(n)) })
	add("even", func(i int) float64 { return float64(i) })
	add("far from zero", func(int) float64 { return 1.7e9 + float64(r.IntN(1000)) })
	add("clumps", func(int) float64 { return float64(r.IntN(4)) + 1e-9*r.NormFloat64() })
	add("octaves", func(int) float64 { return math.Exp2(float64(r.IntN(40))) * (1 + r.Float64()) })
	add("outlier", func(i int) float64 {
		if i == 0 {
			return 1e9
		}
		return r.NormFloat64()
	})
	add("outliers", func(i int) float64 {
		if i < 2 {
			return []float64{-1e7, 1e8}[i]
		}
		return r.NormFloat64()
	})
	return columns
}

// anyColumns adds columns for which the tests have no reference of k-means.
func anyColumns(r *rand.Rand, n int) []named {
	columns := mediumColumns(r, n)
	infinite := append(slices.Clone(columns[0].values), math.Inf(1), math.Inf(-1))
	far := append(slices.Clone(columns[1].values), extremes()...)
	return append(columns, named{"infinite", infinite}, named{"extremes", extremes()}, named{"far", far})
}

// extremes are numbers at the ends of float64 and around zero.
func extremes() []float64 {
	const most, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	inf := math.Inf(1)
	return []float64{
		-inf, -most, math.Nextafter(-most, 0), -1e300, -1, -0x1p-1022, -least, 0, least, 2 * least, 0x1p-1022,
		1, math.Nextafter(1, 2), math.Nextafter(1, 3), 1e300, math.Nextafter(most, 0), most, inf,
	}
}

func allRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// numericSummary sums up plain numbers, each of weight 1.
func numericSummary(numbers []float64) *binning.Summary {
	return weightedSummary(numbers, nil)
}

func weightedSummary(numbers []float64, weights []int64) *binning.Summary {
	return limitedSummary(numbers, weights, binning.DefaultLimits())
}

func limitedSummary(numbers []float64, weights []int64, limits binning.Limits) *binning.Summary {
	s := binning.New(dataset.Numeric, dataset.Number, limits)
	s.AddVector(&dataset.Vector{Type: dataset.Number, Numbers: numbers}, allRows(len(numbers)), weights)
	return s
}

func encode(tb testing.TB, s *binning.Summary) []byte {
	tb.Helper()
	b, err := s.AppendBinary(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func decode(t *testing.T, b []byte) *binning.Summary {
	t.Helper()
	s, rest, err := binning.Decode(b)
	if err != nil {
		t.Fatalf("decoding %x: %v", b, err)
	}
	if len(rest) > 0 {
		t.Fatalf("decoding %x leaves %x", b, rest)
	}
	return s
}

// wantPanic is deferred.
func wantPanic(t *testing.T) {
	t.Helper()
	if recover() == nil {
		t.Error("no panic")
	}
}

func methods() []binning.Method {
	return []binning.Method{binning.KMeans, binning.Quantile, binning.Uniform}
}

// bin returns the number of cuts <= x, as FitNumeric has it.
func bin(cuts []float64, x float64) int {
	n := 0
	for _, cut := range cuts {
		if cut <= x {
			n++
		}
	}
	return n
}

// startsOf returns where the bins of ascending values start, and the number of
// values behind them. A bin without values makes two starts equal.
func startsOf(values, cuts []float64) []int {
	starts := []int{0}
	for _, cut := range cuts {
		starts = append(starts, sort.SearchFloat64s(values, cut))
	}
	return append(starts, len(values))
}

// checkCuts checks the contract of FitNumeric on any cuts.
func checkCuts(t *testing.T, s *binning.Summary, cuts []float64, bins int) {
	t.Helper()
	values, _ := s.Numbers()
	if len(cuts) > max(bins-1, 0) {
		t.Errorf("%d cuts for %d bins", len(cuts), bins)
	}
	for i, cut := range cuts {
		if math.IsNaN(cut) || math.IsInf(cut, 0) || i > 0 && cut <= cuts[i-1] {
			t.Errorf("cut %d of %v is not finite or not above the one before", i, cuts)
		}
	}
	starts := startsOf(values, cuts)
	for i := 1; i < len(starts) && len(values) > 0; i++ {
		if starts[i] <= starts[i-1] {
			t.Errorf("bin %d of %v has none of the values %v", i-1, cuts, values)
		}
	}
}

// column is one column of training rows, to be summed up in any way.
type column struct {
	kind   dataset.Kind
	typ    dataset.ValueType
	limits binning.Limits
	cells  []cell
}

// cell is the value of a weighted row, or missing.
type cell struct {
	missing bool
	number  float64
	text    string
	weight  int64
}

func (c *column) empty() *binning.Summary { return binning.New(c.kind, c.typ, c.limits) }

// sum adds all cells at once, in their order.
func (c *column) sum() *binning.Summary {
	s := c.empty()
	v, weights := c.dictionary(c.cells)
	s.AddVector(v, allRows(len(weights)), weights)
	return s
}

// addSomehow adds cells in one of the forms of a column, mixed with rows not to be added.
func (c *column) addSomehow(r *rand.Rand, s *binning.Summary, cells []cell) {
	padded := slices.Clone(cells)
	for range r.IntN(3) {
		padded = append(padded, c.cells[r.IntN(len(c.cells))])
	}
	rows := allRows(len(padded))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	shuffled := make([]cell, len(padded))
	for i, at := range rows {
		shuffled[at] = padded[i]
	}
	v, weights := c.dictionary(shuffled)
	if c.typ == dataset.Number && r.IntN(2) == 0 {
		v = plainVector(shuffled)
	}
	if !slices.ContainsFunc(cells, func(c cell) bool { return c.weight != 1 }) && r.IntN(2) == 0 {
		weights = nil
	}
	s.AddVector(v, rows[:len(cells)], weights)
}

func plainVector(cells []cell) *dataset.Vector {
	v := &dataset.Vector{Type: dataset.Number}
	for _, c := range cells {
		if c.missing {
			c.number = math.NaN()
		}
		v.Numbers = append(v.Numbers, c.number)
	}
	return v
}

// dictionary returns the cells as a column with unused and repeated entries, and with
// missing values of both forms.
func (c *column) dictionary(cells []cell) (v *dataset.Vector, weights []int64) {
	v = &dataset.Vector{
		Type: c.typ, Index: make([]int32, len(cells)),
		Numbers: []float64{12345, math.NaN()}, Texts: []string{"unused", "never used"},
	}
	at := make(map[cell]int32)
	for i, x := range cells {
		weights = append(weights, x.weight)
		x.weight = 0
		switch {
		case x.missing && (c.typ == dataset.Text || i%2 == 0):
			v.Index[i] = -1
			continue
		case x.missing:
			v.Index[i] = 1
			continue
		}
		if _, ok := at[x]; !ok || i%5 == 0 {
			at[x] = int32(len(v.Numbers))
			v.Numbers, v.Texts = append(v.Numbers, x.number), append(v.Texts, x.text)
		}
		v.Index[i] = at[x]
	}
	return v, weights
}
