package inmemory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestGrow compares whole trees with the trees of the naive grower.
func TestGrow(t *testing.T) {
	unpaired := 0 // nodes with a test whose objects have one class
	defer func() {
		if unpaired < 300 {
			t.Errorf("%d nodes of objects of one class have a test", unpaired)
		}
	}()
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.Families() {
			for _, classes := range []int{2, 3, 7, 40} {
				t.Run(fmt.Sprintf("algorithm=%s/tests=%s/classes=%d", a, family, classes), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(a)<<8|uint64(family), uint64(classes)))
					objects := 2 + r.IntN(60)
					if testing.Short() {
						objects = 2 + r.IntN(30)
					}
					d := growtest.New(r, growtest.SomeFeatures(), classes, objects, r.IntN(2) == 0)
					p := growtest.RandomParams(r, a, family)
					kinds := []*growtest.Data{d, d.Rare(r)}
					if classes < 40 {
						kinds = append(kinds, d.Softened(r))
					}
					for kind, d := range kinds {
						for _, p.Classes = range []split.Classes{split.OfObjects, split.OfRows} {
							root := d.Grow(p, 1)
							growtest.Compare(t, root, growNaively(d, p), "root")
							unpaired += unpairedTests(root)
							if t.Failed() {
								t.Fatalf("kind of data %d, %+v", kind, p)
							}
						}
					}
				})
			}
		}
	}
}

// unpairedTests returns the number of nodes with a test whose objects have one class.
func unpairedTests(nodes []tree.Node) int {
	n := 0
	for i := range nodes {
		if nodes[i].Test != nil && slices.Max(nodes[i].ClassWeights) == nodes[i].Weight {
			n++
		}
	}
	return n
}

// growNaively grows a tree by the naive grower.
func growNaively(d *growtest.Data, p induce.Params) []tree.Node {
	ids := make([]int, d.Objects.Len())
	for i := range ids {
		ids[i] = i
	}
	return tree.Ordered((&naive{Data: d, p: p}).grow(ids, nil, 0, 0))
}

// TestGrowOneObject: a single object and a single class make a leaf.
func TestGrowOneObject(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(1, 1)), growtest.SomeFeatures(), 2, 1, true)
	n := d.Grow(induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1}, 4)[0]
	if n.Test != nil || n.Objects != 1 || n.Weight != d.Total || n.Rows != d.Objects.Rows[0] {
		t.Errorf("tree of one object: %+v", n)
	}
}

// TestGrowLarge grows a tree of enough objects that its upper nodes deal their
// features to all workers and keep histograms, and those of siblings are
// subtracted. Neither the workers, nor the order of the objects, nor further
// columns that are constant, whose codes are too many for a histogram to be
// kept, may change a byte.
func TestGrowLarge(t *testing.T) {
	objects := 40_000 // times 30 features: the root and its larger children are above the grain of 2^19
	if testing.Short() {
		objects = 20_000
	}
	r := rand.New(rand.NewPCG(5, 6))
	var features []dataset.Feature
	for f := range 15 {
		features = append(features, growtest.Numeric(fmt.Sprintf("n%d", f), 2+f, 1))
		features = append(features, growtest.Categorical(fmt.Sprintf("c%d", f), 2+f, 1))
	}
	features[0] = growtest.Numeric("many", 400, 2)
	d := growtest.New(r, features, 7, objects, true)
	for _, p := range []induce.Params{
		{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.0005},
		{Algorithm: split.CART, Family: split.Multiways, Theta: 0, MinRows: 200},
	} {
		t.Run(p.Algorithm.String(), func(t *testing.T) {
			var settled atomic.Int64
			one := inmemory.Grow(d.Objects, d.Columns, p, d.Total, inmemory.Options{
				Settled: func(weight int64) { settled.Add(weight) },
			})
			if settled.Load() != d.Total {
				t.Errorf("leaves of weight %d settled, want %d", settled.Load(), d.Total)
			}
			if len(one) < 200 {
				t.Fatalf("%d nodes: too small a tree to test anything", len(one))
			}
			want := growtest.Encode(t, one)
			for _, workers := range []int{2, 4} {
				if growtest.Encode(t, d.Grow(p, workers)) != want {
					t.Errorf("workers=%d: another tree", workers)
				}
			}
			if growtest.Encode(t, d.Shuffled(r).Grow(p, 2)) != want {
				t.Error("shuffled objects: another tree")
			}
			if growtest.Encode(t, unkept(t, d).Grow(p, 2)) != want {
				t.Error("without kept histograms: another tree")
			}
		})
	}
}

// unkept adds constant columns until the cells of all exceed the 2^25 that a
// kept histogram may have.
func unkept(t *testing.T, d *growtest.Data) *growtest.Data {
	t.Helper()
	const codes = 60_000
	u := *d
	objects := *d.Objects
	u.Objects = &objects
	u.Columns, objects.Codes = slices.Clone(d.Columns), slices.Clone(objects.Codes)
	constant := dataset.Codes{U16: make([]uint16, objects.Len())}
	for cells := 0; cells <= 1<<25; cells += 2 * objects.Classes * codes {
		u.Columns = append(u.Columns, split.Column{Codes: codes, Numeric: true, Cost: 1})
		objects.Codes = append(objects.Codes, constant)
	}
	return &u
}
