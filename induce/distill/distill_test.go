package distill_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 23)) }

// some returns data of several kinds, and parameters to grow trees by.
func some(seed uint64) (*growtest.Data, induce.Params) {
	r := random(seed)
	d := growtest.New(r, growtest.PricedFeatures(), 2+int(seed%3), 400, seed%2 == 1)
	if seed%4 > 1 {
		d = d.Freely()
	}
	algorithms, families := growtest.Algorithms(), growtest.Families()
	return d, growtest.RandomParams(r, algorithms[int(seed)%len(algorithms)], families[int(seed)%len(families)])
}

// TestRecountSame: on the objects that a tree has grown from, all stays as it is but the unit
// of the weights.
func TestRecountSame(t *testing.T) {
	for seed := range uint64(40) {
		d, p := some(seed)
		grown := d.Grow(p, 1)
		same := distill.Recount(grown, d.Objects, d.Columns, 1)
		growtest.Compare(t, same, grown, fmt.Sprintf("seed %d: ", seed))
		if growtest.Encode(t, same) != growtest.Encode(t, grown) {
			t.Errorf("seed %d: another tree", seed)
		}
		const scale = 7
		scaled, root := tree.SumUp(distill.Recount(grown, d.Objects, d.Columns, scale))[0], grown[0]
		if scaled.Weight != scale*root.Weight || scaled.Rows != root.Rows || scaled.Objects != root.Objects {
			t.Errorf("seed %d: weight %d of %d rows, want %d of %d", seed, scaled.Weight, scaled.Rows, scale*root.Weight,
				root.Rows)
		}
	}
}

// TestRecountSome: on some of the objects each test has at least two outcomes, and nodes count
// these objects. Nothing is billed for tests that are left out.
func TestRecountSome(t *testing.T) {
	fewer := 0
	for seed := range uint64(70) {
		d, p := some(seed)
		grown := d.Grow(p, 1)
		kept := *d
		kept.Objects = d.Objects.Select(firsts(random(seed).Perm(d.Objects.Len()), 40))
		part := tree.SumUp(distill.Recount(grown, kept.Objects, d.Columns, 1))
		for _, n := range part {
			if n.Objects == 0 || n.Test != nil && len(n.Branches) < 2 {
				t.Fatalf("seed %d: a node of %d objects and %d children", seed, n.Objects, len(n.Branches))
			}
			total := int64(0)
			for _, w := range n.RawClassWeights {
				total += w
			}
			if total != n.Weight {
				t.Errorf("seed %d: the classes weigh %d, all of a node %d", seed, total, n.Weight)
			}
		}
		if len(part) < len(grown) {
			fewer++
		}
		model := kept.Model(part)
		checkCounts(t, model, kept.Objects)
		if _, err := tree.Decode(model.Encode()); err != nil { // it checks the bill of each node
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if fewer < 30 {
		t.Errorf("only %d trees have lost leaves: the test tests little", fewer)
	}
}

// checkCounts compares the rows of leaves with the objects that reach them.
func checkCounts(t *testing.T, m *tree.Tree, o *dataset.Objects) {
	t.Helper()
	counts := m.CountObjects(o)
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Leaf() && counts.Rows[i] != n.Rows {
			t.Errorf("leaf %d has %d rows, and %d reach it", i, n.Rows, counts.Rows[i])
		}
	}
}

func firsts(list []int, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(list[i])
	}
	return ids
}

