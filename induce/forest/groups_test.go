package forest_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/forest"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
)

// TestGroupsUnseen: the classes of a group's rows do not matter to the ratings of these rows, since none of
// the trees that rate them has learned from the group. They matter to ratings of other rows.
func TestGroupsUnseen(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 41))
	d := growtest.New(r, growtest.PricedFeatures(), 2, 2000, false).Grouped(r)
	tried := 0
	for bucket := range uint8(60) {
		other, changed := d.Relabelled(bucket)
		if other == nil {
			continue
		}
		tried++
		before := forest.Grow(d.Objects, d.Features, forest.Options{Trees: 20}).OutOfBag()
		after := forest.Grow(other.Objects, d.Features, forest.Options{Trees: 20}).OutOfBag()
		for _, i := range changed {
			if !slices.Equal(before[2*i:2*i+2], after[2*i:2*i+2]) {
				t.Fatalf("bucket %d: object %d is rated by trees that have seen its group", bucket, i)
			}
		}
		if slices.Equal(before, after) {
			t.Errorf("bucket %d: no rating depends on the classes of a group", bucket)
		}
		if tried == 4 {
			return
		}
	}
	t.Errorf("only %d groups tried", tried)
}
