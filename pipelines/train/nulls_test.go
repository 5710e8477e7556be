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

// TestNewNulls: a column that is null today and was not in training is news, to predict and to
// evaluate. A column with nulls in training is not.
func TestNewNulls(t *testing.T) {
	const rows = 400
	values := func(null func(i int) bool, of func(i int) int) []*float64 {
		list := make([]*float64, rows)
		for i := range list {
			if x := float64(of(i)); !null(i) {
				list[i] = &x
			}
		}
		return list
	}
	class := make([]string, rows)
	for i := range class {
		class[i] = map[bool]string{true: "yes", false: "no"}[i%20 < 10 != (i/20%2 == 0)]
	}
	file := func(name string, x, y func(i int) bool) string {
		return write(t, t.TempDir(), name,
			parquetio.WriteColumn{Name: "x", Values: values(x, func(i int) int { return i % 20 })},
			parquetio.WriteColumn{Name: "y", Values: values(y, func(i int) int { return i / 20 % 2 })},
			parquetio.WriteColumn{Name: "class", Values: class})
	}
	never := func(int) bool { return false }
	half := func(i int) bool { return i%2 == 0 }
	always := func(int) bool { return true }
	seldom := func(i int) bool { return i%7 == 0 } // 58 rows
	c := oneTree()
	c.Input, c.Label, c.Split = []string{file("a.parquet", never, seldom)}, "class", dataset.Shares{100, 0, 0}
	c.Theta, c.Output = []float64{0}, filepath.Join(t.TempDir(), "run")
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		x, y             func(i int) bool
		unseenX, unseenY int64
	}{
		"none": {never, seldom, 0, 0}, "half": {half, seldom, rows / 2, 0}, "all": {always, seldom, rows, 0},
		// Chance explains 98 of 400 rows: a share of 58/400 = .145 and 4 sqrt(.145 * .855 * (1/400 + 1/400)).
		"more": {never, half, 0, rows/2 - 98}, "all of some": {never, always, 0, rows - 98},
	} {
		p := config.DefaultPredict()
		p.Model, p.Input, p.Output = c.Output, []string{file("b.parquet", test.x, test.y)}, filepath.Join(t.TempDir(), "out")
		reporter := new(silent)
		r, err := pipelines.Predict(t.Context(), p, reporter)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Columns {
			want := test.unseenX
			if n.Column == "y" {
				want = test.unseenY
			}
			if n.Unseen != want {
				t.Errorf("%s: %+v, want %d unseen", name, n, want)
			}
		}
		e := config.DefaultEvaluate()
		e.Model, e.Input = p.Model, p.Input
		evaluating := new(silent)
		if _, _, err := pipelines.Evaluate(t.Context(), e, evaluating); err != nil {
			t.Fatal(err)
		}
		for _, warnings := range [][]string{reporter.warnings, evaluating.warnings} {
			for column, unseen := range map[string]int64{`"x"`: test.unseenX, `"y"`: test.unseenY} {
				warned := slices.ContainsFunc(warnings, func(s string) bool { return strings.Contains(s, column) && strings.Contains(s, "no value") })
				if warned != (unseen > 0) {
					t.Errorf("%s: warnings of %s: %q", name, column, warnings)
				}
			}
		}
		p.MaxUnseen, p.Output = .01, filepath.Join(t.TempDir(), "out")
		if _, err := pipelines.Predict(t.Context(), p, new(silent)); (err != nil) != (test.unseenX+test.unseenY > 0) {
			t.Errorf("%s: --max_unseen 0.01: %v", name, err)
		}
	}
}
