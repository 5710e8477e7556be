package memory_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestSubsets: a tree that is confined to a subset of the cuts is the tree of the
// data whose bins these cut, if no two objects differ in the other cuts alone:
// those would be one object there.
func TestSubsets(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(12, seed))
		coarse := growtest.New(r, growtest.SomeFeatures(), 2+r.IntN(3), 30+r.IntN(200), r.IntN(2) == 0)
		fine := refined(coarse, r)
		algorithm := growtest.Algorithms()[r.IntN(len(growtest.Algorithms()))]
		family := []split.Family{split.Thresholds, split.Multiways, split.OneHot, split.Both}[r.IntN(4)]
		p := growtest.RandomParams(r, algorithm, family)
		want := coarse.Grow(p, 1)
		p.Subset = 1
		got := fine.Grow(p, 1+r.IntN(2))
		recode := func(test *split.Test) {
			switch test.Kind {
			case split.Threshold:
				at, ok := slices.BinarySearch(fine.Features[test.Feature].Subsets[0], uint16(test.Code-1))
				if !ok {
					t.Fatalf("seed %d: threshold %d is not of the subset", seed, test.Code)
				}
				test.Code = at + 1
			case split.Bin:
				test.Code, test.Span = coarseBin(t, fine, test), 0
			case split.Missing:
				test.Code = coarse.Features[test.Feature].MissingCode()
			default: // tests of values, the same in both
			}
		}
		got.Walk(func(n *induce.Node, _ int) {
			if n.Test != nil {
				recode(&n.Test.Test)
			}
			if n.RunnerUp != nil {
				recode(&n.RunnerUp.Test)
			}
		})
		if growtest.Encode(t, got) != growtest.Encode(t, want) {
			t.Errorf("seed %d, %+v: the confined tree is\n%s\nwant\n%s", seed, p,
				growtest.Encode(t, got), growtest.Encode(t, want))
		}
	}
}

// TestSubsetBins: tests for single bins are for those of the subset, also where each
// is several of the feature's.
func TestSubsetBins(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	d := growtest.New(r, []dataset.Feature{growtest.Numeric("x", 6, 1), growtest.Numeric("y", 6, 1)}, 3, 400, false)
	for f := range d.Features {
		d.Features[f].Subsets = [][]uint16{{0, 1, 4}} // bins from the codes 0, 1, 2 and 5 on
	}
	d.Columns = split.Columns(d.Features)
	bins := map[int]bool{}
	d.Grow(induce.Params{Algorithm: split.C45, Family: split.OneHot, Subset: 1}, 1).Walk(func(n *induce.Node, _ int) {
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
func coarseBin(t *testing.T, d *growtest.Data, test *split.Test) int {
	t.Helper()
	f := &d.Features[test.Feature]
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
func refined(d *growtest.Data, r *rand.Rand) *growtest.Data {
	f := *d
	f.Features = slices.Clone(d.Features)
	codes := make([][]int, len(d.Features)) // by the code before
	for i := range f.Features {
		feature := &f.Features[i]
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
	f.Columns = split.Columns(f.Features)
	layout := dataset.NewLayout(f.Features)
	f.Objects = dataset.NewObjects(layout, d.Objects.Classes, d.Objects.Rows != nil, d.Objects.Len())
	row := make([]int, len(f.Features))
	for i := range d.Objects.Len() {
		for j := range row {
			row[j] = d.Objects.Codes[j].At(i)
			if codes[j] != nil {
				row[j] = codes[j][row[j]]
			}
		}
		f.Objects.Append(row, d.Objects.Raw(i), d.Objects.RowsOf(i))
	}
	return &f
}
