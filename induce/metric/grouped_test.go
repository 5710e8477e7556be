package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// risks is one numeric feature of 16 bins, the risk of a patient.
func risks() []dataset.Feature {
	f := dataset.Feature{Name: "risk", Kind: dataset.Numeric, Cost: 1}
	for b := 1; b < 16; b++ {
		f.Cuts = append(f.Cuts, float64(b))
	}
	return []dataset.Feature{f}
}

// visits draws patients with a number of visits each. The class is the patient's; the risk, too, but for one
// bin of noise.
func visits(r *rand.Rand, patients, each int) *dataset.Objects {
	features := risks()
	layout := dataset.NewLayout(features)
	table := dataset.NewTable(layout, false)
	table.KeepGroups(math.MaxInt64)
	for range patients {
		risk, class := r.IntN(14)+1, uint16(0)
		if r.Float64() < .2+.04*float64(risk) {
			class = 1
		}
		bucket := dataset.Bucket(r.Uint64())
		for range each {
			key := []byte{byte(risk + r.IntN(3) - 1)}
			table.AddGrouped(key, dataset.HashKey(key), bucket, class, 1, 1)
		}
	}
	o := dataset.NewObjects(layout, 2, false, 0)
	o.KeepGroups()
	if err := o.AppendFrom(table.AppendBlock(nil, 0, table.Len()), layout); err != nil {
		panic(err)
	}
	return o
}

// measured returns the metrics of a tree on objects.
func measured(t *tree.Tree, o *dataset.Objects) metric.Metrics {
	return *metric.OfLeaves(t, t.CountObjects(o), 1)
}

// measuredByGroup is measured with the groups of the objects.
func measuredByGroup(t *tree.Tree, o *dataset.Objects) metric.Metrics {
	one := t.CountObjects(o)
	one.Groups = t.CountGroups(o, true)
	return *metric.OfLeaves(t, one, 1)
}

// TestCoverage: 300 patients with 12 visits each, and 60 patients. The intervals by group have the figures of
// the tree on all patients in about 95 of 100 data sets; those of rows miss them often.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 60))
	features := risks()
	training := visits(r, 300, 12)
	nodes := inmemory.Grow(training, split.Columns(features), induce.Params{Algorithm: split.C45, Family: split.Thresholds, Theta: .1},
		training.TotalWeight(), inmemory.Options{})
	model := tree.New(features, nodes)
	model.Label.Classes = []string{"well", "sick"}
	model.Estimate(tree.Smoothed, 1)
	model.Measure()
	model.Label.ErrorCosts = [][]float64{{0, 1}, {3, 0}}
	truth := measured(model, visits(r, 400_000, 1))
	const sets = 400
	for _, patients := range []int{60, 300} {
		names := []string{"AUC", "accuracy", "balanced accuracy", "cost", "error cost", "total cost"}
		var byRow, byGroup [6]int
		in := func(i *metric.Interval, x *float64) int {
			if i != nil && i.Low <= *x && *x <= i.High {
				return 1
			}
			return 0
		}
		for range sets {
			o := visits(r, patients, 12)
			m := measured(model, o)
			count := func(covered *[6]int) {
				covered[0] += in(m.Intervals.AUCOvRMacro, truth.AUCOvRMacro)
				covered[1] += in(m.Intervals.Accuracy, truth.Accuracy)
				covered[2] += in(m.Intervals.BalancedAccuracy, truth.BalancedAccuracy)
				covered[3] += in(m.Intervals.ExpectedCost, truth.ExpectedCost)
				covered[4] += in(m.Intervals.ExpectedErrorCost, truth.ExpectedErrorCost)
				covered[5] += in(m.Intervals.ExpectedTotalCost, truth.ExpectedTotalCost)
			}
			count(&byRow)
			m = measuredByGroup(model, o)
			count(&byGroup)
		}
		for i, name := range names {
			t.Logf("%d patients: %s is in %d intervals by group of %d, in %d by row", patients, name, byGroup[i], sets, byRow[i])
			if byGroup[i] < sets*92/100 || byGroup[i] > sets*98/100 { // 95 %, give or take three deviations of 1.1 %
				t.Errorf("%d patients: %s is in %d of %d intervals by group, want about 95 %%", patients, name, byGroup[i], sets)
			}
			if byRow[i] > sets*80/100 {
				t.Errorf("%d patients: %s is in %d of %d intervals by row: the test tests little", patients, name, byRow[i], sets)
			}
		}
	}
}

