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
	year, hour, order := make([]int64, n), make([]int64, n), make([]int64, n) // two natural measures of the rows, and a key
	for i := range n {
		year[i], hour[i], order[i] = int64(1700+i), int64(i), 70_000_000+int64(i*9973+r.IntN(9973))
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
			{Name: "since", Values: year[from:to]},
			{Name: "hour", Values: hour[from:to]},
			{Name: "orderid", Values: order[from:to]},
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
		{nil, nil, []string{"hour", "place", "seconds", "since", "x"}, `left out "name", "orderid", "row": every row has a different value`},
		{
			[]string{"row", "orderid"},
			[]string{"name"},
			[]string{"hour", "name", "orderid", "place", "row", "seconds", "since", "x"},
			"",
		},
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
		if !strings.Contains(all, `"hour", "place", "since": all rows with a value, except for at most one, have different whole numbers`) {
			t.Errorf("warnings %q, want one of ranks", said.warnings)
		}
	}
}

// TestBoundless: a column of more texts than a feature may have is left out with a warning.
func TestBoundless(t *testing.T) {
	const n = 95_000
	r := rand.New(rand.NewPCG(5, 9))
	x, text, class := make([]int64, n), make([]string, n), make([]string, n)
	for i := range n {
		x[i], text[i] = r.Int64N(20), fmt.Sprint("sentence ", i-i%400/399) // some occur twice
		class[i] = []string{"a", "b"}[r.IntN(2)&int(x[i])]
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
		{Name: "x", Values: x}, {Name: "text", Values: text}, {Name: "class", Values: class},
	}, parquetio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := oneTree()
	c.Input, c.Label, c.Output = []string{file}, "class", filepath.Join(t.TempDir(), "run")
	said := &silent{}
	if _, err := train.Train(t.Context(), c, said); err != nil {
		t.Fatal(err)
	}
	got := readSchema(t, c.Output).Features()
	if len(got) != 1 || got[0].Name != "x" || !slices.ContainsFunc(said.warnings, func(s string) bool {
		return strings.Contains(s, `left out "text": more than 65536 different texts`)
	}) {
		t.Errorf("features %v, warnings %q", got, said.warnings)
	}
	c.Categorical, c.Output = []string{"text"}, filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, said); err == nil || !strings.Contains(err.Error(), "more than 65536") {
		t.Errorf("--categorical text: %v, want an error", err)
	}
}
