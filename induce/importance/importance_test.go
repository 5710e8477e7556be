package importance_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/importance"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// features are two of five codes and one that no test asks for, the last code of each missing.
func features() []dataset.Feature {
	var list []dataset.Feature
	for _, name := range []string{"x", "y", "z"} {
		list = append(list, dataset.Feature{Name: name, Kind: dataset.Numeric, Cuts: []float64{1, 2, 3}, Cost: 1})
	}
	return list
}

// asked is a tree of five tests. It asks for x at the root and again below tests on y.
//
//	0: x >= 2
//	  1: y >= 1      3: y = 3 (a bin)
//	    x >= 3 or a leaf below each
func asked(random *rand.Rand) *tree.Tree {
	t := &tree.Tree{Label: tree.Label{Classes: []string{"a", "b", "c"}}, Features: features()}
	tests := []split.Test{
		{Feature: 0, Kind: split.Threshold, Code: 2},
		{Feature: 1, Kind: split.Threshold, Code: 1},
		{Feature: 1, Kind: split.Bin, Code: 3},
		{Feature: 0, Kind: split.Threshold, Code: 3},
		{Feature: 0, Kind: split.Threshold, Code: 1},
	}
	next := 1
	for i := range 11 {
		n := tree.Node{Weight: 1, Probabilities: []float64{random.Float64(), random.Float64(), random.Float64()}}
		n.RawClassWeights = []int64{1 + random.Int64N(9), random.Int64N(9), random.Int64N(9)}
		if i < len(tests) {
			n.Test = &tree.Test{Test: tests[i], Cost: 2}
			n.Branches = []tree.Branch{{Outcome: 1, Child: next}, {Outcome: 0, Child: next + 1, Missing: true}}
			next += 2
		}
		t.Nodes = append(t.Nodes, n)
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- { // counts of inner nodes are sums
		n := &t.Nodes[i]
		if n.Leaf() {
			n.Weight = n.RawClassWeights[0] + n.RawClassWeights[1] + n.RawClassWeights[2]
			continue
		}
		n.Weight, n.RawClassWeights = 0, make([]int64, 3)
		for _, b := range n.Branches {
			n.Weight += t.Nodes[b.Child].Weight
			for k, w := range t.Nodes[b.Child].RawClassWeights {
				n.RawClassWeights[k] += w
			}
		}
	}
	return t
}

// row is an object of the test.
type row struct {
	codes  []int
	class  int
	weight int64
	rows   int64
}

// leaf routes codes by hand.
func leaf(t *tree.Tree, codes []int) int {
	at := 0
	for !t.Nodes[at].Leaf() {
		n := &t.Nodes[at]
		branch := 1 - n.Test.Outcome(codes[n.Test.Feature], t.Features[n.Test.Feature].MissingCode())
		at = n.Branches[branch].Child
	}
	return at
}

// area is the mean area of one class against the rest, by all pairs of entries.
func area(t *tree.Tree, counts map[[2]int]float64) float64 {
	sum := 0.0
	for class := range 3 {
		better, pairs := 0.0, 0.0
		for a, own := range counts {
			for b, other := range counts {
				if a[1] != class || b[1] == class {
					continue
				}
				p, q := t.Nodes[a[0]].Probabilities[class], t.Nodes[b[0]].Probabilities[class]
				pairs += own * other
				switch {
				case p > q:
					better += own * other
				case p == q:
					better += own * other / 2
				}
			}
		}
		sum += better / pairs
	}
	return sum / 3
}

// TestShuffled compares the losses with those of every row taking the value of every other row,
// one by one. A pair has the weight of the one row, times the number of rows of the other.
func TestShuffled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, weighted := range []bool{false, true} {
		tr := asked(random)
		layout := dataset.NewLayout(tr.Features)
		o := dataset.NewObjects(layout, 3, weighted, 0)
		var rows []row
		for range 60 {
			r := row{codes: []int{random.IntN(5), random.IntN(5), random.IntN(5)}, class: random.IntN(3)}
			r.rows = 1 + random.Int64N(4)
			if r.weight = r.rows; weighted {
				r.weight = 1 + random.Int64N(1000)
			}
			o.Append(r.codes, []dataset.ClassWeight{{Class: uint16(r.class), Weight: r.weight}}, r.rows)
			rows = append(rows, r)
		}
		base := map[[2]int]float64{}
		for _, r := range rows {
			base[[2]int{leaf(tr, r.codes), r.class}] += float64(r.weight)
		}
		got := importance.Of(tr, o, nil)
		if math.Abs(*got.AUC-area(tr, base)) > 1e-12 || len(got.Features) != 2 {
			t.Fatalf("AUC %v, want %v; %d features", *got.AUC, area(tr, base), len(got.Features))
		}
		for _, f := range got.Features {
			feature := slices.IndexFunc(tr.Features, func(of dataset.Feature) bool { return of.Name == f.Name })
			shuffled := map[[2]int]float64{}
			for _, r := range rows {
				for _, donor := range rows {
					codes := append([]int(nil), r.codes...)
					codes[feature] = donor.codes[feature]
					shuffled[[2]int{leaf(tr, codes), r.class}] += float64(r.weight * donor.rows)
				}
			}
			if want := area(tr, base) - area(tr, shuffled); math.Abs(*f.AUCLost-want) > 1e-12 {
				t.Errorf("weighted %v, feature %s: lost %v, want %v", weighted, f.Name, *f.AUCLost, want)
			}
		}
	}
}

