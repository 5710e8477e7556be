package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// drawing is a kind of rows. Columns with a positive number of codes are numeric, with a negative number categorical.
type drawing struct {
	name          string
	rows, classes int
	share         float64 // of the second of two classes; 0: all classes have equal shares
	columns       []int
	skewed        bool    // most rows have the first codes
	visits        int     // rows of a key; 0: rows have no keys
	count         int64   // number of equal rows that each row with a key stands for; 0: 1
	shift         float64 // by how much the code of the first column rises from class to class, in its codes
}

// objects draws rows.
func (d *drawing) objects(r *rand.Rand) (*dataset.Objects, []dataset.Feature) {
	var features []dataset.Feature
	for i, codes := range d.columns {
		one := dataset.Feature{Name: "x" + strconv.Itoa(i), Kind: dataset.Numeric}
		for k := range codes - 1 {
			one.Cuts = append(one.Cuts, float64(k))
		}
		for k := range -codes {
			one.Kind = dataset.Categorical
			one.Values = append(one.Values, strconv.Itoa(k))
		}
		features = append(features, one)
	}
	o := dataset.NewObjects(dataset.NewLayout(features), d.classes, false, d.rows)
	if d.visits > 0 {
		o.KeepGroups()
	}
	var codes []int
	class := 0
	for row := range d.rows {
		if d.visits == 0 || row%d.visits == 0 {
			class = r.IntN(d.classes)
			if d.share > 0 {
				class = 0
				if r.Float64() < d.share {
					class = 1
				}
			}
			codes = d.codes(r, class)
		}
		if d.visits > 0 {
			bucket := dataset.Bucket(uint64(row/d.visits+1) * 0x9e3779b97f4a7c15)
			n := max(1, d.count)
			o.AppendGrouped(codes, []dataset.GroupShare{{Bucket: bucket, Class: uint16(class), Weight: n, Rows: n}})
		} else {
			o.Append(codes, []dataset.ClassWeight{{Class: uint16(class), Weight: 1}}, 1)
		}
	}
	return o, features
}

// codes draws the codes of a row.
func (d *drawing) codes(r *rand.Rand, class int) []int {
	codes := make([]int, len(d.columns))
	for i, n := range d.columns {
		x := r.Float64()
		if d.skewed {
			x = math.Pow(x, 8)
		}
		n = max(n, -n)
		codes[i] = int(x * float64(n))
		if i == 0 {
			codes[i] = min(n-1, codes[i]+int(d.shift*float64(class)))
		}
	}
	return codes
}

// TestAssociationLevel: without a signal, p-values are at most p in a share of at most p of the data sets; with a signal,
// they are small. The table has the number of data sets with a p-value of at most .02 and .1.
func TestAssociationLevel(t *testing.T) {
	repeats := 100
	if testing.Short() {
		repeats = 20
	}
	ten := []int{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	few := []int{2, 2, 2, 3, 5, -2, -5}
	var table strings.Builder
	for _, d := range []drawing{
		{name: "10 columns, 160 rows", rows: 160, classes: 2, columns: ten},
		{name: "2 % of 1600 rows", rows: 1600, classes: 2, share: .02, columns: ten},
		{name: ".2 % of 4000 rows, seldom values", rows: 4000, classes: 2, share: .002, columns: few, skewed: true},
		{name: "seldom values, 500 rows", rows: 500, classes: 2, columns: few, skewed: true},
		{name: "texts of 20 values, 2 % of 2000 rows", rows: 2000, classes: 2, share: .02, columns: []int{-20, -20, -5}, skewed: true},
		{name: "texts of 300 values, 1000 rows", rows: 1000, classes: 2, columns: []int{-300, -300}},
		{name: "5 classes of 20 rows", rows: 100, classes: 5, columns: []int{100, 100, -5}},
		{name: "20 classes", rows: 400, classes: 20, columns: []int{100, 100, -5, 2}},
		{name: "keys of 8 rows", rows: 1200, classes: 2, columns: []int{100, 100, -5, 2}, visits: 8},

		{name: "signal: 1 of 10 columns, 160 rows", rows: 160, classes: 2, columns: ten, shift: 25},
		{name: "signal: 1 of 10 columns, 1000 rows", rows: 1000, classes: 2, columns: ten, shift: 10},
		{name: "signal: 5 classes of 20 rows", rows: 100, classes: 5, columns: []int{100, 100}, shift: 16},
		{name: "signal: keys of 8 rows", rows: 1200, classes: 2, columns: []int{100, 100}, visits: 8, shift: 25},
	} {
		r := rand.New(rand.NewPCG(58, 6))
		believed, near := 0, 0
		for range repeats {
			o, features := d.objects(r)
			a := association{parts: []*dataset.Objects{o}, keyed: d.visits > 0}
			found, err := a.strongest(t.Context(), features, d.classes, 0, new(atomic.Int64))
			if err != nil {
				t.Fatal(err)
			}
			if found.Believed() {
				believed++
			}
			if found != nil && found.P <= .1 {
				near++
			}
			if d.shift > 0 && found.Believed() && found.Feature != "x0" {
				t.Errorf("%s: the strongest feature is %s", d.name, found.Feature)
			}
		}
		fmt.Fprintf(&table, "%-40s %4d %4d of %d\n", d.name, believed, near, repeats)
		switch {
		case d.shift > 0 && believed < repeats*8/10:
			t.Errorf("%s: believed in %d of %d data sets", d.name, believed, repeats)
		case d.shift == 0 && (believed > 2+repeats*4/100 || near > 3+repeats*16/100):
			t.Errorf("%s: %d and %d of %d data sets without a signal", d.name, believed, near, repeats)
		}
	}
	t.Log("\n" + table.String())
}

// TestAssociationValues: the least of two p-values, doubled. The p-value of the ranks is by scipy 1.17.1,
// scipy.stats.mannwhitneyu(x, y, method='asymptotic').
func TestAssociationValues(t *testing.T) {
	feature := dataset.Feature{Name: "x", Kind: dataset.Numeric}
	for k := range 19 {
		feature.Cuts = append(feature.Cuts, float64(k))
	}
	o := dataset.NewObjects(dataset.NewLayout([]dataset.Feature{feature}), 2, false, 20)
	for code := range 20 {
		class := uint16(0)
		if code >= 9 && code != 12 {
			class = 1
		}
		o.Append([]int{code}, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	a := association{parts: []*dataset.Objects{o}}
	got, err := a.strongest(t.Context(), []dataset.Feature{feature}, 2, 0, new(atomic.Int64))
	if want := 2 * 0.00043963875262656454; err != nil || math.Abs(got.P-want) > 1e-9*want || got.Feature != "x" {
		t.Errorf("%+v, %v, want %v", got, err, want)
	}
}

// TestAssociationCounts: if all counts of rows with keys are multiplied by a constant, the p-value stays.
func TestAssociationCounts(t *testing.T) {
	want := 0.0
	for _, count := range []int64{1, 1_000, 1_000_000_000, 1_000_000_000_000} {
		d := drawing{rows: 1200, classes: 2, columns: []int{100, 7}, visits: 8, shift: 25, count: count}
		o, features := d.objects(rand.New(rand.NewPCG(58, 4)))
		a := association{parts: []*dataset.Objects{o}, keyed: true}
		got, err := a.strongest(t.Context(), features, d.classes, 0, new(atomic.Int64))
		if err != nil {
			t.Fatal(err)
		}
		if count == 1 {
			want = got.P
		}
		if math.Abs(got.P-want) > 1e-6*want || want > .1 {
			t.Errorf("counts of %d: p %v, want %v", count, got.P, want)
		}
	}
}