// TestNothingTaught: without a share of the teacher, and without made-up objects, trees grow
// as from the class weights of the training objects.
func TestNothingTaught(t *testing.T) {
	for seed := range uint64(12) {
		d, p := some(seed)
		c := distill.Config{Features: d.Features}
		got := c.NewTransferSet(d.Objects).Grow(d.Columns, []induce.Params{p}, inmemory.Options{})[0]
		soft := *d
		soft.Objects = dataset.NewObjects(dataset.NewLayout(d.Features), d.Objects.Classes, true, d.Objects.Len())
		for i := range d.Objects.Len() {
			codes := make([]int, len(d.Features))
			for f := range codes {
				codes[f] = d.Objects.Codes[f].At(i)
			}
			soft.Objects.AppendSoft(codes, d.Objects.Labels(i), d.Objects.Raw(i), d.Objects.RowsOf(i))
		}
		want := distill.Recount(soft.Grow(p, 1), d.Objects, d.Columns, distill.Factor(1))
		tree.SumUp(got)
		tree.SumUp(want)
		if !sameTests(got, want) || got[0].Weight != want[0].Weight || got[0].Rows != want[0].Rows {
			t.Errorf("seed %d: another tree of %d nodes, want %d", seed, len(got), len(want))
		}
	}
}

func sameTests(a, b []tree.Node) bool {
	return slices.EqualFunc(a, b, func(a, b tree.Node) bool { return tree.AlikeNodes(&a, &b) })
}

// TestTransferSet: training objects keep their weights and rows, made-up objects have no rows and
// weigh together as much, but for rounding; neither the order of the objects nor the number of
// goroutines matters.
func TestTransferSet(t *testing.T) {
	for seed := range uint64(6) {
		d, p := some(seed)
		c := distill.Config{Features: d.Features, Share: 0.5, MadeUp: 300, Seed: seed, Workers: 1}
		transfer := c.NewTransferSet(d.Objects)
		var training, made, rows int64
		for i := range transfer.Objects.Len() {
			rows += transfer.Objects.RowsOf(i)
			if transfer.Objects.RowsOf(i) > 0 {
				training += transfer.Objects.Weight[i]
			} else {
				made += transfer.Objects.Weight[i]
			}
		}
		want := distill.Factor(1) * d.Objects.TotalWeight()
		if training != want || made > want || made < want*9/10 {
			t.Errorf("seed %d: training objects weigh %d, made-up ones %d: want %d of each", seed, training, made, want)
		}
		all := int64(0)
		for i := range d.Objects.Len() {
			all += d.Objects.RowsOf(i)
		}
		if rows != all {
			t.Errorf("seed %d: %d rows, want %d", seed, rows, all)
		}
		c.Workers = 3
		other := c.NewTransferSet(d.Shuffled(random(99)).Objects)
		if !reflect.DeepEqual(other.Objects, transfer.Objects) {
			t.Errorf("seed %d: another transfer set from another order", seed)
		}
		a := transfer.Grow(d.Columns, []induce.Params{p}, inmemory.Options{})[0]
		b := other.Grow(d.Columns, []induce.Params{p}, inmemory.Options{Workers: 3})[0]
		if growtest.Encode(t, a) != growtest.Encode(t, b) {
			t.Errorf("seed %d: another tree from another order", seed)
		}
		if root := &a[0]; root.Weight != want || root.Rows != all {
			t.Errorf("seed %d: the tree has %d rows of weight %d, want %d of %d", seed, root.Rows, root.Weight, all, want)
		}
	}
}

// TestPart: the transfer set of all training objects as a part is the same one, and half of them
// have at most half of the made-up objects.
func TestPart(t *testing.T) {
	d, _ := some(2)
	c := distill.Config{Features: d.Features, Share: 0.5, MadeUp: 100, Seed: 3}
	transfer := c.NewTransferSet(d.Objects)
	if again := transfer.Part(d.Objects, nil); !reflect.DeepEqual(again.Objects, transfer.Objects) {
		t.Error("another transfer set of the same objects")
	}
	half := make([]int32, d.Objects.Len()/2)
	for i := range half {
		half[i] = int32(i)
	}
	made := transfer.Part(d.Objects.Select(half), nil).Objects.Len() - len(half)
	if want := 50; made > want || made < want*9/10 {
		t.Errorf("%d objects made up for half of the training objects, want about %d", made, want)
	}
}

