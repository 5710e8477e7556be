package certify_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// has reports whether a name was noted.
func has(noted, name string) bool { return strings.Contains(noted, name+";") }

// with notes a name, in order.
func with(noted, name string) string {
	if has(noted, name) {
		return noted
	}
	list := append(strings.SplitAfter(noted, ";"), name+";")
	slices.Sort(list)
	return strings.Join(list, "")
}

// newCloud draws n objects over four features. Their classes follow the codes, with
// 10 % noise.
func newCloud(r *rand.Rand, n int) *instance {
	in := &instance{opts: certify.Options{
		Algorithm: split.EC45, Lambda: 10, Family: split.Thresholds, Theta: 0.01,
		Seed: 3, Work: 1 << 16,
	}}
	for f := range 4 {
		feature := dataset.Feature{Name: fmt.Sprint("x", f), Kind: dataset.Numeric, Cost: 1}
		for b := range 20 {
			feature.Cuts = append(feature.Cuts, float64(b))
		}
		in.Features = append(in.Features, feature)
	}
	in.Objects = dataset.NewObjects(dataset.NewLayout(in.Features), 2, false, n)
	codes := make([]int, 4)
	for range n {
		for f := range codes {
			codes[f] = r.IntN(21)
		}
		class := 0
		if codes[0]+codes[1] > 20 != (r.IntN(10) == 0) {
			class = 1
		}
		w := int64(1 + r.IntN(3))
		in.total += w
		in.Objects.Append(codes, []dataset.ClassWeight{{Class: uint16(class), Weight: w}}, w)
	}
	return in
}

// TestOrderAndWorkers: neither the order of the objects nor the number of
// workers changes the certificate, whether objects and peers are sampled or not.
func TestOrderAndWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 60, 300, 2000, 12000} {
		in := newCloud(r, n)
		in.opts.Sample = 80
		want := certify.Certify(in.Data, in.opts)
		in.opts.Workers = 3
		got := certify.Certify(in.shuffled(r), in.opts)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d objects (-one worker +shuffled, three workers):\n%s", n, diff)
		}
		if want.Cost <= 0 || want.Sampled != (n > 80) {
			t.Errorf("%d objects: %+v", n, want)
		}
	}
}

// TestSampleBelowWhole: with few of many seeds the 95 % limit from a sample lies
// above the bound from all objects.
func TestSampleBelowWhole(t *testing.T) {
	in := newCloud(rand.New(rand.NewPCG(3, 4)), 500)
	in.opts.Sample = 500
	whole := certify.Certify(in.Data, in.opts)
	in.opts.Sample = 60
	above, sum := 0, 0.0
	const seeds = 20
	for seed := range uint64(seeds) {
		in.opts.Seed = seed
		b := certify.Certify(in.Data, in.opts)
		if sum += b.Cost; b.Cost > whole.Cost {
			above++
		}
	}
	if above > 4 { // of 20 draws with chance .05 more than 4 are above with chance .0026
		t.Errorf("%d of %d limits above %v", above, seeds, whole.Cost)
	}
	if mean := sum / seeds; mean < 0.75*whole.Cost {
		t.Errorf("limits are %v on average, much below %v", mean, whole.Cost)
	}
}

// TestLowerLimit: the limit covers the mean, and is no longer than Hoeffding's.
func TestLowerLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, runs = 400, 400
	for _, spread := range []float64{0.05, 0.3, 1} {
		missed, sum := 0, 0.0
		for range runs {
			draws := make([]float64, n)
			for i := range draws {
				draws[i] = 0.5 + spread*(r.Float64()-0.5)
			}
			limit := certify.LowerLimit(draws, nil)
			if sum += limit; limit > 0.5 {
				missed++
			}
		}
		if missed > 35 { // binomial(400, .05) exceeds 35 with chance .0005
			t.Errorf("spread %v: %d of %d limits above the mean", spread, missed, runs)
		}
		if hoeffding := 0.5 - math.Sqrt(math.Log(20)/2/n); sum/runs < hoeffding {
			t.Errorf("spread %v: limits are %v on average, Hoeffding's are %v", spread, sum/runs, hoeffding)
		}
	}
}

// TestCertificate: by hand. Four objects of weight 1 and two classes that
// alternate along one feature need the balanced tree: two tests each.
func TestCertificate(t *testing.T) {
	f := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}, Cost: 1}
	d := certify.Data{Features: []dataset.Feature{f}}
	d.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), 2, false, 4)
	for code := range 4 {
		d.Objects.Append([]int{code}, []dataset.ClassWeight{{Class: uint16(code % 2), Weight: 1}}, 1)
	}
	b := certify.Certify(d, certify.Options{Algorithm: split.EC45, Family: split.Thresholds, Lambda: 1})
	c := b.Certificate(certify.Grown{ExpectedCost: 2.25, Complete: true})
	// epsilon = 1 / (4 - 1) / 4 pairs; I = log2(3/1).
	factor := 300 * (1 + math.Log(12) + math.Log2(4) + math.Log2(3))
	if b.Cost > 2 || b.Cost < 2-1e-5 || c.Method != certify.Kraft || c.Sampled || c.Confidence != 1 {
		t.Errorf("%+v, want the optimum 2", c)
	}
	if math.Abs(c.LogFactor-factor) > 1e-6 || c.Guarantee != c.Ratio || math.Abs(c.Ratio-1.125) > 1e-5 {
		t.Errorf("%+v, want the factor %v and the ratio 1.125", c, factor)
	}
	for _, a := range c.Assumptions {
		if !a.Holds {
			t.Errorf("%+v does not hold", a)
		}
	}
	pruned := b.Certificate(certify.Grown{ExpectedCost: 1})
	if pruned.Guarantee != 0 || pruned.Ratio >= 1 {
		t.Errorf("%+v: a tree that is not complete has a guarantee", pruned)
	}
}

