package distill_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// TestMakeUpSame: neither the order of the objects nor the number of goroutines changes a bit.
func TestMakeUpSame(t *testing.T) {
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
				x := (&distill.Config{Features: d.Features, MadeUp: 200, Seed: 9, Workers: 1}).MakeUp(o, every(d.Features))
				y := (&distill.Config{Features: d.Features, MadeUp: 200, Seed: 9, Workers: 7}).MakeUp(o.Select(ids), every(d.Features))
				if x.Len() == 0 || !reflect.DeepEqual(x, y) {
					t.Error("another order of the objects made up others")
				}
				if reflect.DeepEqual(x, (&distill.Config{Features: d.Features, MadeUp: 200, Seed: 6}).MakeUp(o, every(d.Features))) {
					t.Error("another seed made up the same objects")
				}
			})
		}
	}
}

// TestMakeUpOfNothing: objects without features have no others.
func TestMakeUpOfNothing(t *testing.T) {
	o := dataset.NewObjects(dataset.NewLayout(nil), 2, false, 1)
	o.Append(nil, []dataset.ClassWeight{{Class: 0, Weight: 3}, {Class: 1, Weight: 2}}, 5)
	if made := (&distill.Config{MadeUp: 20}).MakeUp(o, nil); made.Len() != 0 {
		t.Errorf("%d objects made up without features", made.Len())
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
	made := (&distill.Config{Features: d.Features, MadeUp: 400, Seed: 3}).MakeUp(o, every(d.Features))
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
	if n := (&distill.Config{Features: d.Features, MadeUp: 10, Seed: 3}).MakeUp(one, every(d.Features)).Len(); n != 0 {
		t.Errorf("%d objects made up around none", n)
	}
}

// every returns the indexes of all features.
func every(features []dataset.Feature) []int {
	list := make([]int, len(features))
	for f := range list {
		list[f] = f
	}
	return list
}
