package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

func textFile(t *testing.T, name, text string) string {
	t.Helper()
	url := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(url, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return url
}

func mustTrain(t *testing.T, c config.Train) *train.Result {
	t.Helper()
	c.Output = filepath.Join(t.TempDir(), "run")
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSameBytesByClass: with all that may be said about classes, runs give the
// same bytes on every runner, for every order and number of files, and by levels. Rows
// without a weight wait for -tags long.
func TestSameBytesByClass(t *testing.T) {
	longtest.Skip(t)
	const n = 350
	data := newRows(n)
	c := oneTree()
	c.Label, c.Group, c.Theta = "class", "id", []float64{0.001}
	c.PriorsFile = "high=0.1,low=0.6,middle=0.3"
	c.ErrorCostsFile = textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,7\nmiddle,middle,0.25\n")
	shuffled := rand.New(rand.NewPCG(5, 6)).Perm(n)
	for name, weights := range map[string]string{
		"balanced":   "", // no file
		"whole":      textFile(t, "whole.csv", "class,weight\nhigh,3\n"),
		"fractional": textFile(t, "fractional.csv", "class,weight\nhigh,0.333333\nlow,0\n"),
	} {
		for _, column := range []string{"", "weight"} {
			if column == "" && !longtest.Enabled() {
				continue
			}
			t.Run(name+" "+column, func(t *testing.T) {
				c := c
				c.ClassWeightsFile, c.BalanceClasses, c.Weight = weights, weights == "", column
				if column == "" {
					c.Ignore = []string{"weight"}
				}
				run := func(files int, change func(*config.Train)) string {
					t.Helper()
					c := c
					order := ascending(n)
					if files > 1 {
						order = shuffled
					}
					c.Input = []string{data.write(t, order, files, parquetio.WriteOptions{RowsPerGroup: 90})}
					change(&c)
					c.Output = t.TempDir()
					if _, err := train.Train(t.Context(), c, &silent{}); err != nil {
						t.Fatal(err)
					}
					return readRun(t, c.Output)
				}
				want := run(1, func(*config.Train) {})
				for what, change := range map[string]func(*config.Train){
					"other files":     func(*config.Train) {},
					"prism":           func(c *config.Train) { c.Runner = "prism" },
					"levels":          func(c *config.Train) { c.MemoryObjects = 40 },
					"levels on prism": func(c *config.Train) { c.MemoryObjects, c.LevelsPerJob, c.Runner = 40, 3, "prism" },
				} {
					if got := run(5, change); got != want {
						t.Errorf("%s: other files (-want +got):\n%s", what, cmp.Diff(want, got))
					}
				}
			})
		}
	}
}

// nodesOf returns the nodes of a tree.json.
func nodesOf(t *tree.Tree) string {
	_, nodes, _ := strings.Cut(string(t.Encode()), `"nodes": [`)
	return nodes
}

// decisionsOf lists the tests, classes and probabilities of a tree.
func decisionsOf(t *tree.Tree) string {
	var b strings.Builder
	for i := range t.Nodes {
		n := &t.Nodes[i]
		fmt.Fprintln(&b, i, n.Rows, n.Class, n.Probabilities)
		for _, branch := range n.Branches {
			fmt.Fprintln(&b, t.Features[n.Test.Feature].Name, n.Test.Kind, n.Test.Code, branch.Child)
		}
	}
	return b.String()
}

// TestClassWeightsAreRowWeights: the same decisions as of rows that weigh as much. Whole weights
// have the same units in both, so that smoothed probabilities agree to the last bit. Bins of equal
// width do not depend on weights.
func TestClassWeightsAreRowWeights(t *testing.T) {
	const n = 600
	data := newRows(n)
	factors := map[string]float64{"low": 1, "middle": 2.5, "high": 6}
	c := oneTree()
	c.Label, c.Split, c.Binning, c.Bins, c.Tests, c.Ignore = "class", dataset.Shares{100, 0, 0}, binning.Uniform, 16, []split.Family{split.Both}, []string{"id", "weight"}
	for _, whole := range []bool{true, false} {
		if whole {
			c.LeafEstimate, factors["middle"] = tree.Smoothed, 2
		} else {
			c.LeafEstimate, factors["middle"] = tree.Raw, 2.5
		}
		for i := range data.weight {
			data.weight[i] = factors[data.class[i]]
		}
		c.Input = []string{data.write(t, ascending(n), 2, parquetio.WriteOptions{})}
		c.ClassWeightsFile = textFile(t, "weights.csv", fmt.Sprintf("class,weight\nmiddle,%v\nhigh,%v\n", factors["middle"], factors["high"]))
		byClass := mustTrain(t, c)
		byRow := c
		byRow.ClassWeightsFile, byRow.Weight, byRow.Ignore = "", "weight", []string{"id"}
		want := mustTrain(t, byRow)
		if diff := cmp.Diff(decisionsOf(want.Tree), decisionsOf(byClass.Tree)); diff != "" {
			t.Errorf("whole %v: nodes by row weights and by class weights (-row +class):\n%s", whole, diff)
		}
		if got := byClass.Tree.Training; got.Weights != "class_weights" || !cmp.Equal(got.ClassWeights, []float64{factors["high"], 1, factors["middle"]}) {
			t.Errorf("training says %+v", got)
		}
		if got := want.Tree.Training; float64(got.Weight) != float64(got.Rows)*got.WeightScale {
			t.Errorf("%d rows weigh %d in units of 1/%v", got.Rows, got.Weight, got.WeightScale)
		}
	}
	c.ClassWeightsFile = textFile(t, "ones.csv", "class,weight\nlow,1\n")
	ones := mustTrain(t, c)
	c.ClassWeightsFile = ""
	if none := mustTrain(t, c); nodesOf(none.Tree) != nodesOf(ones.Tree) {
		t.Error("weights of 1 change the tree")
	}
}

// TestClassWeightsHaveNoUnit: factors of classes times a constant change no decision.
func TestClassWeightsHaveNoUnit(t *testing.T) {
	const n = 600
	c := oneTree()
	c.Label, c.Split, c.Ignore = "class", dataset.Shares{100, 0, 0}, []string{"id", "weight"}
	c.Input = []string{newRows(n).write(t, ascending(n), 2, parquetio.WriteOptions{})}
	trees := make([]*tree.Tree, 0, 3)
	for _, factor := range []float64{1, 0.001, 1000} {
		c.ClassWeightsFile = textFile(t, "weights.csv", fmt.Sprintf("class,weight\nlow,%v\nmiddle,%v\nhigh,%v\n",
			factor, 2*factor, 6*factor))
		trees = append(trees, mustTrain(t, c).Tree)
	}
	for _, other := range trees[1:] {
		for i := range other.Nodes { // units differ, so last digits do
			if i >= len(trees[0].Nodes) || other.Nodes[i].Rows != trees[0].Nodes[i].Rows {
				t.Fatalf("node %d has other rows by the factors %v", i, other.Training.ClassWeights)
			}
			if diff := cmp.Diff(trees[0].Nodes[i].Probabilities, other.Nodes[i].Probabilities, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("node %d by the factors %v:\n%s", i, other.Training.ClassWeights, diff)
			}
		}
	}
}

// TestBalanced: scikit-learn 1.9.1, over the 958 rows of the example:
//
//	compute_class_weight("balanced", classes=numpy.unique(y), y=y)
//	[1.44277108 0.76517572]
func TestBalanced(t *testing.T) {
	c := oneTree()
	c.Input, c.Label, c.Split = []string{filepath.Join("..", "..", "cmd", "espalier", "example", "tic-tac-toe.parquet")}, "class", dataset.Shares{100, 0, 0}
	c.BalanceClasses = true
	r := mustTrain(t, c)
	for k, want := range []float64{1.44277108, 0.76517572} {
		if got := r.Tree.Training.ClassWeights[k]; math.Abs(got-want) > 0.5e-6 {
			t.Errorf("class %q: weight %v, want %v", r.Tree.Label.Classes[k], got, want)
		}
	}
	// All classes weigh the same, and all together what the rows did.
	for k, w := range r.Tree.Nodes[0].RawClassWeights {
		if math.Abs(float64(w)/1e6-479) > 0.001 {
			t.Errorf("class %q weighs %d, want 958/2 in units of 1e-6", r.Tree.Label.Classes[k], w)
		}
	}
	m := r.Metrics.Train
	if r.Tree.Training.WeightScale != 1_000_000 || math.Abs(float64(m.Weight)/m.WeightScale-958) > 0.001 || m.Rows != 958 ||
		m.Weights != "class_weights" {
		t.Errorf("training %+v, metrics of %d rows by %q in units of 1/%v", r.Tree.Training, m.Rows, m.Weights, m.WeightScale)
	}
	// By hand: where all classes weigh the same, accuracy is the mean recall.
	if math.Abs(*m.Accuracy-*m.BalancedAccuracy) > 1e-5 {
		t.Errorf("accuracy %v, balanced accuracy %v", *m.Accuracy, *m.BalancedAccuracy)
	}
	c.Split = dataset.Shares{70, 10, 20}
	r = mustTrain(t, c)
	m = r.Metrics.Test // also judged where all classes weigh the same
	if m.Weights != "class_weights" || math.Abs(float64(m.Weight)/m.WeightScale-float64(m.Rows)) > 0.001 ||
		math.Abs(*m.Accuracy-*m.BalancedAccuracy) > 0.01 {
		t.Errorf("test rows: weight %v of %d rows by %q, accuracy %v, balanced accuracy %v", float64(m.Weight)/m.WeightScale, m.Rows,
			m.Weights, *m.Accuracy, *m.BalancedAccuracy)
	}
}

// TestZeroClassWeight: rows of a class of weight 0 are left out of training and
// counted; the class stays, with probability 0.
func TestZeroClassWeight(t *testing.T) {
	c := fruitConfig(t)
	c.ClassWeightsFile = textFile(t, "weights.csv", "class,weight\nmelon,0\n")
	r := mustTrain(t, c)
	got := r.Tree.Training
	if got.Rows != 7 || got.LeftOutRows != 1 || got.WeightScale != 0 || !cmp.Equal(got.ClassWeights, []float64{1, 1, 0}) {
		t.Errorf("training %+v, want 7 rows and 1 left out", got)
	}
	if p := r.Tree.Nodes[0].Probabilities; p[2] != 0 || r.Tree.Complexity.Leaves != 2 {
		t.Errorf("root %v, %d leaves: want no melon, and one test", p, r.Tree.Complexity.Leaves)
	}
	c.ClassWeightsFile = textFile(t, "weights.csv", "class,weight\nmelon,0\nlime,0\ncherry,0\n")
	if _, err := train.Train(t.Context(), c, new(silent)); err == nil || !strings.Contains(err.Error(), "weight 0") {
		t.Errorf("no class has a weight: %v", err)
	}
}

// TestPriorsAndErrorCosts: fruit by hand. Unsmoothed, a leaf of each color or size
// is pure, and the root has the priors.
func TestPriorsAndErrorCosts(t *testing.T) {
	c := fruitConfig(t)
	c.LeafEstimate, c.MaxDepth = tree.Raw, 1
	c.PriorsFile = textFile(t, "priors.csv", "class,prior\nmelon,50\ncherry,25\nlime,25\n")
	warnsOfPriors := func(c config.Train, want string) {
		t.Helper()
		reporter := new(silent)
		c.Output = filepath.Join(t.TempDir(), "warned")
		if _, err := train.Train(t.Context(), c, reporter); err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(reporter.warnings, func(text string) bool { return strings.Contains(text, "--priors") })
		if (at >= 0) != (want != "") || at >= 0 && reporter.warnings[at] != want {
			t.Errorf("warnings %q, want %q", reporter.warnings, want)
		}
	}
	warnsOfPriors(c, "--priors: the sum is 100, not 1: they are read as cherry=0.25, lime=0.25, melon=0.5")
	thirds := c
	thirds.PriorsFile = "melon=0.33,cherry=0.33,lime=0.33"
	warnsOfPriors(thirds, "")
	r := mustTrain(t, c)
	if diff := cmp.Diff([]float64{.25, .25, .5}, r.Tree.Label.Priors); diff != "" {
		t.Errorf("priors (-want +got):\n%s", diff)
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff([]float64{.25, .25, .5}, r.Tree.Nodes[0].Probabilities, near); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	// Three of the four green fruits are limes, 0.25/(3/8) each, and one is a melon, 0.5/(1/8).
	green := r.Tree.Nodes[1]
	if green.RawClassWeights[0] > 0 {
		green = r.Tree.Nodes[2]
	}
	if diff := cmp.Diff([]float64{0, 1. / 3, 2. / 3}, green.Probabilities, near); diff != "" || green.Class != 2 {
		t.Errorf("green: class %d, probabilities (-want +got):\n%s", green.Class, diff)
	}

	c.PriorsFile = ""
	c.ErrorCostsFile = textFile(t, "errors.csv", "actual,predicted,cost\nmelon,lime,5\n")
	c.Output = filepath.Join(t.TempDir(), "run")
	r, err := train.Train(t.Context(), c, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{0, 1, 1}, {1, 0, 1}, {1, 5, 0}}, r.Tree.Label.ErrorCosts); diff != "" {
		t.Errorf("error costs (-want +got):\n%s", diff)
	}
	// To call all green ones melons costs 3, to call them limes 5.
	_, m, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: c.Output, Input: c.Input}, new(silent))
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]*float64{"train": r.Metrics.Train.ExpectedErrorCost, "evaluate": m.Test.ExpectedErrorCost} {
		if got == nil || *got != 3./8 {
			t.Errorf("%s: expected error cost %v, want 3/8", what, got)
		}
	}
}

