package train_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// weighted writes the rows in the given order, with a part and a weight of each, to one file.
func (r *rows) weighted(t *testing.T, url string, order []int, weight []float64) {
	t.Helper()
	part := make([]string, len(order))
	for i, k := range order {
		part[i] = [...]string{"train", "validation", "train", "train", "test"}[k%7%5]
	}
	columns := []parquetio.WriteColumn{
		{Name: "a", Values: pick(r.a, order)},
		{Name: "b", Values: pick(r.b, order)},
		{Name: "color", Values: pick(r.color, order)},
		{Name: "weight", Values: weight},
		{Name: "part", Values: part},
		{Name: "class", Values: pick(r.class, order)},
	}
	if err := parquetio.Write(context.Background(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// weightedConfig is the default preset on the rows of a file.
func weightedConfig(url string) config.Train {
	c := config.DefaultTrain()
	c.Input, c.Label, c.Weight, c.SplitColumn, c.Certificate = []string{url}, "class", "weight", "part", false
	return c
}

// TestWeightsHaveNoUnit: weights times a constant give the same bytes of tree.json, but for the mean
// weight as the column states it. By default each kind of weights goes through two of the factors;
// with -tags long, through all.
func TestWeightsHaveNoUnit(t *testing.T) {
	longtest.Skip(t)
	const n = 400
	random := rand.New(rand.NewPCG(4, 38))
	kinds := []struct {
		name string
		of   func(i int) float64
	}{
		{"reals", func(int) float64 { return 0.5 + 1.5*random.Float64() }},
		{"lognormal", func(int) float64 { return math.Exp(2 * random.NormFloat64()) }},
		{"sum 1", func(i int) float64 { return float64(i+1) / (n * (n + 1) / 2) }},
		{"prices", func(int) float64 { return []float64{0.1, 0.25, 1, 3}[random.IntN(4)] }},
		{"whole", func(int) float64 { return float64(1 + random.IntN(9)) }},
		{"zeros", func(i int) float64 { return float64(min(i%3, 1)) * random.Float64() }},
		{"0 and 1", func(i int) float64 { return float64(min(i%3, 1)) }},
	}
	data, url := newRows(n), filepath.Join(t.TempDir(), "rows.parquet")
	c := fewTrees(weightedConfig(url))
	decided := func(weight []float64) []byte {
		data.weighted(t, url, ascending(n), weight)
		model := mustTrain(t, c).Tree
		model.Training.MeanWeight = 0
		return model.Encode()
	}
	for k, kind := range kinds {
		weight, times := make([]float64, n), make([]float64, n)
		for i := range weight {
			weight[i] = kind.of(i)
		}
		want := decided(weight)
		if !bytes.Contains(want, []byte(`"test"`)) {
			t.Errorf("%s: a bare leaf, which shows nothing", kind.name)
		}
		for f, factor := range []float64{1e-9, 1e-3, 1. / 3, 0.1, 7, 1e9} {
			if !longtest.Enabled() && f%3 != k%3 {
				continue
			}
			for i := range weight {
				times[i] = weight[i] * factor
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(decided(times)), "\n")); diff != "" {
				t.Errorf("%s: weights times %v (-weights +times):\n%s", kind.name, factor, diff)
			}
		}
	}
}

// TestTwoEqualRows: a row of weight 2 among rows of weight 1 gives the tests of two equal rows, and
// raw leaves the same probabilities, in trees of the default grid. Their choice is another matter: it
// counts rows, of which there are more.
func TestTwoEqualRows(t *testing.T) {
	longtest.Skip(t)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 39))
		n := 200 + random.IntN(400)
		data, folder := newRows(n), t.TempDir()
		weight := make([]float64, n)
		var twice []int
		for i := range weight {
			weight[i] = float64(1 + random.IntN(2))
			twice = append(twice, i)
			if weight[i] == 2 {
				twice = append(twice, i)
			}
		}
		heavy, double := filepath.Join(folder, "heavy.parquet"), filepath.Join(folder, "double.parquet")
		data.weighted(t, heavy, ascending(n), weight)
		data.weighted(t, double, twice, make([]float64, len(twice)))
		for _, estimate := range []tree.Estimate{tree.Raw, tree.Smoothed} {
			for _, member := range []struct {
				algorithm     split.Algorithm
				lambda, theta float64
			}{
				{split.EC45, 10, 0.005}, {split.EC45, 1000, 0.0005}, {split.EC45, 3, 0.0005}, {split.C45, 10, 0.0005},
			} {
				c := weightedConfig(heavy)
				c.LeafEstimate, c.Select = estimate, frontier.First
				c.Algorithm, c.Lambda, c.Theta = []split.Algorithm{member.algorithm}, []float64{member.lambda}, []float64{member.theta}
				one := mustTrain(t, c)
				c.Input, c.Weight, c.Ignore = []string{double}, "", []string{"weight"}
				two := mustTrain(t, c)
				if diff := cmp.Diff(testsOf(two.Tree, estimate == tree.Raw), testsOf(one.Tree, estimate == tree.Raw)); diff != "" {
					t.Errorf("seed %d, %s, %+v (-two rows +weight 2):\n%s", seed, estimate, member, diff)
				}
			}
		}
	}
}

// testsOf lists the tests of a tree and the weights of its nodes, and what its leaves predict if
// probabilities count.
func testsOf(t *tree.Tree, probabilities bool) string {
	var b strings.Builder
	for i := range t.Nodes {
		n := &t.Nodes[i]
		fmt.Fprintln(&b, i, n.RawClassWeights, n.Objects)
		if probabilities {
			fmt.Fprintln(&b, n.Class, n.Probabilities)
		}
		for _, branch := range n.Branches {
			fmt.Fprintln(&b, t.Features[n.Test.Feature].Name, n.Test.Kind, n.Test.Code, branch.Child)
		}
	}
	return b.String()
}
