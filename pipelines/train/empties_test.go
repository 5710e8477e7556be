package train_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestColumnWithoutValues: a column that is null in all rows of a file is of the type that it has
// in other files, whatever its physical type there. Names that differ in case are told apart.
func TestColumnWithoutValues(t *testing.T) {
	const rows = 100
	texts, numbers, class, age := make([]*string, rows), make([]*float64, rows), make([]string, rows), make([]float64, rows)
	noTexts, noNumbers := make([]*string, rows), make([]*float64, rows)
	for i := range rows {
		text, number := string(rune('a'+i%4)), float64(i%4)
		texts[i], numbers[i], class[i], age[i] = &text, &number, map[bool]string{true: "p", false: "q"}[i%4 == 1], float64(i)
	}
	for name, test := range map[string]struct {
		one, other  any
		categorical bool
	}{
		"numbers in place of texts":          {texts, noNumbers, false},
		"texts in place of numbers":          {numbers, noTexts, false},
		"texts in place of numeric category": {numbers, noTexts, true},
	} {
		for _, swapped := range []bool{false, true} {
			files := []any{test.one, test.other}
			if swapped {
				slices.Reverse(files)
			}
			folder := t.TempDir()
			for i, z := range files {
				write(t, folder, string(rune('a'+i))+".parquet", parquetio.WriteColumn{Name: "z", Values: z},
					parquetio.WriteColumn{Name: "Age", Values: age}, parquetio.WriteColumn{Name: "age", Values: age},
					parquetio.WriteColumn{Name: "class", Values: class})
			}
			c := oneTree()
			c.Input, c.Label, c.Split, c.Output = []string{folder}, "class", dataset.Shares{100, 0, 0}, filepath.Join(t.TempDir(), "run")
			c.Slice, c.Theta, c.Ignore = []string{"z"}, []float64{0}, []string{"Age", "age"}
			if test.categorical {
				c.Categorical = []string{"z"}
			}
			reporter := new(silent)
			r, err := train.Train(t.Context(), c, reporter)
			if err != nil {
				t.Errorf("%s, swapped %v: %v", name, swapped, err)
				continue
			}
			if f := r.Tree.Features; len(f) != 1 || f[0].Missing != rows {
				t.Errorf("%s: features %+v, want one of %d missing values", name, f, rows)
			}
			alike := func(s string) bool { return strings.Contains(s, `"Age" and "age"`) }
			if !slices.ContainsFunc(reporter.warnings, alike) {
				t.Errorf("warnings %q, want one of the names", reporter.warnings)
			}
			p := config.DefaultPredict()
			p.Model, p.Input, p.Output = c.Output, c.Input, filepath.Join(t.TempDir(), "out")
			if got, err := pipelines.Predict(t.Context(), p, new(silent)); err != nil || got.Columns[0].Missing != rows {
				t.Errorf("%s: predictions %+v, %v", name, got, err)
			}
		}
	}
}
