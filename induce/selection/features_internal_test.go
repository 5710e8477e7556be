package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
)

// TestSelectFeatures: of a strong feature, one that repeats it with errors, a weak one and one without an effect, the
// strong and the weak feature are selected, though the repetition tells more than the weak feature alone. Prices and
// groups count, and no feature without an effect is selected, however many the limits allow.
func TestSelectFeatures(t *testing.T) {
	const strong, repeated, weak, noise = 0, 1, 2, 3
	tests := []struct {
		name     string
		costs    [4]float64
		grouped  bool // weak and noise share a set-up of 5
		limits   induce.Params
		selected []int
	}{
		{"one", [4]float64{1, 1, 1, 1}, false, induce.Params{PathCost: 1}, []int{strong}},
		{"two", [4]float64{1, 1, 1, 1}, false, induce.Params{PathCost: 2}, []int{strong, weak}},
		{"all", [4]float64{1, 1, 1, 1}, false, induce.Params{PathCost: 9}, []int{strong, weak}},
		{"strong is too dear", [4]float64{3, 1, 1, 1}, false, induce.Params{PathCost: 2}, []int{repeated, weak}},
		{"nothing is that cheap", [4]float64{3, 3, 3, 3}, false, induce.Params{PathCost: 2}, nil},
		{"two paid tests", [4]float64{9, 9, 9, 9}, false, induce.Params{PathTests: 2}, []int{strong, weak}},
		{"one paid test", [4]float64{9, 9, 9, 9}, false, induce.Params{PathTests: 1}, []int{strong}},
		{"one paid test, and a free one", [4]float64{9, 0, 9, 9}, false, induce.Params{PathTests: 1}, []int{strong}},
		{"set-up is too dear", [4]float64{1, 1, 1, 1}, true, induce.Params{PathCost: 6}, []int{strong}},
		{"20 minutes", [4]float64{1, 1, 1, 1}, false, induce.Params{PathFurther: dataset.Amounts{20}}, []int{strong, weak}},
		{"15 minutes", [4]float64{1, 1, 1, 1}, false, induce.Params{PathFurther: dataset.Amounts{15}}, []int{strong}},
		{"set-up is paid", [4]float64{1, 1, 1, 1}, true, induce.Params{PathCost: 7}, []int{strong, weak}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var features []dataset.Feature
			for f, cost := range test.costs {
				feature := dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6, 7}, Cost: cost, FurtherCosts: map[string]float64{"minutes": 10}}
				if test.grouped && f >= weak {
					feature.Group = "visit"
					feature.GroupCost = 5
				}
				features = append(features, feature)
			}
			c := &Chooser{Features: features, Columns: split.Columns(features), Classes: 2, Settings: new(Settings), Training: Training{Scale: 1}}
			for f := range c.Columns {
				c.Columns[f].FreeRepeats = true
			}
			r := rand.New(rand.NewPCG(1, 2))
			o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
			for range 4000 {
				codes := []int{r.IntN(8), 0, r.IntN(8), r.IntN(8)}
				codes[repeated] = codes[strong]
				if r.IntN(3) == 0 {
					codes[repeated] = r.IntN(8)
				}
				class := uint16(0)
				if 2*codes[strong]+codes[weak]+r.IntN(6) > 13 {
					class = 1
				}
				o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
			}
			selected, _ := c.selectFeatures(o, &test.limits, func() bool { return false }, new(parallel.Steps))
			if slices.Contains(selected, noise) || !slices.Equal(without(selected, repeated, strong), test.selected) {
				t.Errorf("selected %v: want %v", selected, test.selected)
			}
		})
	}
}

// TestSelectAmongMany: 30 weak free features do not keep a strong paid one from competing. Where the weak features cost
// 1 and the limit is 8, further sets have the features of the selected set but the last, which another one replaces.
func TestSelectAmongMany(t *testing.T) {
	longtest.Skip(t)
	const paid = 30
	features := make([]dataset.Feature, paid+1)
	for f := range features {
		features[f] = dataset.Feature{Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}}
	}
	features[paid].Cost = 5
	c := &Chooser{
		Features: features, Columns: split.Columns(features), Classes: 2, Settings: new(Settings),
		Training: Training{Scale: 1, Objects: 4000},
	}
	for f := range c.Columns {
		c.Columns[f].FreeRepeats = true
	}
	r := rand.New(rand.NewPCG(3, 4))
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
	for range 4000 {
		codes := make([]int, len(features))
		sum := r.NormFloat64()
		for f := range codes {
			codes[f] = r.IntN(4)
			if f < paid {
				sum += 0.3 * float64(codes[f]-1)
			}
		}
		class := uint16(0)
		if sum+3*float64(codes[paid]) > 9 {
			class = 1
		}
		o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	never := func() bool { return false }
	limits := induce.Params{PathCost: 5}
	if selected, _ := c.selectFeatures(o, &limits, never, new(parallel.Steps)); !slices.Contains(selected, paid) {
		t.Errorf("selected %v: want the paid feature %d among them", selected, paid)
	}
	for f := range paid {
		features[f].Cost = 1
	}
	limits.PathCost = 8
	c.Columns = split.Columns(features)
	for f := range c.Columns {
		c.Columns[f].FreeRepeats = true
	}
	selected, others := c.selectFeatures(o, &limits, never, new(parallel.Steps))
	last := len(selected) - 1
	if len(selected) != 4 || len(others) == 0 || len(others) >= mostFinalists {
		t.Errorf("%d further sets: want 1 to %d", len(others), mostFinalists-1)
	}
	for _, set := range others {
		if len(set) != len(selected) || !slices.Equal(set[:last], selected[:last]) || slices.Contains(selected, set[last]) {
			t.Errorf("further set %v: want %v with another last feature", set, selected)
		}
	}
}

// without returns the selected features without one that repeats another, if both are there: it may tell a little more.
func without(selected []int, feature, of int) []int {
	if !slices.Contains(selected, of) {
		return selected
	}
	return slices.DeleteFunc(selected, func(f int) bool { return f == feature })
}
