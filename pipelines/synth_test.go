package pipelines_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines"
)

// synthConfig is a data set of five files of three row groups with some of
// everything, in memory.
func synthConfig(t *testing.T) pipelines.SynthConfig {
	t.Helper()
	c := pipelines.DefaultSynthConfig()
	c.Output = "mem://" + t.Name()
	c.Rows, c.RowsPerFile, c.RowsPerGroup = 9_001, 2_000, 999
	c.Numeric, c.Categorical, c.Classes = 5, 4, 3
	c.Duplicates, c.Distinct, c.Nulls = 0.3, 40, 0.05
	return c
}

func synthesise(t *testing.T, c pipelines.SynthConfig) *pipelines.SynthResult {
	t.Helper()
	r, err := pipelines.Synth(t.Context(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contents returns the files of a folder by name.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	store, files := objectstore.New(), make(map[string]string)
	for _, pattern := range []string{"*", "_SUCCESS", "_costs.csv", "_tree.json", "_manifest.json"} { // * leaves out underscores
		list, err := store.List(t.Context(), objectstore.Join(folder, pattern))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, o := range list {
			b, err := store.ReadAll(t.Context(), o.URL, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[path.Base(o.URL)] = string(b)
		}
	}
	return files
}

// TestSynthBytes makes the same data set by one worker and by two, and others.
func TestSynthBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := synthConfig(t)
	r := synthesise(t, c)
	first := contents(t, c.Output)
	want := []string{"_SUCCESS", "_costs.csv", "_manifest.json", "_tree.json", "part-00000.parquet", "part-00001.parquet", "part-00002.parquet", "part-00003.parquet", "part-00004.parquet"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(first))); diff != "" {
		t.Error(diff)
	}
	bytes := 0
	for name, content := range first {
		if strings.HasPrefix(name, "part-") {
			bytes += len(content)
		}
	}
	if r.Files != 5 || r.Rows != c.Rows || r.Bytes != int64(bytes) {
		t.Errorf("%+v, want 5 files, %d rows, %d bytes", r, c.Rows, bytes)
	}
	runtime.GOMAXPROCS(2)
	c.Output += "-again"
	synthesise(t, c)
	if diff := cmp.Diff(first, contents(t, c.Output)); diff != "" {
		t.Error("two workers write other bytes")
	}
	c.Seed, c.Overwrite = 2, true
	synthesise(t, c)
	for name, content := range contents(t, c.Output) {
		if name != "_SUCCESS" && content == first[name] {
			t.Errorf("%s: another seed gives the same bytes", name)
		}
	}
}

// TestSynthIsLearnt trains on made-up data: the tree comes near to what noise
// leaves, and costs make it ask the cheap proxies.
func TestSynthIsLearnt(t *testing.T) {
	c := pipelines.DefaultSynthConfig()
	c.Output, c.Rows, c.RowsPerFile, c.Noise = "mem://"+t.Name(), 60_000, 20_000, 0.1
	c.Seed = 2
	r := synthesise(t, c)
	figures := make(map[string]figure)
	for algorithm, lambda := range map[split.Algorithm]float64{split.C45: 0, split.EC45: 100} {
		train := oneTree()
		train.Input, train.Label, train.Output = []string{r.Input}, r.Label, fmt.Sprintf("mem://%s-%s", t.Name(), algorithm)
		train.CostsFile, train.Algorithm, train.Lambda = r.Beside[0], []split.Algorithm{algorithm}, []float64{lambda}
		trained, err := pipelines.Train(t.Context(), train, &silent{})
		if err != nil {
			t.Fatal(err)
		}
		figures[algorithm.String()] = figuresOf(trained.Metrics)
	}
	blind, aware := figures["c45"], figures["ec45"]
	if blind.accuracy < 0.88 || blind.accuracy > 0.91 {
		t.Errorf("c45 is right in %v of the test rows, want about 0.9", blind.accuracy)
	}
	if aware.accuracy < 0.75 || aware.cost > blind.cost/5 {
		t.Errorf("ec45 is right in %v at a cost of %v, c45 in %v at %v: want 0.75 at a fifth of the cost", aware.accuracy, aware.cost, blind.accuracy, blind.cost)
	}
	_, metrics, err := pipelines.Evaluate(t.Context(), pipelines.EvaluateConfig{Model: r.Beside[1], Input: []string{r.Input}}, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	if hidden := figuresOf(metrics); hidden.accuracy < 0.895 || hidden.accuracy > 0.905 { // four standard deviations of 60,000 rows
		t.Errorf("the hidden tree is right in %v of the rows, want 0.9", hidden.accuracy)
	}
}

// figure is how often a tree is right on test rows, and what it costs.
type figure struct{ accuracy, cost float64 }

func figuresOf(m *runfolder.Metrics) figure {
	return figure{*m.Test.Accuracy, *m.Test.ExpectedCost}
}

// TestSynthReplaces: Synth refuses a folder with another data set, and with --overwrite leaves none of
// its files.
func TestSynthReplaces(t *testing.T) {
	c := synthConfig(t)
	synthesise(t, c)
	before := contents(t, c.Output)
	c.RowsPerFile = 5_000
	wantUsage(t, c, "--overwrite")
	if diff := cmp.Diff(before, contents(t, c.Output)); diff != "" {
		t.Error("a refused run changes files")
	}
	if err := objectstore.New().Remove(t.Context(), c.Output+"/_SUCCESS"); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, c, "unfinished", "--overwrite")
	c.Overwrite = true
	synthesise(t, c)
	want := []string{"_SUCCESS", "_costs.csv", "_manifest.json", "_tree.json", "part-00000.parquet", "part-00001.parquet"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(contents(t, c.Output)))); diff != "" {
		t.Error(diff)
	}
}