// TestAssumptions breaks each of the theorem's assumptions.
func TestAssumptions(t *testing.T) {
	broken := func(d certify.Data, opts certify.Options) string {
		var names []string
		for _, a := range certify.Certify(d, opts).Assumptions {
			if !a.Holds {
				names = append(names, a.Name)
			}
		}
		return strings.Join(names, " ")
	}
	fresh := func() certify.Data {
		return newCloud(rand.New(rand.NewPCG(7, 8)), 10).Data
	}
	opts := certify.Options{Algorithm: split.ECART, Family: split.Thresholds}
	if got := broken(fresh(), opts); got != "" {
		t.Errorf("nothing broken: %s", got)
	}
	d := fresh()
	d.Features[0].Group = "lab"
	d.Features[1].Cost = 0.5
	if got := broken(d, opts); got != "additive_costs integral_costs" {
		t.Errorf("a group and a cost of 1/2: %s", got)
	}
	d = fresh()
	d.Objects.Append([]int{1, 1, 1, 1}, []dataset.ClassWeight{{Class: 0, Weight: 3}, {Class: 1, Weight: 1}}, 4)
	d.Objects.Append([]int{1, 1, 1, 1}, []dataset.ClassWeight{{Class: 1, Weight: 1}}, 1)
	if got := broken(d, opts); got != "distinct_objects labels_kept" {
		t.Errorf("equal objects of two classes, one relabelled: %s", got)
	}
	opts.Algorithm, opts.Theta, opts.RepeatFree = split.CART, 0.01, true
	d = fresh()
	d.Features[2].Cost = 0
	if got := broken(d, opts); got != "criterion additive_costs positive_costs theta_multiple" {
		t.Errorf("another criterion, free repeats, a test for nothing, an odd theta: %s", got)
	}
}

// FuzzBound: bounds hold on whatever small instance a seed gives.
func FuzzBound(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, seed&1 == 0, seed&2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, free, grouped bool) {
		in := newInstance(rand.New(rand.NewPCG(seed, 9)), free, grouped)
		testInstance(t, 0, in, make(map[string][]float64))
	})
}

// BenchmarkCertify bounds a sample of many objects.
func BenchmarkCertify(b *testing.B) {
	in := newCloud(rand.New(rand.NewPCG(1, 1)), 20000)
	in.opts.Work, in.opts.Sample = 0, 100
	for b.Loop() {
		certify.Certify(in.Data, in.opts)
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}

// TestBoundBelowOptimum: on small instances every method's bound is at most the
// optimum by brute force, which is at most the greedy tree's cost. It logs how
// far apart they are.
func TestBoundBelowOptimum(t *testing.T) {
	instances := 1000
	if testing.Short() {
		instances = 100
	}
	for _, free := range []bool{false, true} {
		for _, grouped := range []bool{false, true} {
			t.Run(fmt.Sprintf("free=%v/grouped=%v", free, grouped), func(t *testing.T) {
				r := rand.New(rand.NewPCG(6, uint64(len(t.Name()))))
				ratios := make(map[string][]float64)
				for at := range instances {
					in := newInstance(r, free, grouped)
					testInstance(t, at, in, ratios)
				}
				var names []string
				for name := range ratios {
					names = append(names, name)
				}
				slices.Sort(names)
				for _, name := range names {
					list := ratios[name]
					slices.Sort(list)
					t.Logf("%-20s optimum/bound: median %.3f, 90%% %.3f, worst %.3f of %d", name, list[len(list)/2],
						list[len(list)*9/10], list[len(list)-1], len(list))
				}
			})
		}
	}
}

func testInstance(t *testing.T, at int, in *instance, ratios map[string][]float64) {
	t.Helper()
	optimum, greedy := in.optimum(), in.greedy()
	if optimum > greedy+1e-9 {
		t.Fatalf("instance %d: optimum %v above the greedy tree's %v", at, optimum, greedy)
	}
	if b := certify.Certify(in.Data, in.opts); b.Cost > optimum || b.Method == certify.Optimum && optimum > 0 {
		t.Errorf("instance %d: %+v, and the optimum is %v", at, b, optimum)
	}
	best, method := 0.0, make(map[string]float64)
	for _, m := range certify.Methods(in.Data, in.opts) {
		if m.Cost > optimum*(1+1e-9)+1e-9 {
			t.Errorf("instance %d: %s bounds by %v what costs %v; family %v theta %v\n%+v\n%+v", at, m.Name, m.Cost,
				optimum, in.opts.Family, in.opts.Theta, in.Features, in.Objects)
		}
		best = max(best, m.Cost)
		method[m.Name] = max(method[m.Name], m.Cost)
	}
	if optimum > 0 {
		for name, cost := range method {
			ratios[name] = append(ratios[name], optimum/max(cost, 1e-9))
		}
		ratios["best"] = append(ratios["best"], optimum/max(best, 1e-9))
		ratios["greedy/optimum"] = append(ratios["greedy/optimum"], greedy/optimum)
	}
}