// broken trains to the end, then again into another folder until the run is interrupted. It
// returns the documents of the first run, and sets the configuration to resume the second.
func broken(t *testing.T, c *config.Train) string {
	t.Helper()
	if _, err := train.Train(t.Context(), *c, new(silent)); err != nil {
		t.Fatal(err)
	}
	want := readRun(t, c.Output)
	c.Output = filepath.Join(t.TempDir(), "resumed")
	if _, err := trainUntil(t, *c, 4); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that the run was interrupted", err)
	}
	c.Resume = true
	return want
}

// resumes resumes a run, and compares its documents with the documents of an uninterrupted run.
func resumes(t *testing.T, c config.Train, want string) {
	t.Helper()
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		t.Fatal(err)
	}
	if got := readRun(t, c.Output); got != want {
		t.Errorf("another run than an unbroken one (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestResumeByClass: what files contain about classes, and the cuts of a file, belong to a checkpoint.
func TestResumeByClass(t *testing.T) {
	c := resumable(t)
	c.ClassWeightsFile = textFile(t, "weights.csv", "class,weight\nhigh,2.5\n")
	c.ErrorCostsFile = textFile(t, "errors.csv", "actual,predicted,cost\nhigh,low,3\n")
	c.CutsFile = textFile(t, "cuts.csv", "feature,cut\na,2\na,1\n")
	c.PriorsFile = "high=1,low=1,middle=2"
	want := broken(t, &c)
	for flag, url := range map[string]string{"class_weights": c.ClassWeightsFile, "error_costs": c.ErrorCostsFile, "cuts": c.CutsFile} {
		b, err := os.ReadFile(url)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(b) + "\n", string(b)} {
			if err := os.WriteFile(url, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if text == string(b) {
				continue // as it was
			}
			if _, err := train.Train(t.Context(), c, new(silent)); err == nil || !strings.Contains(err.Error(), "--"+flag+" has changed") {
				t.Errorf("%s: %v", flag, err)
			}
		}
	}
	changed := c
	changed.PriorsFile = "high=1,low=1,middle=3"
	if _, err := train.Train(t.Context(), changed, new(silent)); err == nil || !strings.Contains(err.Error(), "--priors has become") {
		t.Errorf("other priors: %v", err)
	}
	resumes(t, c, want)
}