func wantUsage(t *testing.T, c pipelines.SynthConfig, words ...string) {
	t.Helper()
	_, err := pipelines.Synth(t.Context(), c, &silent{})
	var refused *usage.Error
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a usage error", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, word)
		}
	}
}

// interrupting ends a context when its first progress is told.
type interrupting struct {
	silent

	cancel context.CancelFunc
}

func (r *interrupting) Step(int64, string) { r.cancel() }

// TestSynthInterrupted leaves no file.
func TestSynthInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := synthConfig(t)
	c.Rows = 1e8 // never done
	if _, err := pipelines.Synth(ctx, c, &interrupting{cancel: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if left := contents(t, c.Output); len(left) > 0 {
		t.Errorf("left behind: %v", slices.Sorted(maps.Keys(left)))
	}
}

func TestSynthValidates(t *testing.T) {
	for words, change := range map[string]func(c *pipelines.SynthConfig){
		"--output is required":        func(c *pipelines.SynthConfig) { c.Output = "" },
		"--rows_per_file 0":           func(c *pipelines.SynthConfig) { c.RowsPerFile = 0 },
		"at most 100000":              func(c *pipelines.SynthConfig) { c.Rows, c.RowsPerFile = 1e9, 1000 },
		"--rows_per_group -1":         func(c *pipelines.SynthConfig) { c.RowsPerGroup = -1 },
		"--codec lzo":                 func(c *pipelines.SynthConfig) { c.Codec = "lzo" },
		"--noise 2: want a share":     func(c *pipelines.SynthConfig) { c.Noise = 2 },
		"--rows -1: want; --codec \"": func(c *pipelines.SynthConfig) { c.Rows, c.Codec = -1, "" },
		"--output: ":                  func(c *pipelines.SynthConfig) { c.Output = "file://relative" },
	} {
		c := synthConfig(t)
		change(&c)
		wantUsage(t, c, strings.Split(words, ": want; ")...)
	}
}

// BenchmarkSynth writes a data set to local files.
func BenchmarkSynth(b *testing.B) {
	for _, codec := range []string{"uncompressed", "snappy"} {
		for _, nulls := range []float64{0, 0.05} {
			b.Run(fmt.Sprintf("codec=%s/nulls=%v", codec, nulls), func(b *testing.B) {
				c := pipelines.DefaultSynthConfig()
				c.Output, c.Codec, c.Nulls, c.Overwrite = b.TempDir(), codec, nulls, true
				c.RowsPerFile = 250_000
				for b.Loop() {
					if _, err := pipelines.Synth(b.Context(), c, &silent{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(c.Rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
