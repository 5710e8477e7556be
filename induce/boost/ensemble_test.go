package boost_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// meanLoss returns the log loss of objects of one class each, given their class probabilities.
func meanLoss(class []uint16, classes int, p []float32) float64 {
	sum := 0.0
	for i, k := range class {
		sum -= math.Log(float64(p[i*classes+int(k)]))
	}
	return sum / float64(len(class))
}

// TestOutOfFold: probabilities of objects by trees that have not learned from them are as good as
// those of new objects. Those by trees that have learned from them are better.
func TestOutOfFold(t *testing.T) {
	for _, classes := range []int{2, 3} {
		o, features := random(uint64(classes), classes, 1500)
		e := boost.NewEnsemble(o, features, boost.Options{})
		other, _ := random(uint64(100+classes), classes, 1500)
		seen := meanLoss(o.Class, classes, e.Probabilities(o))
		unseen := meanLoss(o.Class, classes, e.OutOfFold())
		fresh := meanLoss(other.Class, classes, e.Probabilities(other))
		t.Logf("%d classes: log loss %.3f seen, %.3f out of fold, %.3f of new objects", classes, seen, unseen, fresh)
		if seen > 0.8*fresh || math.Abs(unseen/fresh-1) > 0.15 || fresh > 0.8*math.Log(float64(classes)) {
			t.Errorf("%d classes: log loss %.3f seen, %.3f out of fold, %.3f of new objects", classes, seen, unseen, fresh)
		}
	}
}

// TestEnsembleAlone: probabilities of an object depend neither on the order of the objects nor on the
// number of goroutines.
func TestEnsembleAlone(t *testing.T) {
	const classes = 3
	o, features := random(9, classes, 700)
	order := all(o)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	want := boost.NewEnsemble(o, features, boost.Options{Workers: 1}).OutOfFold()
	got := boost.NewEnsemble(o.Select(order), features, boost.Options{Workers: 4}).OutOfFold()
	for at, id := range order {
		// Objects with the same codes and class are equal, and may be in each other's part.
		same := func(i int) bool { return slices.Equal(want[i*classes:][:classes], got[at*classes:][:classes]) }
		found := same(int(id))
		for i := 0; i < o.Len() && !found; i++ {
			found = same(i) && o.Class[i] == o.Class[id]
		}
		if !found {
			t.Fatalf("object %d: %v, want %v", id, got[at*classes:][:classes], want[int(id)*classes:][:classes])
		}
	}
}

// TestEnsembleStopped: an ensemble that is stopped gives no probabilities.
func TestEnsembleStopped(t *testing.T) {
	o, features := random(4, 2, 300)
	stopped := false
	opts := boost.Options{Trees: 3, Workers: 1, Stop: func() bool { return stopped }}
	e := boost.NewEnsemble(o, features, opts)
	if e == nil || e.OutOfFold() == nil || e.Probabilities(o) == nil {
		t.Fatal("nothing without a stop")
	}
	if stopped = true; boost.NewEnsemble(o, features, opts) != nil || e.OutOfFold() != nil || e.Probabilities(o) != nil {
		t.Error("results after a stop")
	}
}

// TestEnsembleFinds: an ensemble finds the only feature of many that tells something, although few of its trees
// may use it.
func TestEnsembleFinds(t *testing.T) {
	const silent = 80
	r := rand.New(rand.NewPCG(5, 1))
	features := make([]dataset.Feature, silent+1)
	for f := range features {
		features[f] = numeric(strconv.Itoa(f), 8)
	}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
	for range 2000 {
		codes := make([]int, len(features))
		for f := range codes {
			codes[f] = r.IntN(8)
		}
		class := uint16(0)
		if (codes[silent] < 4) != (r.IntN(10) == 0) {
			class = 1
		}
		o.Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	e := boost.NewEnsemble(o, features, boost.Options{})
	if loss := meanLoss(o.Class, 2, e.OutOfFold()); loss > 0.5 {
		t.Errorf("log loss %.3f, want less than 0.5: 0.325 are possible, and chance gives 0.693", loss)
	}
	if gains := e.Gains(); slices.Max(gains) != gains[silent] {
		t.Errorf("another feature gains %v, the only one that tells something %v", slices.Max(gains), gains[silent])
	}
}

func BenchmarkEnsemble(b *testing.B) {
	o, features := random(1, 2, 5000)
	for b.Loop() {
		boost.NewEnsemble(o, features, boost.Options{Workers: 1})
	}
}
