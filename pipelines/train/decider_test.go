package train_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestOneDecides: a feature that tells nearly all labels, in other words, as a number or by being missing, is named on the screen
// and in the report; a feature that is wrong for 2 % of the rows, and two features that only together tell the label, are not.
func TestOneDecides(t *testing.T) {
	const n = 600
	r := rand.New(rand.NewPCG(7, 58))
	x, u, v := make([]float64, n), make([]float64, n), make([]float64, n)
	words, code, most := make([]string, n), make([]int64, n), make([]string, n)
	missing := make([]*float64, n)
	class, both := make([]string, n), make([]string, n)
	for i := range n {
		x[i], u[i], v[i] = r.Float64(), r.Float64(), r.Float64()
		k := r.IntN(3)
		class[i], words[i], code[i] = []string{"low", "middle", "high"}[k], []string{"l", "m", "h"}[k], int64(k)
		if k > 0 {
			missing[i] = &x[i]
		}
		if most[i] = words[i]; r.IntN(50) == 0 {
			most[i] = "l"
		}
		both[i] = map[bool]string{true: "yes", false: "no"}[u[i] > .5 && v[i] > .5]
	}
	two := make([]string, n)
	for i := range two {
		two[i] = map[bool]string{true: "kept", false: "returned"}[missing[i] == nil]
	}
	for _, test := range []struct {
		name   string
		values any
		label  []string
		want   bool
	}{
		{"words", words, class, true},
		{"code", code, class, true},
		{"refund", missing, two, true},
		{"most", most, class, false},
		{"u", u, both, false},
	} {
		file := filepath.Join(t.TempDir(), "rows.parquet")
		err := parquetio.Write(t.Context(), objectstore.New(), file, []parquetio.WriteColumn{
			{Name: test.name, Values: test.values},
			{Name: "v", Values: v},
			{Name: "class", Values: test.label},
		}, parquetio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output, c.Certificate = []string{file}, "class", filepath.Join(t.TempDir(), "run"), false
		said := &silent{}
		r, err := train.Train(t.Context(), c, said)
		if err != nil {
			t.Fatal(err)
		}
		if r.Tree.Complexity.Leaves < 2 {
			t.Errorf("%s: a single leaf shows nothing", test.name)
		}
		want := `"` + test.name + `" alone tells the class of nearly all rows`
		if got := strings.Contains(strings.Join(said.warnings, "\n"), want); got != test.want {
			t.Errorf("%s: warnings %q", test.name, said.warnings)
		}
	}
}
