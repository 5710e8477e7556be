package pipelines_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

// window is a folder of daily files, a run whose cuts hold, and a cache of objects.
type window struct {
	days []string
	pipelines.TrainConfig
}

func newWindow(t *testing.T, days int) *window {
	t.Helper()
	return newWeightedWindow(t, days, days)
}

// newWeightedWindow is newWindow. Weights of days from the given one on are whole numbers.
func newWeightedWindow(t *testing.T, days, whole int) *window {
	t.Helper()
	const each = 150
	data := newRows(each * days)
	for i := each * whole; i < len(data.weight); i++ {
		data.weight[i] = math.Ceil(data.weight[i])
	}
	pattern := data.write(t, ascending(each*days), days, parquetio.WriteOptions{RowsPerGroup: 64})
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != days {
		t.Fatalf("%v, %v", files, err)
	}
	c := oneTree()
	c.Label, c.Ignore, c.Theta = "class", []string{"id"}, []float64{0.0005}
	first := c
	first.Input, first.Output = files[:1], t.TempDir()
	trainInto(t, &first)
	c.CutsFrom, c.Bins = first.Output, nil
	return &window{files, c}
}

func trainInto(t *testing.T, c *pipelines.TrainConfig) {
	t.Helper()
	if _, err := pipelines.Train(t.Context(), *c, &silent{}); err != nil {
		t.Fatal(err)
	}
}

// reads trains on some days with cached objects, and returns the trees and metrics and the number
// of days whose rows were read.
func (w *window) reads(t *testing.T, folder string, days ...int) (documents []byte, read int) {
	t.Helper()
	before := entries(t, folder)
	c := w.TrainConfig
	c.ObjectCache, c.Input = folder, pick(w.days, days)
	documents = train(t, c)
	return documents, len(entries(t, folder)) - len(before)
}

// uncertain matches the figures of metrics.json that follow from the number of independent rows.
var uncertain = regexp.MustCompile(`"(standard_error|low|high|expected_error|chance_error|chance_limit)": [^,\n]*`)

// entries lists the entries of a cache.
func entries(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "*", "entry-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(name string) bool { return strings.Contains(name, "window") })
}

// TestCachedObjects: a window that moves on reads the new day alone, to the bytes of a run that
// reads all days with the same cuts: with weights, and with -tags long with one row a weight, with
// a key, by levels and on prism, too.
func TestCachedObjects(t *testing.T) {
	const days = 6
	for name, change := range map[string]func(*pipelines.TrainConfig){
		"plain":    func(*pipelines.TrainConfig) {},
		"weighted": func(c *pipelines.TrainConfig) { c.Weight = "weight" },
		"keyed":    func(c *pipelines.TrainConfig) { c.Key, c.Ignore = "id", nil },
		"on prism": func(c *pipelines.TrainConfig) { c.Runner = "prism" },
		"levels":   func(c *pipelines.TrainConfig) { c.MemoryObjects = 0 },
	} {
		if !longtest.Enabled() && name != "weighted" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, folder := newWindow(t, days), t.TempDir()
			change(&w.TrainConfig)
			for _, step := range []struct {
				days []int
				read int
			}{
				{[]int{0, 1, 2}, 3},
				{[]int{1, 2, 3}, 1}, // the window of before, less a day
				{[]int{2, 3, 4, 5}, 2},
				{[]int{5, 2, 3, 4}, 0}, // the same window
				{[]int{0, 5}, 0},       // no window is of use
				{[]int{2, 3, 4}, 0},    // a window that was there before the last one
			} {
				got, read := w.reads(t, folder, step.days...)
				if read != step.read {
					t.Errorf("days %v: the rows of %d were read, want %d", step.days, read, step.read)
				}
				direct := w.TrainConfig
				direct.Input = pick(w.days, step.days)
				want := train(t, direct)
				if direct.Weight != "" { // the classes of weights, for intervals, are of the window in which rows were read
					got, want = uncertain.ReplaceAll(got, nil), uncertain.ReplaceAll(want, nil)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("days %v: not the bytes of reading all rows", step.days)
				}
			}
		})
	}
}

