package train_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// TestSplitTime: the newest rows test and the next newest validate, whatever the order of the rows; all rows of
// a time are in one part, and the column is not a feature.
func TestSplitTime(t *testing.T) {
	const n = 1000
	data := newRows(n)
	for i := range data.id {
		data.id[i] = int64(i / 8 * 8) // 125 times of 8 rows
	}
	var trees [][]byte
	for _, order := range [][]int{ascending(n), rand.New(rand.NewPCG(1, 70)).Perm(n)} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{data.write(t, order, 3, parquetio.WriteOptions{RowsPerGroup: 90})}, "class", t.TempDir()
		c.SplitTime, c.Select, c.Certificate = "id", frontier.First, false
		r, err := train.Train(t.Context(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		// Of 125 times 87.5 are to train and 12.5 to validate: the part ends with the time that reaches it.
		if m := r.Metrics; m.Train.Rows != 88*8 || m.Validation.Rows != 12*8 || m.Test.Rows != 25*8 {
			t.Errorf("parts of %d, %d and %d rows", m.Train.Rows, m.Validation.Rows, m.Test.Rows)
		}
		b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"name": "id"`) {
			t.Error("the time is a feature")
		}
		trees = append(trees, b)
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree of the rows in another order")
	}
}

// TestSplitWithoutRows: a part that has a share and gets no rows, as too few times or groups differ, is warned of.
func TestSplitWithoutRows(t *testing.T) {
	const n = 600
	for _, test := range []struct {
		values int
		group  bool
		split  dataset.Shares
		want   string // of the warning; empty: none
	}{
		{1, false, dataset.Shares{70, 10, 20}, "--split_time id leaves no validation and no test rows"},
		{2, true, dataset.Shares{50, 50, 20}, "--group id leaves no "},
		{4, false, dataset.Shares{70, 10, 20}, "--split_time id leaves no test rows"},
		{10, false, dataset.Shares{70, 10, 20}, ""},
		{1, false, dataset.Shares{100, 0, 0}, ""},
	} {
		data := newRows(n)
		for i := range data.id {
			data.id[i] = int64(i * test.values / n)
		}
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{data.write(t, ascending(n), 1, parquetio.WriteOptions{})}, "class", t.TempDir()
		c.Select, c.Certificate, c.Split = frontier.First, false, test.split
		if c.SplitTime = "id"; test.group {
			c.SplitTime, c.Group = "", "id"
		}
		said := &silent{}
		r, err := train.Train(t.Context(), c, said)
		if err != nil {
			t.Fatal(err)
		}
		said.warnings = slices.DeleteFunc(said.warnings, func(s string) bool { return !strings.Contains(s, " leaves no ") })
		if got := strings.Join(said.warnings, "\n"); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%d values, --split %s: %q, want %q", test.values, test.split, got, test.want)
		}
		if missing := c.Split[dataset.Test] > 0 && r.Metrics.Test == nil; missing != strings.Contains(strings.Join(said.warnings, ""), "no test rows") {
			t.Errorf("%d values: test rows missing: %v, warnings %q", test.values, missing, said.warnings)
		}
	}
}

// TestSplitTimeRefused: what time cannot split by is refused in one sentence.
func TestSplitTimeRefused(t *testing.T) {
	data := newRows(50)
	input := data.write(t, ascending(50), 1, parquetio.WriteOptions{})
	for want, change := range map[string]func(c *config.Train){
		"--split_column color names a column":             func(c *config.Train) { c.SplitTime, c.SplitColumn = "id", "color" },
		`column "color" has texts, booleans`:              func(c *config.Train) { c.SplitTime = "color" },
		"is null or NaN, expected a number or a point in": func(c *config.Train) { c.SplitTime = "a" },
	} {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output = []string{input}, "class", t.TempDir()
		change(&c)
		if _, err := train.Train(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestFoldsInTime: the effect of a day is new every day, and a code of the day tells it. Folds that divide days, or learn
// from newer days, would find the code predictive: the area of the folds of any tree is about what x alone has. Keys
// that have rows in an older part are left out of newer parts, and both ways of growing give the same tree.
func TestFoldsInTime(t *testing.T) {
	const days, each = 150, 8
	r := rand.New(rand.NewPCG(4, 51))
	data := newRows(days * each)
	code := r.Perm(days)
	for i := range data.id {
		day := i / each
		x, y := float64(code[day]), r.Float64()
		data.a[i], data.b[i], data.class[i] = &x, &y, []string{"low", "high"}[code[day]*7919%days%2]
		data.id[i] = int64(day)
	}
	input := data.write(t, rand.New(rand.NewPCG(4, 52)).Perm(days*each), 2, parquetio.WriteOptions{RowsPerGroup: 100})
	configure := func(group string, memory int64) config.Train {
		c := config.DefaultTrain()
		c.Input, c.Label, c.Output, c.SplitTime, c.Group = []string{input}, "class", t.TempDir(), "id", group
		c.Ignore, c.Folds = []string{"twin", "color", "flag"}, crossvalidate.Setting{Number: 5}
		c.Certificate, c.Report, c.MemoryObjects = false, "none", memory
		return c
	}
	c := configure("", -1)
	result, err := train.Train(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range result.Frontier.Points {
		if *p.Folds > .6 {
			t.Errorf("the folds have an area of %v of days that no older row tells", *p.Folds)
		}
	}
	var trees [][]byte
	for _, memory := range []int64{-1, 50} {
		c := configure("weight", memory) // its values are in all parts
		result, err := train.Train(t.Context(), c, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		if m := result.Metrics; m.Train.Rows != 105*each || m.Validation != nil || m.Test != nil {
			t.Errorf("%d training rows, validation %v, test %v, but all keys are known", m.Train.Rows, m.Validation, m.Test)
		}
		b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, b)
	}
	if !bytes.Equal(trees[0], trees[1]) {
		t.Error("another tree by levels")
	}
}
