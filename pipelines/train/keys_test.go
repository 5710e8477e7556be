package train_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestKeys: columns that number or name the rows are no features, with one line, unless a setting names them; ranks, which are
// not in the order of the rows, remain, and so do measurements that all differ.
func TestKeys(t *testing.T) {
	const n = 300
	r := rand.New(rand.NewPCG(5, 8))
	rank := r.Perm(n)
	row, place, seconds, x := make([]int64, n), make([]int64, n), make([]int64, n), make([]float64, n)
	name, class := make([]string, n), make([]string, n)
	for i := range n {
		row[i], place[i], seconds[i], x[i] = int64(i+1), int64(rank[i]), 1_700_000_000+int64(i*3600+r.IntN(3600)), r.Float64()
		name[i], class[i] = fmt.Sprintf("%x", i*977), []string{"a", "b", "c"}[i/100]
	}
	folder := t.TempDir()
	for part, of := range [][2]int{{0, 1}, {1, n}} { // a single row shows no order
		from, to := of[0], of[1]
		file := filepath.Join(folder, fmt.Sprintf("rows-%d.parquet", part))
		err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
			{Name: "row", Values: row[from:to]},
			{Name: "place", Values: place[from:to]},
			{Name: "seconds", Values: seconds[from:to]},
			{Name: "x", Values: x[from:to]},
			{Name: "name", Values: name[from:to]},
			{Name: "class", Values: class[from:to]},
		}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		numeric, categorical, want []string
		left                       string
	}{
		{nil, nil, []string{"place", "seconds", "x"}, `left out "name", "row": every row has a different value`},
		{[]string{"row"}, []string{"name"}, []string{"name", "place", "row", "seconds", "x"}, ""},
	} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output, c.Certificate = []string{folder}, "class", filepath.Join(t.TempDir(), "run"), false
		c.Numeric, c.Categorical = test.numeric, test.categorical
		said := &silent{}
		if _, err := train.Train(t.Context(), c, said); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range readSchema(t, c.Output).Features() {
			got = append(got, f.Name)
		}
		slices.Sort(got)
		all := strings.Join(said.warnings, "\n")
		if !slices.Equal(got, test.want) || !strings.Contains(all, test.left) || test.left == "" && strings.Contains(all, "left out") {
			t.Errorf("--numeric %q: features %q, warnings %q", test.numeric, got, said.warnings)
		}
		if !strings.Contains(all, `"place": every row has a different whole number`) {
			t.Errorf("warnings %q, want one of ranks", said.warnings)
		}
	}
}
