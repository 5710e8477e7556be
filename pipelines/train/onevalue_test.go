package train_test

import (
	"path/filepath"
	"testing"

	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
)

// TestOneValue: a numeric column of a single number and nulls is a feature like any other, for whatever reads rows
// again to measure a tree: leaf models, slices, a refit, and new rows.
func TestOneValue(t *testing.T) {
	const rows = 2000
	flag, x, class := make([]*float64, rows), make([]float64, rows), make([]string, rows)
	one := 1.0
	for i := range class {
		x[i] = float64(i * 37 % 101)
		if i%2 == 0 {
			flag[i] = &one
		}
		class[i] = map[bool]string{true: "yes", false: "no"}[(x[i] > float64(i*53%97)) != (i%2 == 0)]
	}
	for _, model := range []selection.Kind{selection.None, selection.Linear} {
		c := oneTree()
		c.Tests = []split.Family{split.Both} // bins of a single number: see binning.FeatureConfig
		c.Input, c.Label, c.First = []string{write(t, t.TempDir(), "rows.parquet", parquetio.WriteColumn{Name: "flag", Values: flag},
			parquetio.WriteColumn{Name: "x", Values: x}, parquetio.WriteColumn{Name: "class", Values: class})}, "class", []string{"flag"}
		c.LeafModel, c.Slice, c.Output = model, []string{"flag"}, filepath.Join(t.TempDir(), "run")
		r := trained(t, c)
		if r.Tree.Modelled() != (model != selection.None) || r.Tree.Features[r.Tree.Nodes[0].Test.Feature].Name != "flag" {
			t.Fatalf("%v: with models: %v, the first test: %+v", model, r.Tree.Modelled(), r.Tree.Nodes[0].Test)
		}
		_, m, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: c.Output, Input: c.Input}, new(silent))
		if err != nil {
			t.Fatalf("%v: %+v, %v", model, m, err)
		}
		refitted(t, c)
	}
}
