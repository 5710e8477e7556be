package certify_test

import (
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/certify"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestRoom: by hand. A feature of three bins and one for missing has codes of one byte, so an object
// takes 1 + 16 bytes, and 2 GiB hold 2^31/17 = 126,322,567.5 objects.
func TestRoom(t *testing.T) {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2}, Cost: 1}}
	for _, c := range []struct {
		features []dataset.Feature
		objects  int64
		bytes    int64
		fits     bool
	}{
		{nil, 10, 0, false},
		{features, 10, 170, true},
		{features, 126_322_567, 2_147_483_639, true},
		{features, 126_322_568, 2_147_483_656, false},
	} {
		if bytes, fits := certify.Room(c.features, c.objects); bytes != c.bytes || fits != c.fits {
			t.Errorf("%d objects, %d features: %d bytes, %v, want %d, %v", c.objects, len(c.features), bytes, fits, c.bytes,
				c.fits)
		}
	}
}

// TestRunBudget: by hand, 3/4 of a step for a code of a grown tree, 4 steps for a value
// that is read, and ten million.
func TestRunBudget(t *testing.T) {
	for run, want := range map[certify.Run]int64{
		{}: 10_000_000,
		{Trees: 1, Objects: 800, Rows: 1000, Features: 10}:                10_000_000 + 6000 + 40_000,
		{Trees: 20 * 6, Objects: 50_000, Rows: 1_000_000, Features: 1000}: 10_000_000 + 4_500_000_000 + 4_000_000_000,
		{Trees: 1, Objects: 1, Rows: 1, Features: 1}:                      10_000_000 + 0 + 4, // whole steps
	} {
		if got := run.Budget(); got != want {
			t.Errorf("%+v: %d steps, want %d", run, got, want)
		}
	}
}

// someRows draws objects of two classes with 10 % noise: few tests do not tell the
// classes apart.
func someRows(n, width int) certify.Data {
	r := rand.New(rand.NewPCG(31, uint64(n)))
	features := make([]dataset.Feature, width)
	for f := range features {
		features[f] = dataset.Feature{Name: string(rune('a' + f)), Kind: dataset.Numeric, Cost: 1}
		for cut := range 15 {
			features[f].Cuts = append(features[f].Cuts, float64(cut))
		}
	}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, n)
	for range n {
		row := make([]int, width)
		for f := range row {
			row[f] = r.IntN(16)
		}
		class := uint16(0)
		if row[0]+row[1]*row[2]/16 > 12 || r.IntN(10) == 0 {
			class = 1
		}
		o.Append(row, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	return certify.Data{Objects: o, Features: features}
}

// TestBudget: a bound within a budget does not depend on the number of workers or on
// the order of the objects, takes about as many steps as planned, and is below the
// cost of a tree.
func TestBudget(t *testing.T) {
	d := someRows(3000, 8)
	opts := certify.Options{
		Algorithm: split.EC45, Family: split.Thresholds, Theta: 0.002, Lambda: 1, Seed: 1,
	}
	r := rand.New(rand.NewPCG(32, 1))
	order := make([]int32, d.Objects.Len())
	for i, j := range r.Perm(len(order)) {
		order[i] = int32(j)
	}
	shuffled := certify.Data{Objects: d.Objects.Select(order), Features: d.Features}
	last := int64(0)
	for _, budget := range []int64{1, 5e6, 20e6, 80e6} {
		var planned, done atomic.Int64
		opts.Budget, opts.Workers = budget, 1
		opts.Planned, opts.Progress = planned.Store, func(steps int64) { done.Store(max(done.Load(), steps)) }
		b := certify.Certify(d, opts)
		if b.Cost <= 0 || b.Cost > 12 || b.Steps != done.Load() || b.Budget != budget {
			t.Errorf("budget %d: %+v, told of %d steps", budget, b, done.Load())
		}
		if b.Steps < last || float64(b.Steps) > 1.5*float64(max(budget, planned.Load())) ||
			planned.Load() > budget && budget > 5e6 {
			t.Errorf("budget %d: planned %d, took %d", budget, planned.Load(), b.Steps)
		}
		last = b.Steps
		opts.Planned, opts.Progress, opts.Workers = nil, nil, 3
		if again := certify.Certify(shuffled, opts); !reflect.DeepEqual(again, b) {
			t.Errorf("budget %d: %+v, and shuffled on 3 workers %+v", budget, b, again)
		}
	}
}

// TestBudgetBelowOptimum: within any budget the bound is at most the known optimum
// of 2 (by hand: the classes of 1,024 values alternate in four stretches, which a
// tree of two levels parts).
func TestBudgetBelowOptimum(t *testing.T) {
	f := dataset.Feature{Name: "x", Kind: dataset.Numeric, Cost: 1}
	for cut := range 1023 {
		f.Cuts = append(f.Cuts, float64(cut))
	}
	features := []dataset.Feature{f}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 1024)
	for i := range 1024 {
		o.Append([]int{i}, []dataset.ClassWeight{{Class: uint16(i / 256 % 2), Weight: 1}}, 1)
	}
	for _, budget := range []int64{1, 1e6} {
		for seed := range uint64(2) {
			b := certify.Certify(certify.Data{Objects: o, Features: features}, certify.Options{
				Algorithm: split.C45, Family: split.Thresholds, Seed: seed, Budget: budget,
			})
			if b.Cost > 2 || b.Cost <= 0 {
				t.Errorf("budget %d, seed %d: %v of a tree that costs 2", budget, seed, b.Cost)
			}
		}
	}
}

// TestStop: the work ends soon after Stop returns true.
func TestStop(t *testing.T) {
	d := someRows(30000, 12)
	var asked, done, atStop atomic.Int64
	opts := certify.Options{
		Algorithm: split.EC45, Family: split.Both, Theta: 1e-4, Lambda: 1, Workers: 2,
		Sample: 100000, Work: 1 << 30,
	}
	const stopAt = 100
	opts.Stop = func() bool {
		if asked.Add(1) < stopAt {
			return false
		}
		atStop.Store(done.Load())
		return true
	}
	opts.Progress = func(steps int64) { done.Store(max(done.Load(), steps)) }
	b := certify.Certify(d, opts)
	if b.Cost != 0 {
		t.Errorf("a bound of %v from work that was stopped", b.Cost)
	}
	// To its end, the work would take more than 1e10 steps. A second of 2 workers is about 1e8.
	if late := done.Load() - atStop.Load(); late > 1e8 {
		t.Errorf("%d steps after it was asked to stop", late)
	}
}
