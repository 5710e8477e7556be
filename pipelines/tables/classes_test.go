package tables_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/weighing"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/source"
	"github.com/espalier-ml/espalier/pipelines/tables"
)

// classes are those of the label.
func classes() []string { return []string{"cherry", "lime", "melon", "plum"} }

// weightOf encodes the weight of training rows by class, as the job of the summaries does:
// without classes that no training row has.
func weightOf(t *testing.T, weights map[string]int64) []byte {
	t.Helper()
	v := &dataset.Vector{Type: dataset.Text}
	var rows []int32
	var by []int64
	for _, class := range classes() {
		if w := weights[class]; w > 0 {
			rows, by = append(rows, int32(len(rows))), append(by, w)
			v.Index, v.Texts = append(v.Index, int32(len(v.Texts))), append(v.Texts, class)
		}
	}
	s := binning.New(dataset.Categorical, dataset.Text, binning.Limits{Values: 10, Categories: 10})
	s.AddVector(v, rows, by)
	b, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// csvFile writes a file, and returns its name.
func csvFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "classes.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// configOf returns a configuration with the texts of --class_weights, --priors and --error_costs.
func configOf(t *testing.T, weights, priors, errorCosts string) *config.Train {
	t.Helper()
	texts, err := json.Marshal(map[string]string{"class_weights": weights, "priors": priors, "error_costs": errorCosts})
	c := config.DefaultTrain()
	if err = errors.Join(err, json.Unmarshal(texts, &c)); err != nil {
		t.Fatal(err)
	}
	return &c
}

func readClasses(t *testing.T, weights, priors, errorCosts string) *tables.Classes {
	t.Helper()
	s, err := tables.ReadClasses(t.Context(), source.Process, configOf(t, weights, priors, errorCosts))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestWeigh: by hand, in units of 1e-6. Cherries are 2 rows, limes 6, melons 1, plums
// none: where classes weigh the same, each of the three weighs 3.
func TestWeigh(t *testing.T) {
	encoded := weightOf(t, map[string]int64{"cherry": 2, "lime": 6, "melon": 1})
	for name, c := range map[string]struct {
		setting string
		scale   float64 // scale of the rows' own weights
		want    []int64
		divisor int64
	}{
		"balanced":   {"balanced", 1, []int64{1_500_000, 500_000, 3_000_000, 1_000_000}, 1},
		"whole":      {csvFile(t, "class,weight\nlime,3\nmelon,0\n"), 1, []int64{1_000_000, 3_000_000, 0, 1_000_000}, weighing.FractionScale},
		"fractional": {csvFile(t, "class,weight\nlime,.3333333\n"), 1, []int64{1_000_000, 333_333, 1_000_000, 1_000_000}, 1},
		"of fractional rows": {
			csvFile(t, "class,weight\nlime,.3333333\n"), 1 << 20, []int64{1_000_000, 333_333, 1_000_000, 1_000_000}, weighing.FractionScale,
		},
	} {
		rows := &weighing.Rule{Units: &[dataset.Parts]dataset.WeightUnit{{Size: 1, Scale: c.scale}}}
		if _, err := readClasses(t, c.setting, "", "").Weigh(rows, encoded, classes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, rows.ClassWeights); diff != "" || rows.ClassDivisor != c.divisor {
			t.Errorf("%s: divisor %d, want %d; weights (-want +got):\n%s", name, rows.ClassDivisor, c.divisor, diff)
		}
	}
}

// TestWeighRefused: weights of unknown classes, of nothing, and of more than can be
// counted.
func TestWeighRefused(t *testing.T) {
	few, many := map[string]int64{"lime": 6}, map[string]int64{"lime": 1 << 58}
	unknown := csvFile(t, "class,weight\nlime,2\nmelons,3\n")
	for name, c := range map[string]struct {
		setting, want string
		weights       map[string]int64
	}{
		"unknown": {unknown, unknown + `, line 3: the label has no class "melons"; did you mean "melon"?`, few},
		"nothing": {csvFile(t, "class,weight\nlime,0\n"), "--class_weights: all classes of the training rows have the weight 0", few},
		"many":    {csvFile(t, "class,weight\nlime,1000\n"), "--class_weights: the weights of all training rows add up to more", many},
	} {
		s := readClasses(t, c.setting, "", "")
		_, err := s.Weigh(&weighing.Rule{}, weightOf(t, c.weights), classes())
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := readClasses(t, "balanced", "", "").Weigh(&weighing.Rule{}, []byte("damaged"), classes()); err == nil {
		t.Error("no error for a damaged summary")
	}
}

// TestPriors: by hand; the sum becomes 1, both in the flag and in a file.
func TestPriors(t *testing.T) {
	want := []float64{.125, .5, .125, .25}
	for _, setting := range []string{
		"cherry=1,lime=4,melon=1,plum=2", csvFile(t, "class,prior\nplum,.25\nlime,.5\nmelon,.125\ncherry,.125\n"),
	} {
		got, err := readClasses(t, "", setting, "").PriorsOf(classes())
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v, %v, want %v", setting, got, err, want)
		}
	}
	if got, err := readClasses(t, "", "a=1=0.75,b=0.25", "").PriorsOf([]string{"a=1", "b"}); err != nil || got[0] != .75 {
		t.Errorf("a class with an equals sign: %v, %v", got, err)
	}
	if got, err := new(tables.Classes).PriorsOf(classes()); got != nil || err != nil {
		t.Errorf("%v, %v: want none", got, err)
	}
	for setting, text := range map[string]string{
		"cherry=1,lime=4,melon=1": `--priors: the class "plum" has none: give one to each of the 4 classes`,
		"cherry=1,limes=4":        `--priors: the label has no class "limes"; did you mean "lime"?`,
	} {
		_, err := readClasses(t, "", setting, "").PriorsOf(classes())
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", setting, err, text)
		}
	}
}

// TestReadClassesRefused: a fault of a flag or a file is told with a remedy.
func TestReadClassesRefused(t *testing.T) {
	for _, c := range []struct{ weights, priors, errorCosts, want string }{
		{"balance", "", "", `; did you mean "balanced"?`},
		{"none.csv", "", "", "; want none, balanced or a CSV file"},
		{"", "cherry", "", "; want CLASS=P,.. or a CSV file"},
		{"", "day=1/priors.csv", "", "--priors: "},
		{"", "lime=0", "", `--priors: prior "0": want a number above 0 and up to 1000000`},
		{"", "lime=1,lime=2", "", `--priors: ["lime"] has a prior already`},
		{"", "", "none.csv", "--error_costs: "},
		{csvFile(t, "class,weight\nlime,-1\n"), "", "", `, line 2: weight "-1": want a number from 0 to 1000000`},
		{csvFile(t, "class,weight\nlime,1\nlime,1\n"), "", "", `, line 3: ["lime"] has a weight already`},
		{"", "", csvFile(t, "actual,predicted,cost\na,b,2e30\n"), `, line 2: cost "2e30": want a number from 0 to 1e+30`},
		{"", "", csvFile(t, "actual,predicted,cost\na,b,-2\n"), `to 1e+30: for a gain, add the same number to all costs of the actual class`},
	} {
		_, err := tables.ReadClasses(t.Context(), source.Process, configOf(t, c.weights, c.priors, c.errorCosts))
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestErrorCosts: by hand; what no line says costs 1, and a right prediction nothing.
func TestErrorCosts(t *testing.T) {
	s := readClasses(t, "", "", csvFile(t, "actual,predicted,cost\nmelon,lime,5\nlime,lime,.25\n"))
	got, err := s.ErrorCostsOf(classes()[:3])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{0, 1, 1}, {1, .25, 1}, {1, 5, 0}}, got); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
	if _, err := s.ErrorCostsOf(classes()[:2]); err == nil || !strings.Contains(err.Error(), `, line 2: the label has no class "melon"`) {
		t.Errorf("of an unknown class: %v", err)
	}
	if got, err := new(tables.Classes).ErrorCostsOf(classes()); got != nil || err != nil {
		t.Errorf("%v, %v: want none", got, err)
	}
}

// TestDigests: those of files alone, by flag. SHA-256 by sha256sum.
func TestDigests(t *testing.T) {
	if got := readClasses(t, "balanced", "a=1,b=2", "").Digests(); got != nil {
		t.Errorf("digests %v without a file", got)
	}
	got := readClasses(t, csvFile(t, "class,weight\n"), "a=1", csvFile(t, "actual,predicted,cost\n")).Digests()
	want := map[string]string{
		"class_weights": "a1a78afa070cc31ebae1a1fb9862a7a64f6b5f99fe935e8c24fa8bbca957857c",
		"error_costs":   "c92f835c21415f0486e78b2e1ecb7ff24a9af3c245d7923862c4adac23163e9d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("digests (-want +got):\n%s", diff)
	}
}

func TestWeighsClasses(t *testing.T) {
	for setting, want := range map[string]bool{"": false, "none": false, "balanced": true, "weights.csv": true} {
		if configOf(t, setting, "", "").WeighsClasses() != want {
			t.Errorf("%q: want %t", setting, want)
		}
	}
}
