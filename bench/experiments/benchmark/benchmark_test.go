package benchmark_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/bench/experiments/benchmark"
	"github.com/espalier-ml/espalier/bench/synth/rows"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/usage"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// newFolder makes up a folder of two data sets: a folder of Parquet files, and one file.
func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for i, name := range []string{"one", "two"} {
		c := rows.Config{Rows: 600, RowsPerFile: 300, Seed: uint64(i + 1), Numeric: 5, Categorical: 3}
		if err := rows.Write(t.Context(), objectstore.New(), filepath.Join(folder, name), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(folder, "two", "part-00000.parquet"), filepath.Join(folder, "solo.parquet")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(folder, "two")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func newConfig(t *testing.T) benchmark.Config {
	t.Helper()
	c := benchmark.DefaultConfig()
	c.Folder, c.Output, c.Splits = newFolder(t), filepath.Join(t.TempDir(), "out"), 2
	c.Budgets, c.Scaling = benchmark.BudgetsNone, false
	return c
}

func run(t *testing.T, c benchmark.Config) *benchmark.Result {
	t.Helper()
	r, err := benchmark.Run(context.Background(), c, engine.Silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTreesOfTraining trains each algorithm separately, as on the command line: the figures of the
// benchmark must be the figures of its run folder.
func TestTreesOfTraining(t *testing.T) {
	c := newConfig(t)
	c.Sets, c.Splits = []string{"one"}, 1
	compared := 0
	for _, f := range run(t, c).Splits[0].Figures {
		p, err := config.Preset("paper")
		if err != nil {
			t.Fatal(err)
		}
		algorithm, err := split.ParseAlgorithm(f.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		p.Algorithm, p.Select, p.Seed, p.Report = []split.Algorithm{algorithm}, frontier.Paper, 1, config.ReportNone
		if f.Lambda > 0 {
			p.Lambda = []float64{100, 10, 1, 0.1, 0.01}
		}
		if f.Pruned { // its lambda is the lambda of the plain tree
			p.Prune, p.Alpha = []prune.Currency{prune.Leaves}, new(f.Alpha)
			p.Lambda = []float64{f.Lambda}
		}
		if f.Costs == benchmark.RandomCosts {
			p.CostsFile = filepath.Join(c.Output, "costs", "one-1.csv")
		}
		p.Input, p.Label = []string{filepath.Join(c.Folder, "one", "*.parquet")}, "class"
		p.Output = filepath.Join(t.TempDir(), "run")
		r, err := train.Train(context.Background(), p, engine.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		want := benchmark.Figures{
			Costs: f.Costs, Algorithm: r.Tree.Algorithm.Name, Pruned: f.Pruned, Alpha: f.Alpha,
			AUC: *r.Metrics.Test.AUCOvRMacro, Cost: r.Tree.Complexity.ExpectedCost, Leaves: r.Tree.Complexity.Leaves,
		}
		if f.Lambda > 0 {
			want.Lambda = r.Tree.Algorithm.Lambda
		}
		if diff := cmp.Diff(want, f, cmpopts.IgnoreFields(f, "Seconds")); diff != "" {
			t.Errorf("%s (pruned %v, %s): -train +benchmark\n%s", f.Algorithm, f.Pruned, f.Costs, diff)
		}
		compared++
	}
	if want := 7 * 2 * 2; compared != want {
		t.Errorf("%d trees compared, want %d", compared, want)
	}
}

// TestGoesOn runs a benchmark again after one split was lost and one damaged: the other splits are
// not trained again, and the tables are the same except for times.
func TestGoesOn(t *testing.T) {
	c := newConfig(t)
	first := run(t, c)
	if err := os.Remove(filepath.Join(c.Output, "splits", "one-2.json")); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(c.Output, "splits", "solo-1.json")
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := run(t, c)
	untimed := cmpopts.IgnoreFields(benchmark.Figures{}, "Seconds")
	if diff := cmp.Diff(first.Splits, again.Splits, untimed); diff != "" {
		t.Errorf("other figures: %s", diff)
	}
	kept := 0
	for i, s := range again.Splits {
		if cmp.Equal(s, first.Splits[i]) { // with their times
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("%d splits are as they were, want the 2 that were left", kept)
	}
	c.Algorithm, c.AtOnce, c.Folder = []string{"asr", "ec45"}, 4, c.Folder+"/../"+filepath.Base(c.Folder)
	for _, s := range run(t, c).Splits {
		if len(s.Figures) != 2*2*2 {
			t.Errorf("%d figures of two algorithms, want 8", len(s.Figures))
		}
		for _, f := range s.Figures {
			if !slices.ContainsFunc(again.Splits, func(a *benchmark.Split) bool { return slices.Contains(a.Figures, f) }) {
				t.Errorf("%s, split %d is trained again", s.Set, s.Seed)
				break
			}
		}
	}
}

// TestSummaries holds means, deviations and ranks of the tables against the splits.
func TestSummaries(t *testing.T) {
	c := newConfig(t)
	r := run(t, c)
	for _, s := range r.Means {
		var areas []float64
		for _, one := range r.Splits {
			for _, f := range one.Figures {
				if one.Set == s.Set && f.Algorithm == s.Algorithm && f.Pruned == s.Pruned && f.Costs == s.Costs {
					areas = append(areas, f.AUC)
				}
			}
		}
		if s.Splits != 2 || len(areas) != 2 {
			t.Fatalf("%d splits, %d areas: want 2", s.Splits, len(areas))
		}
		auc := s.Of["auc"]
		// The deviation of two values is their distance over the root of 2.
		if mean := (areas[0] + areas[1]) / 2; math.Abs(auc.Mean-mean) > 1e-15 ||
			math.Abs(auc.Deviation-math.Abs(areas[0]-areas[1])/math.Sqrt2) > 1e-15 {
			t.Errorf("%v: mean and deviation of %v", auc, areas)
		}
		if auc.Rank < 1 || auc.Rank > 7 {
			t.Errorf("rank %v", auc.Rank)
		}
	}
	if want := 2 * 2 * 2 * 7; len(r.Means) != want {
		t.Errorf("%d lines, want %d", len(r.Means), want)
	}
	tables, err := os.ReadFile(filepath.Join(c.Output, "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(tables), "\n| solo |"); n != 16 {
		t.Errorf("%d tables have the data set solo, want 16", n)
	}
}

// TestComparisons: the mean ranks are the ranks in the tables, and all pairs, measures and cost
// laws are listed. With one data set there is nothing to compare.
func TestComparisons(t *testing.T) {
	c := newConfig(t)
	c.Control = "p-cart"
	r := run(t, c)
	if want := 2 * (3*3 + 1); len(r.Comparisons) != want { // AUC, cost and leaves of three groups of trees, and seconds
		t.Errorf("%d comparisons, want %d", len(r.Comparisons), want)
	}
	for _, one := range r.Comparisons {
		want := map[string]int{benchmark.PlainTrees: 7, benchmark.PrunedTrees: 7, benchmark.AllTrees: 11}[one.Of]
		if len(one.Methods) != want || one.Sets != 2 {
			t.Errorf("%s of %s trees: %d methods on %d sets, want %d on 2", one.Measure, one.Of, len(one.Methods), one.Sets, want)
		}
		for _, m := range one.Methods {
			if len(m.NemenyiP) != want || (m.DunnP != nil) != (one.Control != "" && m.Name != c.Control) {
				t.Errorf("%s of %s trees: p values of %s: %v, %v", one.Measure, one.Of, m.Name, m.NemenyiP, m.DunnP)
			}
			if one.Of == benchmark.PlainTrees {
				sum := 0.0
				for _, s := range r.Means {
					if s.Algorithm == m.Name && !s.Pruned && s.Costs == one.Costs {
						sum += s.Of[one.Measure].Rank
					}
				}
				if sum/2 != m.Rank { // ranks are halves
					t.Errorf("%s: mean rank %v, want %v", m.Name, m.Rank, sum/2)
				}
			}
		}
	}
	c.Sets = []string{"one"}
	if r := run(t, c); len(r.Comparisons) != 0 {
		t.Errorf("%d comparisons on one data set", len(r.Comparisons))
	}
}

// TestManifest: the label and the categories of a data set stand in MANIFEST.tsv.
func TestManifest(t *testing.T) {
	c := newConfig(t)
	manifest := "name\tcategorical\tlabel\none\tx00,x01\tc00\n"
	if err := os.WriteFile(filepath.Join(c.Folder, "MANIFEST.tsv"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Splits = 1
	labels := make(map[string]string)
	for _, s := range run(t, c).Splits {
		labels[s.Set] = s.Label
	}
	if want := map[string]string{"one": "c00", "solo": "class"}; !cmp.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
}

func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(c *benchmark.Config){
		`no data set "tow"`:        func(c *benchmark.Config) { c.Sets = []string{"tow"} },
		"has no data sets":         func(c *benchmark.Config) { c.Folder = filepath.Join(c.Folder, "absent") },
		"no benchmark's":           func(c *benchmark.Config) { c.Output = c.Folder },
		"want c45, ec45":           func(c *benchmark.Config) { c.Algorithm = []string{"cc45"} },
		"--splits":                 func(c *benchmark.Config) { c.Splits = 0 },
		"MANIFEST.tsv":             func(c *benchmark.Config) { c.Label = "absent" },
		`want c45, p-c45`:          func(c *benchmark.Config) { c.Control = "p-c4.5" },
		"--published: open absent": func(c *benchmark.Config) { c.Published = "absent.csv" },
		"--algorithm: want at lea": func(c *benchmark.Config) { c.Algorithm = nil },
	} {
		c := newConfig(t)
		change(&c)
		_, err := benchmark.Run(context.Background(), c, engine.Silent{})
		var wrong *usage.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want a usage error with %q", err, want)
		}
	}
}

// TestInterrupted: a benchmark that is interrupted says so, and the next one goes on.
func TestInterrupted(t *testing.T) {
	c := newConfig(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := benchmark.Run(ctx, c, engine.Silent{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want the error of the context", err)
	}
	if r := run(t, c); len(r.Splits) != 4 || slices.Contains(r.Splits, nil) {
		t.Errorf("%d splits, want 4", len(r.Splits))
	}
}
