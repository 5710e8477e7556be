package split_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce/split"
)

// values is a node with a single categorical feature, as the weight of two classes by code; each row is an object.
type values [][2]int64

// scan returns the best score of the tests for sets and the test, by a scanner and by a team, which must agree.
func (v values) scan(t *testing.T, column *split.Column) (float64, split.Test) {
	t.Helper()
	total := int64(0)
	objects := make([]int64, 2)
	h := split.Histogram{}
	for _, n := range v {
		h.Cells = append(h.Cells, n[0], n[0], n[1], n[1])
		objects[0] += n[0]
		objects[1] += n[1]
		total += n[0] + n[1]
	}
	c := split.NewCriterion(split.C45, split.Sets, 0, 0, total)
	node := c.NewTotals(objects, append([]int64(nil), objects...))
	s := split.NewScanner(c)
	s.Node(node, split.Heavy{})
	s.Load(0, column, h, nil)
	best := s.Scan()
	found := split.Best(s.Collect(split.Floor(best), nil), -1)
	team := split.NewTeam(1)
	team.Node(node, split.Heavy{}, []*split.Criterion{c}, false)
	team.Load(0, column, h, nil)
	estimates := make([]split.Estimate, 1)
	team.Scan(estimates)
	if estimates[0].Low > best || best > estimates[0].High {
		t.Fatalf("best score %v, and the estimate is from %v to %v", best, estimates[0].Low, estimates[0].High)
	}
	collected := [][]split.Candidate{nil}
	team.Collect([]float64{split.Cut(estimates[0].Low)}, collected)
	if by := split.Best(collected[0], -1); by != found {
		t.Fatalf("the team finds %+v, the scanner %+v", by, found)
	}
	return best, found.Test
}

// gain returns by how much a test lowers the entropy of a node, in bits per row.
func (v values) gain(yes func(code int) bool) float64 {
	entropy := func(a, b float64) float64 {
		h := 0.0
		for _, x := range []float64{a, b} {
			if x > 0 {
				h -= x * math.Log2(x/(a+b))
			}
		}
		return h
	}
	var in, out [2]float64
	for code, n := range v {
		for k := range n {
			if yes(code) {
				in[k] += float64(n[k])
			} else {
				out[k] += float64(n[k])
			}
		}
	}
	a, b := in[0]+out[0], in[1]+out[1]
	return (entropy(a, b) - entropy(in[0], in[1]) - entropy(out[0], out[1])) / (a + b)
}

// TestSetsBest: of two classes, the best test for a set lowers the impurity as much as the best of all sets, tried one by
// one. Missing values take the no branch.
func TestSetsBest(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		listed := 3 + r.IntN(5)
		v := make(values, listed+2) // none is in "other"
		for code := range listed {
			v[code] = [2]int64{int64(1 + r.IntN(20)), int64(1 + r.IntN(20))}
		}
		if r.IntN(2) == 0 {
			v[listed+1] = [2]int64{int64(r.IntN(30)), int64(r.IntN(30))}
		}
		want := 0.0
		for set := range 1 << listed {
			want = max(want, v.gain(func(code int) bool { return code < listed && set>>code&1 == 1 }))
		}
		got, test := v.scan(t, &split.Column{Codes: len(v), Cost: 1, Prior: 1e-9})
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("seed %d, weights %v: the best set has %v, the best of all sets %v", seed, v, got, want)
		}
		if by := v.gain(func(code int) bool { return test.Outcome(code, listed+1) == 1 }); math.Abs(by-want) > 1e-9 {
			t.Fatalf("seed %d, weights %v: the test %+v has %v, want %v", seed, v, test, by, want)
		}
		if test.Kind == split.In && test.Outcome(listed+1, listed+1) != 0 {
			t.Fatalf("seed %d: missing values take the yes branch of %+v", seed, test)
		}
	}
}

