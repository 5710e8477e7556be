package inmemory_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestRareClass: by hand, four values of 1,000 rows each with 0, 100, 200 and 400 rows of the second
// class. The objects have the first class: by OfObjects the tree is a leaf, by OfRows each value is.
func TestRareClass(t *testing.T) {
	features := []dataset.Feature{growtest.Categorical("g", 4, 1)}
	o := dataset.NewObjects(dataset.NewLayout(features), 2, false, 4)
	for code, rare := range []int64{0, 100, 200, 400} {
		raw := []dataset.ClassWeight{{Class: 0, Weight: 1000 - rare}, {Class: 1, Weight: rare}}
		o.Append([]int{code}, raw[:min(2, 1+int(rare))], 1000)
	}
	for _, a := range growtest.Algorithms() {
		p := induce.Params{Algorithm: a, Family: split.Thresholds, Lambda: 1, Theta: 0.005}
		for by, want := range map[split.Classes]int{split.OfObjects: 1, split.OfRows: 4} {
			p.Classes = by
			grown := tree.New(features, inmemory.Grow(o, split.Columns(features), p, 4000, inmemory.Options{}))
			root := &grown.Nodes[0]
			if leaves := grown.CountLeaves(); leaves != want || root.RawClassWeights[1] != 700 || root.ClassWeights[1] != 0 {
				t.Errorf("%v by %v: %d leaves, class weights %v and %v, want %d leaves", a, by, leaves, root.RawClassWeights,
					root.ClassWeights, want)
			}
		}
	}
}