// TestTested: by hand, of one tree: shares of the training weight, and entropies.
func TestTested(t *testing.T) {
	tr := &tree.Tree{Label: tree.Label{Classes: []string{"a", "b"}}, Features: features()[:2]}
	add := func(a, b int64) { // a node with so many rows of both classes
		tr.Nodes = append(tr.Nodes, tree.Node{Weight: a + b, RawClassWeights: []int64{a, b}, Probabilities: []float64{.5, .5}})
	}
	add(4, 4) // 1 bit
	add(4, 0)
	add(0, 4)
	tr.Nodes[0].Test = &tree.Test{Test: split.Test{Feature: 1, Kind: split.Threshold, Code: 1}, Cost: 3}
	tr.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2}}
	none := dataset.NewObjects(dataset.NewLayout(tr.Features), 2, false, 0)
	got := importance.Of(tr, none, nil)
	want := importance.Feature{Name: tr.Features[1].Name, Impurity: 1, RowsAsked: 1, ExpectedTests: 1, ExpectedCost: 3}
	if len(got.Features) != 1 || got.Features[0] != want || got.AUC != nil {
		t.Errorf("%+v, want %+v alone, and no AUC without rows", got, want)
	}
}

// TestShifts: a tree with leaf models is scored where the values of one feature are permuted. The
// feature that is not tested is not asked for.
func TestShifts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tr := asked(random)
	o := dataset.NewObjects(dataset.NewLayout(tr.Features), 3, false, 0)
	for i := range 37 {
		codes := []int{random.IntN(5), random.IntN(5), random.IntN(5)}
		o.Append(codes, []dataset.ClassWeight{{Class: uint16(i % 3), Weight: 1}}, 1)
	}
	m := &falling{t: t, objects: o}
	got := importance.Of(tr, o, m)
	if slices.Sort(m.features); !slices.Equal(m.features, []int{0, 1}) {
		t.Errorf("features %v were shuffled, want the tested ones, 0 and 1", m.features)
	}
	if math.Abs(*got.Features[0].AUCLost-.015) > 1e-12 || math.Abs(*got.Features[1].AUCLost-.115) > 1e-12 {
		t.Errorf("lost %v and %v, want the means of .01 and .02, and of .11 and .12", *got.Features[0].AUCLost, *got.Features[1].AUCLost)
	}
}

// falling are models whose AUC is 1, and .99, .98, .. with permuted values of the first feature, .89,
// .88, .. with those of the second one.
type falling struct {
	t       *testing.T
	objects *dataset.Objects

	mu       sync.Mutex // features are shuffled at once
	features []int
}

func (m *falling) AUC() *float64 {
	auc := 1.0
	return &auc
}

func (m *falling) Without(feature int, lists []dataset.Codes) []*float64 {
	m.mu.Lock()
	m.features = append(m.features, feature)
	m.mu.Unlock()
	own := m.objects.Codes[feature]
	var areas []*float64
	for k, list := range lists {
		sum, moved := 0, 0
		for i := range m.objects.Len() {
			if sum += list.At(i) - own.At(i); list.At(i) != own.At(i) {
				moved++
			}
		}
		if sum != 0 || moved == 0 {
			m.t.Errorf("feature %d: the values are no permutation, or none moved", feature)
		}
		auc := 1 - float64(10*feature+k+1)/100
		areas = append(areas, &auc)
	}
	return areas
}

// BenchmarkOf measures the importance of two features on 10,000 objects.
func BenchmarkOf(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	tr := asked(random)
	o := dataset.NewObjects(dataset.NewLayout(tr.Features), 3, false, 0)
	for i := range 10_000 {
		o.Append([]int{random.IntN(5), random.IntN(5), random.IntN(5)}, []dataset.ClassWeight{{Class: uint16(i % 3), Weight: 1}}, 1)
	}
	for b.Loop() {
		importance.Of(tr, o, nil)
	}
}
