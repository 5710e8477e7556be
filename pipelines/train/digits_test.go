package train_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/contracts"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestDigits: whole numbers beyond 2^53 keep their digits as categories, labels, keys and
// slices, and are refused where numbers are compared.
func TestDigits(t *testing.T) {
	const file = "../../io/parquetio/testdata/digits.parquet"
	others := func(name string) []string {
		return slices.DeleteFunc([]string{"int64", "uint64", "decimal38", "decimal18", "small", "money", "class"},
			func(s string) bool { return s == name || s == "class" })
	}
	configOf := func(name string) config.Train {
		c := oneTree()
		c.Input, c.Label, c.Split, c.Theta = []string{file}, "class", dataset.Shares{100, 0, 0}, []float64{0}
		c.MinRows, c.Ignore, c.Output = 1, others(name), filepath.Join(t.TempDir(), "run")
		return c
	}
	for _, name := range []string{"int64", "uint64", "decimal38", "decimal18"} {
		c := configOf(name)
		if _, err := train.Train(t.Context(), c, new(silent)); err == nil || !strings.Contains(err.Error(), "2^53") {
			t.Errorf("%s as numbers: %v", name, err)
		}
		c.Categorical, c.Slice = []string{name}, []string{name, others(name)[0]}
		r, err := train.Train(t.Context(), c, new(silent))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f := r.Tree.Features; len(f) != 1 || len(f[0].Values) != 4 || *r.Metrics.Train.Accuracy < .9 { // nulls are of both classes
			t.Errorf("%s: features %+v, accuracy %v, want 4 values that tell the class", name, f, *r.Metrics.Train.Accuracy)
		}
		predict := config.DefaultPredict()
		predict.Model, predict.Input, predict.Output = c.Output, c.Input, filepath.Join(t.TempDir(), "out")
		predict.Key, predict.MaxUnseen = []string{name}, 0
		if p, err := pipelines.Predict(t.Context(), predict, new(silent)); err != nil || *p.Metrics.Test.Accuracy < .9 {
			t.Errorf("%s: predictions %+v, %v", name, p, err)
		}
		c = configOf("small")
		c.Label, c.Group, c.Output, c.Ignore = name, "class", filepath.Join(t.TempDir(), "label"), slices.DeleteFunc(others("small"),
			func(s string) bool { return s == name })
		c.DropNullLabels = true
		if r, err = train.Train(t.Context(), c, new(silent)); err != nil || len(r.Tree.Label.Classes) != 4 {
			t.Errorf("%s as the label: %v, %v", name, r, err)
		}
		c = configOf("small")
		c.Group, c.Ignore = name, slices.DeleteFunc(c.Ignore, func(s string) bool { return s == name })
		if _, err = train.Train(t.Context(), c, new(silent)); err != nil {
			t.Errorf("%s as the key: %v", name, err)
		}
	}
	infer := config.DefaultInferContract()
	infer.Input, infer.Label = []string{file}, "class"
	b, err := contracts.Infer(t.Context(), infer, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	c := configOf("small")
	c.Ignore, c.ContractFile = nil, textFile(t, "contract.yaml", string(b))
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Errorf("with the contract of the same rows: %v\n%s", err, b)
	}
}
