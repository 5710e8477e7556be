package train_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// leavesOf returns the number of leaves of the tree that the preset default chooses for some columns and
// a label. With a column weight, rows are weighted by it.
func leavesOf(t *testing.T, columns []parquetio.WriteColumn, label []string) int {
	t.Helper()
	url := filepath.Join(t.TempDir(), "rows.parquet")
	all := append([]parquetio.WriteColumn{{Name: "y", Values: label}}, columns...)
	if err := parquetio.Write(t.Context(), objectstore.New(), url, all, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := config.DefaultTrain()
	c.Input, c.Label, c.Certificate = []string{url}, "y", false
	for _, column := range columns {
		if column.Name == "weight" {
			c.Weight = column.Name
		}
	}
	return mustTrain(t, c).Tree.Complexity.Leaves
}

// signal is a kind of rows whose label follows the columns.
type signal struct {
	columns []parquetio.WriteColumn
	label   []string
}

// numbers has one threshold with 10 % noise, and two columns that tell nothing.
func numbers(r *rand.Rand, n int) signal {
	var x, z, u []float64
	var label []string
	for i := range n {
		x, z, u = append(x, r.Float64()), append(z, r.Float64()), append(u, r.Float64())
		label = append(label, map[bool]string{true: "ill", false: "well"}[(x[i] > .5) != (r.IntN(10) == 0)])
	}
	return signal{[]parquetio.WriteColumn{{Name: "x", Values: x}, {Name: "z", Values: z}, {Name: "u", Values: u}}, label}
}

// rates has one text column whose four values have a rare class in 0, 10, 20 and 40 % of their rows.
func rates(r *rand.Rand, n int) signal {
	var g, label []string
	for range n {
		value := r.IntN(4)
		g = append(g, string(rune('a'+value)))
		label = append(label, map[bool]string{true: "yes", false: "no"}[r.Float64() < []float64{0, .1, .2, .4}[value]])
	}
	return signal{[]parquetio.WriteColumn{{Name: "g", Values: g}}, label}
}

// weighted has texts of many values, whole numbers, three classes, and weights of which few make up most.
func weighted(r *rand.Rand, n int) signal {
	var text, label []string
	var whole, weight []float64
	for i := range n {
		text, whole = append(text, string(rune('a'+r.IntN(26)))), append(whole, float64(r.IntN(12)))
		weight = append(weight, math.Exp(2*r.NormFloat64()))
		class := int(whole[i]) / 4
		if r.IntN(5) == 0 {
			class = r.IntN(3)
		}
		label = append(label, string(rune('a'+class)))
	}
	return signal{[]parquetio.WriteColumn{{Name: "text", Values: text}, {Name: "whole", Values: whole}, {Name: "weight", Values: weight}}, label}
}

// TestTrust: the preset default finds as many leaves as the rows have, in the median of several draws, and not many
// more in any of them. Once the labels are shuffled it finds a single leaf. By default there are five draws with one
// threshold, one draw of the other kinds, and one of shuffled labels; with -tags long, as in .ci/run, five of each.
func TestTrust(t *testing.T) {
	longtest.Skip(t)
	const bound = 32 // of 120 draws with one threshold 4 have more than 16 leaves, by chance
	for name, test := range map[string]struct {
		draw        func(r *rand.Rand, n int) signal
		n, draws    int
		least, most int // leaves
	}{
		"one threshold": {numbers, 1200, 5, 2, 4},
		"rare rates":    {rates, 4000, 1, 4, 4},
		"weighted rows": {weighted, 1000, 1, 3, 16},
	} {
		t.Run(name, func(t *testing.T) {
			draws := test.draws
			if longtest.Enabled() {
				draws = 5
			}
			var leaves []int
			for seed := range uint64(draws) {
				r := rand.New(rand.NewPCG(38, seed))
				rows := test.draw(r, test.n)
				leaves = append(leaves, leavesOf(t, rows.columns, rows.label))
				if seed > 0 && !longtest.Enabled() {
					continue
				}
				r.Shuffle(len(rows.label), func(i, j int) { rows.label[i], rows.label[j] = rows.label[j], rows.label[i] })
				if got := leavesOf(t, rows.columns, rows.label); got != 1 {
					t.Errorf("draw %d: %d leaves of shuffled labels, want 1", seed, got)
				}
			}
			slices.Sort(leaves)
			if median := leaves[draws/2]; median < test.least || median > test.most {
				t.Errorf("%d leaves, want %d to %d in the median", leaves, test.least, test.most)
			}
			if most := leaves[draws-1]; most > bound {
				t.Errorf("%d leaves, want at most %d", leaves, bound)
			}
		})
	}
}
