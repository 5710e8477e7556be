package leafmodel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestShuffling: the area where a feature has other values is that of Evaluate on such objects, to
// the last bit, whether the tree asks for the feature or not. All features are shuffled at once.
func TestShuffling(t *testing.T) {
	for _, classes := range []int{2, 4} {
		t.Run(fmt.Sprintf("classes=%d", classes), func(t *testing.T) {
			d, trees := forest(uint64(30+classes), classes, 3000)
			o := leafmodel.Sorted(d.Objects, 1000)
			random := rand.New(rand.NewPCG(7, 7))
			changed := 0
			for i, models := range boosted(d, d.Objects, trees, true, 0) {
				s := leafmodel.NewShuffling(o, d.Features, trees[i], models)
				area := func(o *dataset.Objects) float64 {
					return *leafmodel.Evaluate(o, d.Features, []*tree.Tree{trees[i]}, [][]*leafmodel.Model{models}, 0)[0].AUC
				}
				if *s.AUC() != area(o) {
					t.Errorf("tree %d: %v, want %v", i, *s.AUC(), area(o))
				}
				lists, want := make([][]dataset.Codes, len(d.Features)), make([][]float64, len(d.Features))
				for f := range d.Features {
					for range 2 {
						permuted := *o
						permuted.Codes = slices.Clone(o.Codes)
						permuted.Codes[f] = o.Select(int32s(random.Perm(o.Len()))).Codes[f]
						lists[f] = append(lists[f], permuted.Codes[f])
						want[f] = append(want[f], area(&permuted))
					}
				}
				found := make([][]*float64, len(d.Features))
				parallel.Each(len(found), len(found), func(f int) { found[f] = s.Without(f, lists[f]) })
				for f := range found {
					for k, got := range found[f] {
						if *got != want[f][k] {
							t.Errorf("tree %d, feature %d: %v, want %v", i, f, *got, want[f][k])
						}
						if *got != *s.AUC() {
							changed++
						}
					}
				}
			}
			if changed == 0 {
				t.Error("no feature says anything")
			}
		})
	}
}

func int32s(list []int) []int32 {
	ids := make([]int32, len(list))
	for i, v := range list {
		ids[i] = int32(v)
	}
	return ids
}