// TestEffectsOfRows: where each row has a group of its own, intervals stay about as they are.
func TestEffectsOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 60))
	features := risks()
	o := visits(r, 20_000, 1)
	nodes := inmemory.Grow(o, split.Columns(features), induce.Params{Algorithm: split.C45, Family: split.Thresholds, Theta: .1},
		o.TotalWeight(), inmemory.Options{})
	model := tree.New(features, nodes)
	model.Label.Classes = []string{"well", "sick"}
	model.Estimate(tree.Smoothed, 1)
	model.Measure()
	before, after := measured(model, o), measuredByGroup(model, o)
	for _, x := range [][2]*metric.Interval{
		{before.Intervals.AUCOvRMacro, after.Intervals.AUCOvRMacro},
		{before.Intervals.Accuracy, after.Intervals.Accuracy},
		{before.Intervals.ExpectedCost, after.Intervals.ExpectedCost},
	} {
		if by := x[1].StandardError / x[0].StandardError; by < .7 || by > 1.35 { // of 60 buckets: three deviations of 9 %
			t.Errorf("the standard error %v has become %v", x[0].StandardError, x[1].StandardError)
		}
	}
}

// TestCopiesOfUnordered: half of the patients have a lab, which the tree asks for. Ten equal visits of each patient are no more evidence
// than one: standard errors stay about as they are, and no class counts for more rows than it has patients with the lab.
func TestCopiesOfUnordered(t *testing.T) {
	features := risks()
	features[0].Unordered = true
	layout := dataset.NewLayout(features)
	draw := func(each int64) *dataset.Objects {
		r := rand.New(rand.NewPCG(78, 60))
		table := dataset.NewTable(layout, false)
		table.KeepGroups(math.MaxInt64)
		for range 4000 {
			risk, class := r.IntN(16), uint16(0)
			if r.Float64() < .1+.05*float64(risk) {
				class = 1
			}
			if r.IntN(2) == 0 {
				risk = features[0].MissingCode()
			}
			key := []byte{byte(risk)}
			table.AddGrouped(key, dataset.HashKey(key), dataset.Bucket(r.Uint64()), class, each, each)
		}
		o := dataset.NewObjects(layout, 2, false, 0)
		o.KeepGroups()
		if err := o.AppendFrom(table.AppendBlock(nil, 0, table.Len()), layout); err != nil {
			t.Fatal(err)
		}
		return o
	}
	once := draw(1)
	columns := split.Columns(features)
	columns[0].Unordered = true
	model := tree.New(features, inmemory.Grow(once, columns, induce.Params{Algorithm: split.C45, Family: split.Thresholds, Theta: .1},
		once.TotalWeight(), inmemory.Options{}))
	model.Label.Classes = []string{"well", "sick"}
	model.Estimate(tree.Smoothed, 1)
	model.Measure()
	if !model.HasPresenceTests() {
		t.Fatal("the tree has no presence test")
	}
	before := measured(model, once)
	after := measuredByGroup(model, draw(10))
	for _, x := range [][2]*metric.Interval{
		{before.Intervals.AUCOvRMacro, after.Intervals.AUCOvRMacro}, {before.Intervals.Accuracy, after.Intervals.Accuracy},
	} {
		if by := x[1].StandardError / x[0].StandardError; by < .7 || by > 1.35 { // as in TestEffectsOfRows
			t.Errorf("the standard error %v of one visit each is %v of ten", x[0].StandardError, x[1].StandardError)
		}
	}
	for k, class := range after.PerClass {
		if patients := float64(class.Support) / 10 / 2; class.ROC.EffectiveRows > patients*1.2 {
			t.Errorf("class %d counts for %v rows, and about %v patients have the lab", k, class.ROC.EffectiveRows, patients)
		}
	}
}

// TestFewGroups: a single bucket of groups defines no interval, nor does one that alone has a class. Without the interval
// of the accuracy, it is not known how far chance explains the errors of the probabilities, and they are not judged.
func TestFewGroups(t *testing.T) {
	groups := func(more bool) *tree.GroupCounts {
		g := &tree.GroupCounts{Keyed: true}
		g.Buckets[7] = []tree.GroupCount{{Leaf: 0, Class: 0, Weight: 3, Rows: 3}, {Leaf: 0, Class: 1, Weight: 3, Rows: 3}}
		if more {
			g.Buckets[9] = []tree.GroupCount{{Leaf: 0, Class: 0, Weight: 2, Rows: 2}}
		}
		return g
	}
	leaf := &tree.Tree{Nodes: []tree.Node{{Probabilities: []float64{.5, .5}}}}
	leaf.Label.Classes = []string{"a", "b"}
	for _, more := range []bool{false, true} {
		m := metric.OfLeaves(leaf, &tree.LeafCounts{Weights: [][]int64{{5, 3}}, Rows: []int64{8}, Groups: groups(more)}, 1)
		if m.Intervals.AUCOvRMacro != nil || (m.Intervals.Accuracy == nil) == more {
			t.Errorf("two buckets %v: intervals %+v", more, m.Intervals)
		}
		c := m.Calibration
		if known := c.ChanceLimit != nil && c.ChanceError != nil && c.ExpectedError != nil; known != more || c.ObservedError != .125 {
			t.Errorf("two buckets %v: calibration %+v", more, c) // 3 of 8 rows, and not 4, are of the second class
		}
	}
}
