package inmemory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/internal/growtest"
	"github.com/espalier-ml/espalier/induce/split"
)

// TestStop: growth that is stopped gives the upper part of the tree, with all rows in
// its leaves.
func TestStop(t *testing.T) {
	d := growtest.New(rand.New(rand.NewPCG(7, 8)), growtest.SomeFeatures(), 3, 300, true)
	p := induce.Params{Algorithm: split.EC45, Family: split.Both, Lambda: 1, Theta: 0.001}
	whole := d.Grow(p, 1)
	for _, calls := range []int{0, 1, 5, 20} {
		left := calls
		stop := func() bool { left--; return left < 0 }
		stopped := inmemory.Grow(d.Objects, d.Columns, p, d.Total, inmemory.Options{Stop: stop})
		if leaves := growtest.Stopped(t, stopped, whole); leaves == 0 {
			t.Errorf("stopped after %d nodes: no leaf is marked", calls)
		}
	}
}
