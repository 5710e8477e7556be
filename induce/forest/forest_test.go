package forest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/forest"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// rings returns objects of two numeric features and a categorical one. The classes are rings
// around the middle; the categorical feature is noise.
func rings(r *rand.Rand, classes, n, bins int) ([]dataset.Feature, *dataset.Objects) {
	features := []dataset.Feature{
		growtest.Numeric("x", bins, 1), growtest.Numeric("y", bins, 1), growtest.Categorical("noise", 5, 1),
	}
	o := dataset.NewObjects(dataset.NewLayout(features), classes, false, n)
	for range n {
		codes := []int{r.IntN(bins), r.IntN(bins), r.IntN(5)}
		x, y := float64(2*codes[0])/float64(bins)-1, float64(2*codes[1])/float64(bins)-1
		ring := min(int(math.Hypot(x, y)*float64(classes)/1.1), classes-1)
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(ring), Weight: 1}}, 1)
	}
	return features, o
}

// accuracy returns the share of the weight whose class has the greatest probability.
func accuracy(o *dataset.Objects, p []float32) float64 {
	right, all := int64(0), int64(0)
	for i := range o.Len() {
		row := p[i*o.Classes : (i+1)*o.Classes]
		best := slices.Index(row, slices.Max(row))
		for _, cw := range o.Raw(i) {
			if all += cw.Weight; int(cw.Class) == best {
				right += cw.Weight
			}
		}
	}
	return float64(right) / float64(all)
}

// TestLearns: forests find rings, and the trees that did not draw a row also find them, for this
// row.
func TestLearns(t *testing.T) {
	for _, classes := range []int{2, 3, 5} {
		for _, bins := range []int{20, 300} {
			r := rand.New(rand.NewPCG(uint64(classes), 7))
			features, o := rings(r, classes, 1500, bins)
			_, other := rings(r, classes, 500, bins)
			f := forest.Grow(o, features, forest.Options{Trees: 60, Features: 2})
			inside, outside := accuracy(o, f.OutOfBag()), accuracy(other, f.Probabilities(other))
			if inside < 0.85 || outside < 0.85 || math.Abs(inside-outside) > 0.05 {
				t.Errorf("%d classes, %d bins: accuracy %.3f out of bag, %.3f on other objects",
					classes, bins, inside, outside)
			}
		}
	}
}

// TestNoise: labels of pure noise cannot be known out of bag. In bag the forest knows them.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	features := []dataset.Feature{growtest.Numeric("x", 200, 1), growtest.Numeric("y", 200, 1)}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
	for range 3000 {
		o.Append([]int{r.IntN(200), r.IntN(200)}, []dataset.ClassWeight{{Class: uint16(r.IntN(2)), Weight: 1}}, 1)
	}
	f := forest.Grow(o, features, forest.Options{Trees: 100})
	if a := accuracy(o, f.OutOfBag()); math.Abs(a-0.5) > 0.04 {
		t.Errorf("accuracy %.3f out of bag, want about 0.5", a)
	}
	if a := accuracy(o, f.Probabilities(o)); a < 0.95 {
		t.Errorf("accuracy %.3f in bag, want nearly 1", a)
	}
}

// TestRows: the rows of an object are drawn independently. An object of many rows that is far from
// all other objects is rated by its own rows.
func TestRows(t *testing.T) {
	features := []dataset.Feature{growtest.Numeric("x", 3, 1)}
	for _, rows := range []int64{1, 10, 1000} {
		o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 0)
		for code, second := range []int64{1, 3, 9} {
			raw := []dataset.ClassWeight{{Class: 0, Weight: rows * (10 - second)}, {Class: 1, Weight: rows * second}}
			o.Append([]int{code}, raw, 10*rows)
		}
		p := forest.Grow(o, features, forest.Options{Trees: 200}).OutOfBag()
		for i, want := range []float64{0.1, 0.3, 0.9} {
			if math.Abs(float64(p[2*i+1])-want) > 0.1 {
				t.Errorf("%d rows: probability %.3f of object %d, want about %.1f", 10*rows, p[2*i+1], i, want)
			}
		}
	}
}

