package induce_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestSubsets: a tree that is confined to a subset of the cuts is the tree of the
// data whose bins these cut, if no two objects differ in the other cuts alone:
// those would be one object there.
func TestSubsets(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(12, seed))
		coarse := newData(r, someFeatures(), 2+r.IntN(3), 30+r.IntN(200), r.IntN(2) == 0)
		fine := coarse.refined(r)
		p := randomParams(r, algorithms()[r.IntN(len(algorithms()))], []split.Family{split.Thresholds, split.Multiways, split.OneHot, split.Both}[r.IntN(4)])
		want := coarse.grow(p, 1)
		p.Subset = 1
		got := fine.grow(p, 1+r.IntN(2))
		got.Walk(func(n *induce.Node, _ int) {
			if n.Test != nil && n.Test.Kind == split.Threshold {
				at, ok := slices.BinarySearch(fine.features[n.Test.Feature].Subsets[0], uint16(n.Test.Code-1))
				if !ok {
					t.Fatalf("seed %d: threshold %d is not of the subset", seed, n.Test.Code)
				}
				n.Test.Code = at + 1
			}
			if n.Test != nil && n.Test.Kind == split.Bin {
				n.Test.Code, n.Test.Span = fine.coarseBin(t, &n.Test.Test), 0
			}
			if n.Test != nil && n.Test.Kind == split.Missing {
				n.Test.Code = coarse.features[n.Test.Feature].MissingCode()
			}
		})
		if encode(t, got) != encode(t, want) {
			t.Errorf("seed %d, %+v: the confined tree is\n%s\nwant\n%s", seed, p, encode(t, got), encode(t, want))
		}
	}
}

// TestSubsetBins: tests for single bins are for those of the subset, also where each
// is several of the feature's.
func TestSubsetBins(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	d := newData(r, []dataset.Feature{numeric("x", 6, 1), numeric("y", 6, 1)}, 3, 400, false)
	for f := range d.features {
		d.features[f].Subsets = [][]uint16{{0, 1, 4}} // bins from the codes 0, 1, 2 and 5 on
	}
	d.columns = split.Columns(d.features)
	bins := map[int]bool{}
	d.grow(induce.Params{Algorithm: split.C45, Family: split.OneHot, Subset: 1}, 1).Walk(func(n *induce.Node, _ int) {
		if n.Test != nil && n.Test.Kind == split.Bin {
			bins[n.Test.Code] = true
			if want := map[int]int{2: 2}[n.Test.Code]; n.Test.Span != want {
				t.Errorf("the bin from %d has %d more codes, want %d", n.Test.Code, n.Test.Span, want)
			}
		}
	})
	if got := slices.Sorted(maps.Keys(bins)); !slices.Equal(got, []int{0, 1, 2, 5}) {
		t.Errorf("tests for the bins from %v, want 0, 1, 2 and 5", got)
	}
}

// coarseBin returns the bin of the first subset that a test is for.
func (d *data) coarseBin(t *testing.T, test *split.Test) int {
	t.Helper()
	f := &d.features[test.Feature]
	from, to := 0, f.MissingCode()
	at, found := slices.BinarySearch(f.Subsets[0], uint16(max(test.Code-1, 0)))
	if found && test.Code > 0 {
		at++
		from = test.Code
	}
	if at < len(f.Subsets[0]) {
		to = int(f.Subsets[0][at]) + 1
	}
	if from != test.Code || to != test.Code+test.Span+1 {
		t.Fatalf("a test for the codes %d to %d: the bin %d is %d to %d", test.Code, test.Code+test.Span, at, from, to-1)
	}
	return at
}

// refined returns the same objects where numeric features have further cuts, of
// which each feature's subset has none. The objects of a bin stay together, in one
// of the bins that it falls into.
func (d *data) refined(r *rand.Rand) *data {
	f := *d
	f.features = slices.Clone(d.features)
	codes := make([][]int, len(d.features)) // by the code before
	for i := range f.features {
		feature := &f.features[i]
		if feature.Kind != dataset.Numeric {
			continue
		}
		var cuts []float64
		var subset []uint16
		for bin := range feature.Bins() {
			further := r.IntN(4)
			codes[i] = append(codes[i], len(cuts)+r.IntN(further+1))
			for k := range further {
				cuts = append(cuts, float64(bin)+float64(k+1)/8)
			}
			if bin < len(feature.Cuts) {
				subset = append(subset, uint16(len(cuts)))
				cuts = append(cuts, feature.Cuts[bin])
			}
		}
		feature.Cuts, feature.Subsets = cuts, [][]uint16{subset}
		codes[i] = append(codes[i], feature.MissingCode())
	}
	f.columns = split.Columns(f.features)
	f.objects = dataset.NewObjects(dataset.NewLayout(f.features), d.objects.Classes, d.objects.Rows != nil, d.objects.Len())
	row := make([]int, len(f.features))
	for i := range d.objects.Len() {
		for j := range row {
			row[j] = d.objects.Codes[j].At(i)
			if codes[j] != nil {
				row[j] = codes[j][row[j]]
			}
		}
		f.objects.Append(row, d.objects.Raw(i), d.objects.RowsOf(i))
	}
	return &f
}
