package train_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/train"
)

func costsFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestUnusualCosts: whatever the costs, the tree in memory is the one by levels, and
// what is free is billed at nothing. Costs that are all multiplied by the same power of
// two change nothing but the costs.
func TestUnusualCosts(t *testing.T) {
	longtest.Skip(t)
	const n = 300
	input := newRows(n).write(t, ascending(n), 1, parquetio.WriteOptions{})
	grow := func(text string) *train.Result {
		t.Helper()
		var first *train.Result
		var bytesOf [][]byte
		for _, memory := range []int64{1 << 20, 0} {
			c := oneTree()
			c.Input, c.Label, c.Ignore, c.Output = []string{input}, "class", []string{"id", "weight"}, t.TempDir()
			c.Algorithm, c.Tests, c.Prune, c.Select = []split.Algorithm{split.EC45, split.CC45}, []split.Family{split.Both}, []prune.Currency{prune.Cost}, frontier.Best
			c.Lambda, c.Theta, c.Folds, c.Bins = []float64{10}, []float64{0.005}, crossvalidate.Setting{}, 16
			c.Certificate, c.MemoryObjects, c.CostsFile = true, memory, costsFile(t, text)
			r, err := train.Train(context.Background(), c, &silent{})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
			if err != nil {
				t.Fatal(err)
			}
			first, bytesOf = r, append(bytesOf, b)
		}
		if !bytes.Equal(bytesOf[0], bytesOf[1]) {
			t.Errorf("%q: another tree by levels", text)
		}
		return first
	}
	const prices = "feature,cost\na,0\nb,1\ntwin,2\ncolor,2\nflag,4\n"
	free := grow(prices)
	if c := free.Tree.Complexity; c.Leaves < 3 || c.ExpectedCost >= c.ExpectedTests {
		t.Errorf("a free feature: %+v", c)
	}
	if c := grow("feature,cost\na,0\nb,0\ntwin,0\ncolor,0\nflag,0\n").Tree.Complexity; c.ExpectedCost != 0 || c.Leaves < 3 {
		t.Errorf("all free: %+v", c)
	}
	grow("feature,cost,group,group_cost\na,0,lab,3\nb,0,lab,3\ncolor,0,,\n")
	grow("feature,value,cost\ncolor,red,0\ncolor,blue,1e-30\n")
	same := grow("feature,cost\na,4\nb,1\ntwin,2\ncolor,2\nflag,4\n")
	scaled := grow("feature,cost\na,4398046511104\nb,1099511627776\ntwin,2199023255552\ncolor,2199023255552\nflag,4398046511104\n")
	if len(scaled.Tree.Nodes) != len(same.Tree.Nodes) || scaled.Tree.Complexity.ExpectedCost != same.Tree.Complexity.ExpectedCost*0x1p40 {
		t.Errorf("costs times 2^40: %+v, want %+v", scaled.Tree.Complexity, same.Tree.Complexity)
	}
}
