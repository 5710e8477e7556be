package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
)

// mirrored returns two sets of the same objects without missing numbers. In the second the bins of all numeric
// features have the reverse order, as if their values were negated.
func mirrored(d *growtest.Data) (same, reverse *growtest.Data) {
	a, b := *d, *d
	layout := dataset.NewLayout(d.Features)
	a.Objects = dataset.NewObjects(layout, d.Objects.Classes, d.Objects.Rows != nil, 0)
	b.Objects = dataset.NewObjects(layout, d.Objects.Classes, d.Objects.Rows != nil, 0)
	codes, other := make([]int, len(d.Features)), make([]int, len(d.Features))
	for i := range d.Objects.Len() {
		for f := range codes {
			codes[f] = d.Objects.Codes[f].At(i)
			if d.Columns[f].Numeric {
				codes[f] %= d.Features[f].Bins()
			}
			other[f] = codes[f]
			if d.Columns[f].Numeric {
				other[f] = d.Features[f].Bins() - 1 - codes[f]
			}
		}
		a.Objects.Append(codes, d.Objects.Raw(i), d.Objects.RowsOf(i))
		b.Objects.Append(other, d.Objects.Raw(i), d.Objects.RowsOf(i))
	}
	return &a, &b
}

// outline describes a node and its subtree. A numeric feature is described in the bins of the first set of mirrored.
func outline(d *growtest.Data, n *induce.Node, reverse bool) string {
	if n.Test == nil {
		return fmt.Sprint(n.Rows, n.Raw)
	}
	test, bins := n.Test.Test, d.Features[n.Test.Feature].Bins()
	var children []string
	for _, child := range n.Children {
		children = append(children, outline(d, child, reverse))
	}
	switch {
	case !reverse:
	case test.Kind == split.Threshold:
		test.Code = bins - test.Code
		slices.Reverse(children)
	case test.Kind == split.Bin:
		test.Code = bins - 1 - test.Code
	}
	return fmt.Sprintf("%d%v %+v (%s)", n.Rows, n.Raw, test, strings.Join(children, ", "))
}

// TestMirrored: if the values of the numeric features are negated, the tree is the mirror image. Leaves have few rows,
// because the bins of two objects may be the mirror images of one another: then the first of them is tested.
func TestMirrored(t *testing.T) {
	features := []dataset.Feature{
		growtest.Numeric("even", 128, 1), growtest.Numeric("odd", 301, 1), growtest.Categorical("job", 5, 1),
	}
	for _, a := range growtest.Algorithms() {
		for _, family := range growtest.Families() {
			for seed := range uint64(12) {
				r := rand.New(rand.NewPCG(uint64(a), seed))
				p := growtest.RandomParams(r, a, family)
				p.Classes, p.MinRows = split.OfRows, 15
				same, reverse := mirrored(growtest.New(r, features, 2+r.IntN(3), 40+r.IntN(200), r.IntN(2) == 0))
				want, got := outline(same, same.Grow(p, 1), false), outline(reverse, reverse.Grow(p, 2), true)
				if got != want {
					t.Errorf("%v, %v, seed %d:\n%s, want\n%s", a, family, seed, got, want)
				}
			}
		}
	}
}