// TestTelling: taught trees grow from the features that tell the most. If there are no tests for the remaining
// features, the trees are the same as from all features.
func TestTelling(t *testing.T) {
	const silent = 70
	for seed := range uint64(8) {
		d, p := some(seed)
		var features []dataset.Feature
		for i := range silent {
			features = append(features, dataset.Feature{Name: fmt.Sprint("silent ", i), Cuts: []float64{1}, Cost: 1})
		}
		wide := *d.Objects
		wide.Codes = make([]dataset.Codes, silent, silent+len(d.Features))
		for i := range wide.Codes {
			wide.Codes[i].U8 = make([]uint8, wide.Len())
		}
		wide.Codes = append(wide.Codes, d.Objects.Codes...)
		features = append(features, d.Features...)
		columns := split.Columns(features)
		c := distill.Config{Features: features, Share: 0.5, Seed: 3}
		transfer := c.NewTransferSet(&wide)
		params := []induce.Params{p}
		got := transfer.Grow(columns, params, inmemory.Options{})[0]
		all := inmemory.GrowEach(transfer.Objects, columns, params, transfer.Objects.TotalWeight(), inmemory.Options{})[0]
		want := distill.Recount(all, &wide, columns, distill.Factor(1))
		if growtest.Encode(t, got) != growtest.Encode(t, want) {
			t.Errorf("seed %d: another tree than from all %d features", seed, len(features))
		}
	}
}

// TestStopped: a teacher that is stopped teaches nothing.
func TestStopped(t *testing.T) {
	d, _ := some(1)
	c := distill.Config{Features: d.Features, Stop: func() bool { return true }}
	if c.NewTransferSet(d.Objects) != nil {
		t.Error("a transfer set after a stop")
	}
	looks, most := 0, math.MaxInt
	c.MadeUp, c.Workers, c.Stop = 100, 1, func() bool { looks++; return looks > most }
	if c.NewTransferSet(d.Objects) == nil {
		t.Fatal("no transfer set without a stop")
	}
	all := looks
	for _, share := range []float64{0, .1, .2, .21, .5, .9, 1} {
		most = int(share * float64(all-1))
		if looks = 0; c.NewTransferSet(d.Objects) != nil {
			t.Errorf("a transfer set after a stop at %d of %d looks", most, all)
		}
	}
	for most = all - 5; most < all; most++ {
		if looks = 0; c.NewTransferSet(d.Objects) != nil {
			t.Errorf("a transfer set after a stop at %d of %d looks", most, all)
		}
	}
}

// A teacher finds the rule of noisy labels: trees that grow from its transfer set count the
// training objects alone.
func ExampleConfig_NewTransferSet() {
	features := []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{1, 2, 3, 4, 5, 6, 7}, Cost: 1}}
	objects := dataset.NewObjects(dataset.NewLayout(features), 2, false, 8)
	for x := range 8 {
		weights := []dataset.ClassWeight{{Class: 0, Weight: 9}, {Class: 1, Weight: 1}}
		if x >= 4 {
			weights = []dataset.ClassWeight{{Class: 0, Weight: 2}, {Class: 1, Weight: 8}}
		}
		objects.Append([]int{x}, weights, 10)
	}
	c := distill.Config{Features: features, Share: 0.5, MadeUp: 4}
	params := induce.Params{Algorithm: split.C45, Family: split.Thresholds, MaxDepth: 1}
	nodes := c.NewTransferSet(objects).Grow(split.Columns(features), []induce.Params{params}, inmemory.Options{})[0]
	fmt.Println("x >=", features[0].Cuts[nodes[0].Test.Code-1])
	for _, child := range nodes[1:] {
		fmt.Println(child.Objects, "objects of", child.Rows, "rows")
	}
	// Output:
	// x >= 4
	// 4 objects of 40 rows
	// 4 objects of 40 rows
}