// TestCachedObjectsOfNewCuts: a run that finds its cuts also caches its objects. A run with these
// cuts only reads the new day.
func TestCachedObjectsOfNewCuts(t *testing.T) {
	for name, change := range map[string]func(*pipelines.TrainConfig){
		"plain":    func(*pipelines.TrainConfig) {},
		"weighted": func(c *pipelines.TrainConfig) { c.Weight = "weight" },
		"whole":    func(c *pipelines.TrainConfig) { c.Weight = "weight" },
		"on prism": func(c *pipelines.TrainConfig) { c.Runner = "prism" },
	} {
		if !longtest.Enabled() && name != "weighted" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			whole := 4
			if name == "whole" {
				whole = 0
			}
			w, folder := newWeightedWindow(t, 4, whole), t.TempDir()
			change(&w.TrainConfig)
			first := w.TrainConfig
			first.CutsFrom, first.Bins, first.ObjectCache = "", oneTree().Bins, folder
			first.Input, first.Output = w.days[:3], t.TempDir()
			trainInto(t, &first)
			if n := len(entries(t, folder)); n != 3 {
				t.Errorf("%d days were cached, want 3", n)
			}
			without := first
			without.ObjectCache = ""
			if got := treeOf(t, first.Output); !bytes.Equal(got, treeOf(t, trainedInto(t, without))) {
				t.Error("another tree with a cache")
			}
			w.CutsFrom, w.Bins = first.Output, nil
			for _, step := range []struct {
				days []int
				read int
			}{{[]int{0, 1, 2}, 0}, {[]int{1, 2, 3}, 1}} {
				got, read := w.reads(t, folder, step.days...)
				direct := w.TrainConfig
				direct.Input = pick(w.days, step.days)
				if read != step.read || !bytes.Equal(got, train(t, direct)) {
					t.Errorf("days %v: the rows of %d were read, want %d, and the bytes of reading all", step.days, read, step.read)
				}
				if step.read == 0 && !bytes.Equal(treeOf(t, first.Output), got[:len(treeOf(t, first.Output))]) {
					t.Error("another tree with the same cuts")
				}
			}
		})
	}
}

// TestCachedObjectsOfWholeWeights: a window whose weights have another common unit, since fractional
// ones leave or come, has objects of its own. Objects in the unit of earlier windows serve again.
func TestCachedObjectsOfWholeWeights(t *testing.T) {
	w, folder := newWeightedWindow(t, 4, 1), t.TempDir()
	w.Weight = "weight"
	for _, step := range []struct {
		days []int
		read int
	}{
		{[]int{0, 1, 2}, 3}, // in quarters
		{[]int{1, 2, 3}, 3}, // in whole numbers
		{[]int{1, 2, 3, 0}, 1},
		{[]int{2, 3}, 0},
	} {
		got, read := w.reads(t, folder, step.days...)
		direct := w.TrainConfig
		direct.Input = pick(w.days, step.days)
		if read != step.read || !bytes.Equal(got, train(t, direct)) {
			t.Errorf("days %v: the rows of %d were read, want %d, and the bytes of reading all", step.days, read, step.read)
		}
	}
}

// treeOf reads the tree of a run.
func treeOf(t *testing.T, run string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run, "tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// trainedInto trains into a new folder, and returns it.
func trainedInto(t *testing.T, c pipelines.TrainConfig) string {
	t.Helper()
	c.Output = t.TempDir()
	trainInto(t, &c)
	return c.Output
}

// TestCachedObjectsOfOthers: objects of other cuts, parts or columns, and of a file that has changed
// since, are not used. Costs and the settings of growth change no objects.
func TestCachedObjectsOfOthers(t *testing.T) {
	w, folder := newWindow(t, 3), t.TempDir()
	w.reads(t, folder, 0, 1)
	for _, c := range []struct {
		name   string
		change func(*pipelines.TrainConfig)
		read   int
	}{
		{"another seed", func(c *pipelines.TrainConfig) { c.Seed++ }, 2},
		{"other shares", func(c *pipelines.TrainConfig) { c.Split = dataset.Shares{60, 20, 20} }, 2},
		{"fewer columns", func(c *pipelines.TrainConfig) { c.Ignore = []string{"id", "twin"} }, 2},
		{"another growth", func(c *pipelines.TrainConfig) { c.MinRows, c.Lambda = 9, []float64{1} }, 0},
		{"costs", func(c *pipelines.TrainConfig) { c.CostsFile = costsFile(t, "feature,cost\na,8\n") }, 0},
	} {
		other := *w
		c.change(&other.TrainConfig)
		if _, read := other.reads(t, folder, 0, 1); read != c.read {
			t.Errorf("%s: the rows of %d files were read, want %d", c.name, read, c.read)
		}
	}
	b, err := os.ReadFile(w.days[2])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.days[1]+".new", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.days[1]+".new", w.days[1]); err != nil {
		t.Fatal(err)
	}
	if _, read := w.reads(t, folder, 0, 1); read != 1 {
		t.Errorf("the rows of %d files were read, want those of the changed one", read)
	}
}