// TestSame: neither the order of the objects nor the number of goroutines changes a bit.
func TestSame(t *testing.T) {
	for _, classes := range []int{2, 4} {
		for _, soft := range []bool{false, true} {
			t.Run(fmt.Sprintf("classes=%d,soft=%v", classes, soft), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(classes), 11))
				d := growtest.New(r, growtest.SomeFeatures(), classes, 700, true)
				if soft {
					d = d.Softened(r)
				}
				o := d.Objects
				ids := make([]int32, o.Len())
				for i, p := range r.Perm(len(ids)) {
					ids[i] = int32(p)
				}
				other := o.Select(ids)
				a := forest.Grow(o, d.Features, forest.Options{Trees: 20, Seed: 5, Workers: 1})
				b := forest.Grow(other, d.Features, forest.Options{Trees: 20, Seed: 5, Workers: 7})
				p, q := a.OutOfBag(), b.OutOfBag()
				for i, id := range ids {
					if !reflect.DeepEqual(q[i*classes:(i+1)*classes], p[int(id)*classes:(int(id)+1)*classes]) {
						t.Fatalf("object %d has other probabilities in another order", id)
					}
				}
				if !reflect.DeepEqual(a.Probabilities(o), b.Probabilities(o)) {
					t.Error("another order of the objects grew another forest")
				}
				if reflect.DeepEqual(p, forest.Grow(o, d.Features, forest.Options{Trees: 20, Seed: 6}).OutOfBag()) {
					t.Error("another seed grew the same forest")
				}
				x, y := forest.MakeUp(o, d.Features, 200, forest.Options{Seed: 9}), forest.MakeUp(other, d.Features, 200, forest.Options{Seed: 9})
				if x.Len() == 0 || !reflect.DeepEqual(x, y) {
					t.Error("another order of the objects made up others")
				}
			})
		}
	}
}

// TestProbabilities: the probabilities of an object are from 0 to 1 and add up to 1.
func TestProbabilities(t *testing.T) {
	for _, classes := range []int{2, 6} {
		r := rand.New(rand.NewPCG(uint64(classes), 13))
		d := growtest.New(r, growtest.SomeFeatures(), classes, 300, true)
		f := forest.Grow(d.Objects, d.Features, forest.Options{Trees: 5}) // some rows are drawn by all
		for _, p := range [][]float32{f.OutOfBag(), f.Probabilities(forest.MakeUp(d.Objects, d.Features, 100, forest.Options{Seed: 1}))} {
			for ; len(p) > 0; p = p[classes:] {
				sum := 0.0
				for _, x := range p[:classes] {
					if sum += float64(x); x < 0 || x > 1 {
						t.Fatalf("probability %v", x)
					}
				}
				if math.Abs(sum-1) > 1e-5 {
					t.Fatalf("probabilities add up to %v", sum)
				}
			}
		}
	}
}

// TestMakeUp: made-up objects are new, distinct, within the codes of the given objects, and near to
// them.
func TestMakeUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 17))
	d := growtest.New(r, growtest.SomeFeatures(), 3, 500, true)
	o := d.Objects
	seen, at := make(map[string]bool), func(o *dataset.Objects, i int) []int {
		codes := make([]int, len(d.Features))
		for f := range codes {
			codes[f] = o.Codes[f].At(i)
		}
		return codes
	}
	known := make([]map[int]bool, len(d.Features))
	for i := range o.Len() {
		for f, code := range at(o, i) {
			if known[f] == nil {
				known[f] = make(map[int]bool)
			}
			known[f][code] = true
		}
		seen[fmt.Sprint(at(o, i))] = true
	}
	made := forest.MakeUp(o, d.Features, 400, forest.Options{Seed: 3})
	if made.Len() != 400 {
		t.Errorf("%d objects made up, want 400", made.Len())
	}
	for i := range made.Len() {
		codes := at(made, i)
		if key := fmt.Sprint(codes); seen[key] {
			t.Fatalf("%v is not new", codes)
		} else {
			seen[key] = true
		}
		for f, code := range codes {
			exact := d.Features[f].Kind == dataset.Categorical || code == d.Features[f].MissingCode()
			if exact && !known[f][code] || code > d.Features[f].MissingCode() {
				t.Errorf("object %d, feature %d: code %d, which no object has", i, f, code)
			}
		}
	}
	one := dataset.NewObjects(dataset.NewLayout(d.Features), 3, false, 0)
	if n := forest.MakeUp(one, d.Features, 10, forest.Options{Seed: 3}).Len(); n != 0 {
		t.Errorf("%d objects made up around none", n)
	}
}

// TestStop: Grow returns no forest if it is stopped, or if there are no objects.
func TestStop(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(1, 19)), growtest.SomeFeatures(), 2, 100, false)
	if forest.Grow(d.Objects, d.Features, forest.Options{Stop: func() bool { return true }}) != nil {
		t.Error("a stopped forest was returned")
	}
	if forest.Grow(d.Objects.Select(nil), d.Features, forest.Options{}) != nil {
		t.Error("a forest of no objects was returned")
	}
}
