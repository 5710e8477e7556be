package pipelines_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
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
	file := func(name string, x func(i int) bool) string {
		return write(t, t.TempDir(), name,
			parquetio.WriteColumn{Name: "x", Values: values(x, func(i int) int { return i % 20 })},
			parquetio.WriteColumn{Name: "y", Values: values(func(i int) bool { return i%7 == 0 }, func(i int) int { return i / 20 % 2 })},
			parquetio.WriteColumn{Name: "class", Values: class})
	}
	c := oneTree()
	c.Input, c.Label, c.Split = []string{file("a.parquet", func(int) bool { return false })}, "class", "100/0/0"
	c.Theta, c.Output = pipelines.Choices{"0"}, filepath.Join(t.TempDir(), "run")
	if _, err := pipelines.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		null   func(i int) bool
		unseen int64
	}{
		"none": {func(int) bool { return false }, 0}, "half": {func(i int) bool { return i%2 == 0 }, rows / 2}, "all": {func(int) bool { return true }, rows},
	} {
		p := pipelines.DefaultPredictConfig()
		p.Model, p.Input, p.Output = c.Output, []string{file("b.parquet", test.null)}, filepath.Join(t.TempDir(), "out")
		reporter := new(silent)
		r, err := pipelines.Predict(t.Context(), p, reporter)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Columns {
			want := test.unseen
			if n.Column == "y" {
				want = 0
			}
			if n.Unseen != want {
				t.Errorf("%s: %+v, want %d unseen", name, n, want)
			}
		}
		e := pipelines.DefaultEvaluateConfig()
		e.Model, e.Input = p.Model, p.Input
		evaluating := new(silent)
		if _, _, err := pipelines.Evaluate(t.Context(), e, evaluating); err != nil {
			t.Fatal(err)
		}
		for _, warnings := range [][]string{reporter.warnings, evaluating.warnings} {
			warned := slices.ContainsFunc(warnings, func(s string) bool { return strings.Contains(s, `"x"`) && strings.Contains(s, "no value") })
			if warned != (test.unseen > 0) {
				t.Errorf("%s: warnings %q", name, warnings)
			}
		}
		p.MaxUnseen, p.Output = .01, filepath.Join(t.TempDir(), "out")
		if _, err := pipelines.Predict(t.Context(), p, new(silent)); (err != nil) != (test.unseen > 0) {
			t.Errorf("%s: --max_unseen 0.01: %v", name, err)
		}
	}
}
