package train_test

import (
	"bytes"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestPricing: where tests have different prices, the grid has further trees, which count
// prices in other ways. They are the same in memory and by levels, and say in what way they
// were grown. The rule first takes a tree that counts prices in full.
func TestPricing(t *testing.T) {
	longtest.Skip(t)
	const n = 600
	c := config.DefaultTrain()
	c.Input, c.Label, c.Ignore = []string{newRows(n).write(t, ascending(n), 1, parquetio.WriteOptions{})}, "class", []string{"id", "weight"}
	c.Algorithm, c.Lambda, c.Theta, c.Tests = []split.Algorithm{split.EC45, split.C45}, []float64{10}, []float64{0.005}, []split.Family{split.Thresholds}
	c.Folds, c.Certificate, c.FrontierStep, c.Bins = crossvalidate.Setting{}, false, 0, 16
	c.FreeRepeats = false
	grown := func(costs string) int {
		t.Helper()
		c.CostsFile, c.Output = costsFile(t, costs), t.TempDir()
		r, err := train.Train(t.Context(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Frontier.Grown
	}
	const groups = "feature,cost,group,group_cost\na,0.5,lab,8\nb,0.5,lab,8\ntwin,1,,\ncolor,1,,\n"
	// By hand: ec45 in full, and in seven further ways; and
	// c45, whose score counts no price.
	for costs, want := range map[string]int{
		groups: 1 + 7 + 1, "feature,cost\na,8\n": 1 + 2 + 1,
		"feature,cost,group,group_cost\na,1,lab,0\nb,1,lab,0\n": 2,
	} {
		if got := grown(costs); got != want {
			t.Errorf("%q: %d trees, want %d", costs, got, want)
		}
	}
	c.CostsFile = costsFile(t, "feature,cost,group,group_cost\na,1,lab,8\nb,4,lab,8\ntwin,30,,\ncolor,0,,\n")
	c.MinRows = 20 // the largest trees of 600 rows list no other ways
	want := treeOf(t, c)
	if !bytes.Contains(want, []byte(`"set_ups": "`)) || !bytes.Contains(want, []byte(`"prices": "`)) {
		t.Error("no tree of the frontier was grown in another way")
	}
	for _, memory := range []int64{0, 40} {
		byLevels := c
		byLevels.MemoryObjects = memory
		if !bytes.Equal(want, treeOf(t, byLevels)) {
			t.Errorf("memory_objects %d: other trees", memory)
		}
	}
	first := c
	first.Select = frontier.First
	if got := treeOf(t, first); bytes.Contains(got, []byte("set_ups")) || bytes.Contains(got, []byte(`"prices"`)) {
		t.Error("the first tree is not the plain one")
	}
}
