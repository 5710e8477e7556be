package induce_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// randomParams draws all parameters but the algorithm and the family.
func randomParams(r *rand.Rand, a split.Algorithm, f split.Family) induce.Params {
	return induce.Params{
		Algorithm: a, Family: f,
		Lambda:   []float64{0.1, 1, 30}[r.IntN(3)],
		Theta:    []float64{0, 0.005, 0.05}[r.IntN(3)],
		MaxDepth: []int{0, 0, 3}[r.IntN(3)],
		MinRows:  []int64{0, 0, 15}[r.IntN(3)],
	}
}

// TestGrow compares whole trees with those of the naive grower.
func TestGrow(t *testing.T) {
	for _, a := range algorithms() {
		for _, family := range families() {
			for _, classes := range []int{2, 3, 7, 40} {
				t.Run(fmt.Sprintf("algorithm=%s/tests=%s/classes=%d", a, family, classes), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(a)<<8|uint64(family), uint64(classes)))
					objects := 2 + r.IntN(100)
					if testing.Short() {
						objects = 2 + r.IntN(30)
					}
					d := newData(r, someFeatures(), classes, objects, r.IntN(2) == 0)
					p := randomParams(r, a, family)
					if compare(t, d.grow(p, 1), d.growNaively(p), "root"); t.Failed() {
						t.Errorf("%+v", p)
					}
				})
			}
		}
	}
}

// growNaively grows a tree by the naive grower.
func (d *data) growNaively(p induce.Params) *induce.Node {
	ids := make([]int, d.objects.Len())
	for i := range ids {
		ids[i] = i
	}
	return (&naive{d, p}).grow(ids, nil, 0, 1)
}

// TestGrowOneObject: a single object and a single class make a leaf.
func TestGrowOneObject(t *testing.T) {
	d := newData(rand.New(rand.NewPCG(1, 1)), someFeatures(), 2, 1, true)
	n := d.grow(induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1}, 4)
	if n.Test != nil || n.Objects != 1 || n.Weight != d.total || n.Rows != d.objects.Rows[0] {
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
		features = append(features, numeric(fmt.Sprintf("n%d", f), 2+f, 1), categorical(fmt.Sprintf("c%d", f), 2+f, 1))
	}
	features[0] = numeric("many", 400, 2)
	d := newData(r, features, 7, objects, true)
	for _, p := range []induce.Params{
		{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.0005},
		{Algorithm: split.CART, Family: split.Multiways, Theta: 0, MinRows: 200},
	} {
		t.Run(p.Algorithm.String(), func(t *testing.T) {
			var settled atomic.Int64
			one := induce.Grow(d.objects, d.columns, p, d.total, 0, induce.Options{
				Settled: func(weight int64) { settled.Add(weight) },
			})
			if settled.Load() != d.total {
				t.Errorf("leaves of weight %d settled, want %d", settled.Load(), d.total)
			}
			if leaves := one.Leaves(); leaves < 100 {
				t.Fatalf("%d leaves: too small a tree to test anything", leaves)
			}
			want := encode(t, one)
			for _, workers := range []int{2, 4} {
				if encode(t, d.grow(p, workers)) != want {
					t.Errorf("workers=%d: another tree", workers)
				}
			}
			if encode(t, d.shuffled(r).grow(p, 2)) != want {
				t.Error("shuffled objects: another tree")
			}
			if encode(t, d.unkept(t).grow(p, 2)) != want {
				t.Error("without kept histograms: another tree")
			}
		})
	}
}

// unkept adds constant columns until the cells of all exceed the 2^25 that a
// kept histogram may have.
func (d *data) unkept(t *testing.T) *data {
	t.Helper()
	const codes = 60_000
	u := *d
	objects := *d.objects
	u.objects = &objects
	u.columns, objects.Codes = slices.Clone(d.columns), slices.Clone(objects.Codes)
	constant := dataset.Codes{U16: make([]uint16, objects.Len())}
	for cells := 0; cells <= 1<<25; cells += 2 * objects.Classes * codes {
		u.columns = append(u.columns, split.Column{Codes: codes, Numeric: true, Cost: 1})
		objects.Codes = append(objects.Codes, constant)
	}
	return &u
}

// TestBestFirst compares the tree cut back with growth that opens the best
// node first.
func TestBestFirst(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(7, seed))
		d := newData(r, someFeatures(), 3, 80, false)
		p := randomParams(r, algorithms()[r.IntN(9)], families()[r.IntN(4)])
		leaves := 1 + r.IntN(20)
		p.MaxLeaves = leaves
		want := bestFirst(d.grow(p, 1), leaves)
		got := d.grow(p, 1)
		got.BestFirst(leaves)
		if got.Leaves() > leaves {
			t.Errorf("seed %d: %d leaves, want at most %d", seed, got.Leaves(), leaves)
		}
		if compare(t, got, want, "root"); t.Failed() {
			t.Fatalf("seed %d, %d leaves, %+v", seed, leaves, p)
		}
	}
	d := newData(rand.New(rand.NewPCG(8, 8)), someFeatures(), 3, 80, false)
	p := induce.Params{Algorithm: split.CART, Family: split.Both}
	got := d.grow(p, 1)
	got.BestFirst(0) // any number
	compare(t, got, d.grow(p, 1), "root")
}

// bestFirst grows a tree of at most so many leaves by opening the best node
// first; what a node opens into is copied from the full tree. A split that
// would make too many leaves is passed over.
func bestFirst(full *induce.Node, leaves int) *induce.Node {
	type open struct {
		from, to *induce.Node
		path     []int
	}
	closed := func(n *induce.Node) *induce.Node {
		c := *n
		c.Test, c.Parts, c.Outcomes, c.Children = nil, split.Parts{}, nil, nil
		return &c
	}
	root := closed(full)
	queue := []open{{full, root, nil}}
	for have := 1; len(queue) > 0; {
		slices.SortFunc(queue, func(a, b open) int {
			return cmp.Or(
				cmp.Compare(b.from.Parts.Total, a.from.Parts.Total),
				cmp.Compare(len(a.path), len(b.path)),
				slices.Compare(a.path, b.path),
			)
		})
		best := queue[0]
		queue = queue[1:]
		if best.from.Test == nil || have+len(best.from.Children)-1 > leaves {
			continue
		}
		have += len(best.from.Children) - 1
		best.to.Test, best.to.Parts, best.to.Outcomes = best.from.Test, best.from.Parts, best.from.Outcomes
		for i, child := range best.from.Children {
			to := closed(child)
			best.to.Children = append(best.to.Children, to)
			queue = append(queue, open{child, to, append(slices.Clone(best.path), i)})
		}
	}
	return root
}