// TestSetsByChance: values that differ by chance alone have no tests for sets; values with an effect have.
func TestSetsByChance(t *testing.T) {
	const nodes = 400
	noise := 0
	effects := 0
	strong := 0 // nodes where the effects are large
	for seed := range uint64(nodes) {
		r := rand.New(rand.NewPCG(seed, 2))
		listed := []int{6, 10, 300, 3000}[seed%4]
		share := []float64{0.5, 0.1, 0.02}[seed%3]
		draw := func(spread float64) values {
			v := make(values, listed+2)
			for code := range listed {
				p := min(max(share*(1+spread*r.NormFloat64()), 0), 1)
				for range 1 + r.IntN(max(20, 3000/listed)) {
					if r.Float64() < p {
						v[code][1]++
					} else {
						v[code][0]++
					}
				}
			}
			return v
		}
		column := &split.Column{Codes: listed + 2, Cost: 1}
		if _, test := draw(0).scan(t, column); test.Kind == split.In {
			noise++
		}
		if share < 0.5 {
			continue
		}
		strong++
		if _, test := draw(0.5).scan(t, column); test.Kind == split.In {
			effects++
		}
	}
	if noise > nodes/100 {
		t.Errorf("%d of %d nodes without an effect have a test for a set", noise, nodes)
	}
	if effects < strong*3/4 {
		t.Errorf("%d of %d nodes with an effect have a test for a set", effects, strong)
	}
}

// TestSetsTrust: values with effects drawn at random have tests whose trust is the part of the difference between the
// outcomes that rows beyond the training rows have as well.
func TestSetsTrust(t *testing.T) {
	for _, rows := range []int{6, 14, 100} { // of a value, on average
		trust := 0.0
		part := 0.0
		const nodes = 40
		for seed := range uint64(nodes) {
			r := rand.New(rand.NewPCG(seed, uint64(rows)))
			const listed = 500
			v := make(values, listed+2)
			shares := make([]float64, listed)
			for code := range listed {
				shares[code] = min(max(0.4+0.2*r.NormFloat64(), 0), 1)
				for range 1 + r.IntN(2*rows) {
					if r.Float64() < shares[code] {
						v[code][1]++
					} else {
						v[code][0]++
					}
				}
			}
			_, test := v.scan(t, &split.Column{Codes: listed + 2, Cost: 1})
			if test.Kind != split.In {
				t.Fatalf("%d rows, seed %d: no test for a set", rows, seed)
			}
			var seen, expected, weight [2]float64
			for code, share := range shares {
				n := float64(v[code][0] + v[code][1])
				yes := test.Outcome(code, listed+1)
				weight[yes] += n
				seen[yes] += float64(v[code][1])
				expected[yes] += n * share
			}
			trust += test.Trust / nodes
			part += (expected[1]/weight[1] - expected[0]/weight[0]) / (seen[1]/weight[1] - seen[0]/weight[0]) / nodes
		}
		if math.Abs(trust-part) > 0.05 {
			t.Errorf("%d rows of a value: the trust is %.3f on average, and new rows have %.3f of the difference", rows, trust, part)
		}
	}
}

// TestCodeSet: a set survives JSON, although its bytes are no text.
func TestCodeSet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		n := r.IntN(2000)
		in := make([]bool, n)
		for code := range in {
			in[code] = r.IntN(2) == 0
		}
		want := split.Test{Kind: split.In, Set: split.NewCodeSet(n, func(code int) bool { return in[code] })}
		b, err := json.Marshal(want)
		var got split.Test
		if err != nil || json.Unmarshal(b, &got) != nil || got != want {
			t.Fatalf("%v becomes %v: %v", want, got, err)
		}
		for code := range n + 20 {
			if got.Set.Has(code) != (code < n && in[code]) {
				t.Fatalf("code %d: the set has it: %v", code, got.Set.Has(code))
			}
		}
	}
}

// TestFrequentValues: the value of a single row has no test of its own, and no test separates a single row from all others with
// the value.
func TestFrequentValues(t *testing.T) {
	for _, c := range []struct {
		rows      values // by value; then other and missing values
		frequent  bool
		separates int // value that the best test separates; -1: none
	}{
		{values{{50, 0}, {50, 0}, {0, 1}, {}, {}}, false, 2},
		{values{{50, 0}, {40, 10}, {0, 1}, {}, {}}, true, 0},
		{values{{50, 0}, {50, 0}, {0, 2}, {}, {}}, true, 2},
		{values{{100, 0}, {0, 1}, {}, {}}, true, -1},
		{values{{100, 0}, {0, 0}, {0, 1}, {}}, true, 2}, // other values
	} {
		_, test := c.rows.scan(t, &split.Column{Codes: len(c.rows), Cost: 1, Frequent: c.frequent})
		separates := -1
		if test.Kind != 0 {
			for code := range c.rows {
				if test.Outcome(code, len(c.rows)-1) == 1 {
					separates = code
				}
			}
		}
		if separates != c.separates {
			t.Errorf("%v, frequent %v: the test %+v separates the value %d, want %d", c.rows, c.frequent, test, separates, c.separates)
		}
	}
}
