package split_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestNames pins the names in flags and tree.json.
func TestNames(t *testing.T) {
	testNames(t, split.ParseAlgorithm, algorithms(), "ec45 ecart asr c45 cart cc45 ccart ip bal")
	testNames(t, split.ParseFamily, families(), "onehot threshold both multiway")
	kinds := []split.Kind{split.Threshold, split.Bin, split.Equals, split.Multiway, split.Other, split.Missing}
	testNames(t, split.ParseKind, kinds, "threshold bin equals multiway other missing")
	if got := split.Algorithm(99).String() + split.Family(0).String(); got != "unknown(99)unknown(0)" {
		t.Errorf("names of unknown values: %q", got)
	}
}

func testNames[T interface {
	comparable
	fmt.Stringer
}](t *testing.T, parse func(string) (T, error), values []T, names string,
) {
	t.Helper()
	for i, name := range strings.Fields(names) {
		if got := values[i].String(); got != name {
			t.Errorf("name %q, want %q", got, name)
		}
		if got, err := parse(name); got != values[i] || err != nil {
			t.Errorf("parse %q: %v, %v", name, got, err)
		}
	}
	for _, bad := range []string{"", "EC45", " bin", "unknown(0)"} {
		if _, err := parse(bad); err == nil || !strings.Contains(err.Error(), strings.Fields(names)[0]) {
			t.Errorf("parse %q: error %v, want one that lists the names", bad, err)
		}
	}
}

// TestColumns: costs by hand. The usual price is the mean of 3, 2, 11/4 (of four codes) and 2 + 7.
func TestColumns(t *testing.T) {
	features := []dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Cuts: []float64{1, 2}, Cost: 3},
		{Name: "job", Kind: dataset.Categorical, Values: []string{"a", "b"}, Cost: 2},
		{
			Name: "town", Kind: dataset.Categorical, Values: []string{"a", "b"}, Cost: 2,
			ValueCosts: map[string]float64{"b": 5, "c": 9},
		},
		{Name: "iron", Kind: dataset.Numeric, Cost: 2, Group: "blood", GroupCost: 7},
	}
	want := []split.Column{
		{Codes: 4, Numeric: true, Cost: 3, Floor: 0.2, Unit: 1, Usual: 4.1875},
		{Codes: 4, Cost: 2, Floor: 0.2, Unit: 1, Usual: 4.1875},
		{Codes: 4, Cost: 2, Costs: []float64{2, 5, 2, 2}, Floor: 0.2, Unit: 1, Usual: 4.1875},
		{
			Codes: 2, Numeric: true, Cost: 2, Group: "blood", GroupCost: 7, GroupSize: 1, Floor: 0.2, Unit: 1, Usual: 4.1875,
		},
	}
	if diff := cmp.Diff(want, split.Columns(features), cmp.AllowUnexported(split.Column{})); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// TestUnusualPrices: by hand, a tenth of the least price above 0, and the power of
// two that scales the least price to 1..2.
func TestUnusualPrices(t *testing.T) {
	for _, c := range []struct {
		costs       []float64
		floor, unit float64
	}{
		{[]float64{0, 4}, 0.4, 1},
		{[]float64{0, 0}, 0.1, 1},
		{[]float64{1e-6, 1e6}, 1e-7, 1},
		{[]float64{0x1p40, 0x1p60}, 0.1 * 0x1p40, 0x1p-40},
		{[]float64{3 * 0x1p-100, 1}, 0.3 * 0x1p-100, 0x1p99},
	} {
		features := make([]dataset.Feature, len(c.costs))
		for i, cost := range c.costs {
			features[i] = dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1}, Cost: cost}
		}
		for _, got := range split.Columns(features) {
			if math.Abs(got.Floor-c.floor) > 1e-12*c.floor || got.Unit != c.unit {
				t.Errorf("costs %v: floor %v, unit %v, want %v and %v", c.costs, got.Floor, got.Unit, c.floor, c.unit)
			}
		}
	}
}

// TestIsLeaf: by hand, W = 1000.
func TestIsLeaf(t *testing.T) {
	for _, test := range []struct {
		name            string
		theta           float64
		objects, weight []int64
		want, rows      bool // by OfObjects and by OfRows
	}{
		{"one class", 0, []int64{3, 0}, []int64{500, 0}, true, true},
		{"one class of objects", 0, []int64{3, 0}, []int64{450, 50}, true, false},
		{"one object", 0, []int64{1, 0}, []int64{450, 50}, true, true},
		{"one class of objects at theta", 0.01, []int64{3, 0}, []int64{6, 4}, true, true},
		{"two classes", 0, []int64{1, 1}, []int64{1, 1}, false, false},
		{"two classes of objects", 0, []int64{1, 1}, []int64{2, 0}, false, false}, // soft ones
		{"at theta", 0.01, []int64{1, 1}, []int64{5, 5}, true, true},
		{"at theta up to rounding", 0.1 * 0.1, []int64{1, 1}, []int64{5, 5}, true, true}, // 0.1*0.1 > 0.01
		{"at theta but for rounding below", 0.3 - 0.29, []int64{1, 1}, []int64{5, 5}, true, true},
		{"above theta", 0.01, []int64{1, 1}, []int64{5, 6}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := split.NewCriterion(split.EC45, split.Both, 1, test.theta, 1000)
			if got := c.IsLeaf(c.NewTotals(test.objects, test.weight)); got != test.want {
				t.Errorf("leaf: %v, want %v", got, test.want)
			}
			if got := c.Stop(split.OfRows).IsLeaf(c.NewTotals(test.objects, test.weight)); got != test.rows {
				t.Errorf("leaf by the classes of rows: %v, want %v", got, test.rows)
			}
		})
	}
}

// TestMostObjects: by hand, the square of the greatest number of objects is below 2^63, and that
// of the next number is not. A node of two equal halves of so many objects has its pairs.
func TestMostObjects(t *testing.T) {
	n := uint64(split.MostObjects)
	if n*n > math.MaxInt64 || (n+1)*(n+1) <= math.MaxInt64 {
		t.Errorf("the squares of %d and the next number are %d and %d", n, n*n, (n+1)*(n+1))
	}
	half := int64(n / 2)
	c := split.NewCriterion(split.IP, split.OneHot, 0, 0, 2*half)
	if c.IsLeaf(c.NewTotals([]int64{half, half}, []int64{half, half})) {
		t.Error("a node of two equal classes is a leaf")
	}
}