func trainCached(t *testing.T, w *window, folder string, days ...int) (*pipelines.Result, error) {
	t.Helper()
	c := w.TrainConfig
	c.ObjectCache, c.Input, c.Output = folder, pick(w.days, days), t.TempDir()
	return pipelines.Train(t.Context(), c, &silent{})
}

// TestCachedObjectsDamaged: a damaged entry or block is named, and what to do.
func TestCachedObjectsDamaged(t *testing.T) {
	w, folder := newWindow(t, 2), t.TempDir()
	w.reads(t, folder, 0)
	entry := entries(t, folder)[0]
	b, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entry, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = trainCached(t, w, folder, 0)
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), filepath.Base(entry)) ||
		!strings.Contains(err.Error(), "remove the folder") {
		t.Errorf("a damaged entry: %v", err)
	}
	if err := os.WriteFile(entry, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var blocks []string
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, "objects-") {
			blocks = append(blocks, path)
		}
		return nil
	})
	if err := os.WriteFile(blocks[0], []byte("no block"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = trainCached(t, w, folder, 0); err == nil || !strings.Contains(err.Error(), filepath.Base(blocks[0])) {
		t.Errorf("a damaged block: %v", err)
	}
}

// TestCutsFrom: features and classes are the features and classes of the earlier run. Rows that do
// not fit them are refused with a message.
func TestCutsFrom(t *testing.T) {
	w := newWindow(t, 3)
	c := w.TrainConfig
	c.Input, c.Output = w.days, t.TempDir()
	trainInto(t, &c)
	earlier, now := readSchema(t, c.CutsFrom), readSchema(t, c.Output)
	for _, f := range earlier.Features() {
		got := featureOf(t, now.Features(), f.Name)
		if !slices.Equal(got.Cuts, f.Cuts) || !slices.Equal(got.Values, f.Values) || !slices.Equal(got.Range, f.Range) {
			t.Errorf("%s: cuts %v, values %q, want %v, %q", f.Name, got.Cuts, got.Values, f.Cuts, f.Values)
		}
	}
	write := func(columns ...parquetio.WriteColumn) []string {
		url := filepath.Join(t.TempDir(), "rows.parquet")
		if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return []string{url}
	}
	numbers, texts := []float64{1, 2, 3, 4}, []string{"red", "blue", "red", "blue"}
	rest := []parquetio.WriteColumn{
		{Name: "b", Values: numbers},
		{Name: "twin", Values: numbers},
		{Name: "flag", Values: []bool{true, false, true, false}},
		{Name: "weight", Values: numbers},
		{Name: "color", Values: texts},
	}
	low := parquetio.WriteColumn{Name: "class", Values: []string{"low", "high", "low", "high"}}
	for _, bad := range []struct {
		name   string
		change func(*pipelines.TrainConfig)
		want   string
		usage  bool
	}{
		{
			"a column less", func(c *pipelines.TrainConfig) { c.Ignore, c.Input = nil, write(append(rest, low)...) },
			`column "a"`, false,
		},
		{"a new class", func(c *pipelines.TrainConfig) {
			c.Ignore, c.Input = nil, write(append(rest, parquetio.WriteColumn{Name: "a", Values: numbers},
				parquetio.WriteColumn{Name: "class", Values: []string{"low", "new", "low", "new"}})...)
		}, `"new"`, false},
		{"no run", func(c *pipelines.TrainConfig) { c.CutsFrom = t.TempDir() }, "--cuts_from", true},
		{"bins", func(c *pipelines.TrainConfig) { c.Bins = []int{8, 16} }, "leave out --bins", true},
		{
			"weighed classes", func(c *pipelines.TrainConfig) { c.BalanceClasses, c.ObjectCache = true, t.TempDir() },
			"--class_weights", true,
		},
	} {
		c := w.TrainConfig
		c.Input, c.Output = w.days, t.TempDir()
		bad.change(&c)
		_, err := pipelines.Train(t.Context(), c, &silent{})
		var data *dataset.DataError
		if err == nil || !strings.Contains(err.Error(), bad.want) || bad.usage != errors.As(err, new(*usage.Error)) ||
			!bad.usage && !errors.As(err, &data) {
			t.Errorf("%s: %v, want %s", bad.name, err, bad.want)
		}
	}
}
