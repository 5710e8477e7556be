package pipelines_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/pipelines"
)

// ticTacToe is the default preset on the shipped example.
func ticTacToe(t *testing.T) pipelines.TrainConfig {
	t.Helper()
	c := pipelines.DefaultConfig()
	c.Input, c.Label = []string{filepath.Join("..", "cmd", "espalier", "example", "tic-tac-toe.parquet")}, "class"
	c.Output, c.FrontierStep = filepath.Join(t.TempDir(), "run"), 0
	return c
}

func trained(t *testing.T, c pipelines.TrainConfig) *pipelines.Result {
	t.Helper()
	r, err := pipelines.Train(context.Background(), c, &silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readTree(t *testing.T, elem ...string) *tree.Tree {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := tree.Decode(b)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
	return decoded
}

// TestFrontier: cost and merit rise from point to point; the trees beside are
// those of the points; the chosen one is the run's, with the metrics of its point.
func TestFrontier(t *testing.T) {
	c := ticTacToe(t)
	r := trained(t, c)
	f := r.Frontier
	if f.Grown != 16 || f.Pruned < 100 || f.Folds != 5 || len(f.Points) < 15 { // 16: ec45 by three lambdas and c45, by two thetas and two families of tests
		t.Fatalf("%d points of %d prunings of %d trees, %d folds", len(f.Points), f.Pruned, f.Grown, f.Folds)
	}
	for i := range f.Points {
		p := &f.Points[i]
		if i > 0 && (p.ExpectedCost <= f.Points[i-1].ExpectedCost || p.Merit <= f.Points[i-1].Merit) {
			t.Errorf("point %d does not rise above the one before: %v for %v after %v for %v", i, p.Merit, p.ExpectedCost, f.Points[i-1].Merit, f.Points[i-1].ExpectedCost)
		}
		if want := (*p.Validation.AUC + *p.Folds) / 2; p.Merit != want {
			t.Errorf("point %d: merit %v, want half of both areas, %v", i, p.Merit, want)
		}
		read := readTree(t, c.Output, p.Tree)
		if diff := cmp.Diff(p.Complexity, read.Complexity); diff != "" {
			t.Errorf("%s (-point +tree):\n%s", p.Tree, diff)
		}
		if !p.Selected {
			continue
		}
		if diff := cmp.Diff(readTree(t, c.Output, "tree.json"), read); diff != "" {
			t.Errorf("tree.json and %s:\n%s", p.Tree, diff)
		}
		if *p.Validation.AUC != *r.Metrics.Validation.AUCOvRMacro || *p.Test.AUC != *r.Metrics.Test.AUCOvRMacro ||
			p.Validation.Low != r.Metrics.Validation.Intervals.AUCOvRMacro.Low || *p.Test.LogLoss-*r.Metrics.Test.LogLoss > 1e-12 {
			t.Errorf("%s: %+v and %+v, metrics.json %v and %v", p.Tree, p.Validation, p.Test, r.Metrics.Validation, r.Metrics.Test)
		}
	}
}

// TestSelect: budgets and rules choose from the same frontier, and a budget query
// has the best point within the budget.
func TestSelect(t *testing.T) {
	all := trained(t, ticTacToe(t)).Frontier.Points
	within := func(ok func(p *pipelines.FrontierPoint) bool) tree.Complexity {
		best := -1
		for i := range all {
			if ok(&all[i]) {
				best = i
			}
		}
		return all[best].Complexity
	}
	for _, budget := range []float64{0.5, 2.2, 3, 4} {
		c := ticTacToe(t)
		c.MaxExpectedCost = budget
		want := within(func(p *pipelines.FrontierPoint) bool { return p.ExpectedCost <= budget })
		if got := trained(t, c).Tree.Complexity; got != want {
			t.Errorf("--max_expected_cost %v: %+v, want %+v", budget, got, want)
		}
	}
	best := trained(t, ticTacToe(t)).Tree.Complexity
	for _, rule := range []string{"knee", "one_se", "one_percent", "paper"} {
		c := ticTacToe(t)
		c.Select = rule
		if got := trained(t, c).Tree.Complexity; got.ExpectedCost > best.ExpectedCost {
			t.Errorf("--select %s: dearer than the best, %v after %v", rule, got.ExpectedCost, best.ExpectedCost)
		}
	}
	c := ticTacToe(t)
	c.MaxCost, c.MaxLeaves = 4, 9
	if got := trained(t, c).Tree.Complexity; got.MaxCost > 4 || got.Leaves > 9 || got.Leaves < 2 {
		t.Errorf("--max_cost 4 --max_leaves 9: %+v", got)
	}
}

// TestSelectFirst: the first tree of the grid as it was grown, or pruned at a given
// alpha.
func TestSelectFirst(t *testing.T) {
	c := ticTacToe(t)
	c.Select = "first"
	r := trained(t, c)
	if a := r.Tree.Algorithm; r.Frontier != nil || a.Name != "ec45" || a.Lambda != 10 || a.Theta != 0.005 || a.Prune != "none" {
		t.Errorf("frontier %v, tree by %+v", r.Frontier, a)
	}
	c = ticTacToe(t)
	c.Select, c.Prune, c.Alpha = "first", pipelines.Choices{"cost"}, "0.2"
	pruned := trained(t, c).Tree
	if pruned.Complexity.ExpectedCost >= r.Tree.Complexity.ExpectedCost || pruned.Algorithm.Prune != "cost" || pruned.Algorithm.Alpha > 0.2 {
		t.Errorf("pruned at 0.2: %+v by %+v, un-pruned %+v", pruned.Complexity, pruned.Algorithm, r.Tree.Complexity)
	}
}

// TestNoValidationRows: without rows to choose by the tree is the first one, and
// the user is told; folds take their place.
func TestNoValidationRows(t *testing.T) {
	c := ticTacToe(t)
	c.Split = "100/0/0"
	if r := trained(t, c); r.Frontier != nil || r.Tree.Algorithm.Prune != "none" || r.Tree.Training.Rows != 958 {
		t.Errorf("a frontier without rows to judge it by: %+v", r.Frontier)
	}
	c = ticTacToe(t)
	c.Split, c.Folds = "100/0/0", "4"
	r := trained(t, c)
	if r.Frontier == nil || r.Frontier.Folds != 4 || r.Tree.Training.Rows != 958 {
		t.Fatalf("by cross-validation: %+v", r.Frontier)
	}
	for _, p := range r.Frontier.Points {
		if p.Validation.AUC != nil || p.Folds == nil || p.Merit != *p.Folds {
			t.Errorf("point %+v: want the merit of the folds", p)
		}
	}
}

// TestFrontierOverwritten: trees of an earlier run's frontier do not stay.
func TestFrontierOverwritten(t *testing.T) {
	c := ticTacToe(t)
	trained(t, c)
	c.Overwrite, c.FrontierStep = true, 0.1
	points := trained(t, c).Frontier.Points
	names, err := filepath.Glob(filepath.Join(c.Output, "frontier", "*"))
	if err != nil || len(names) != len(points) {
		t.Errorf("%d trees of %d points, %v", len(names), len(points), err)
	}
	c.Select = "first"
	trained(t, c)
	if names, err = filepath.Glob(filepath.Join(c.Output, "frontier*", "*")); err != nil || len(names) > 0 {
		t.Errorf("a run without a frontier leaves %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(c.Output, "frontier.json")); !os.IsNotExist(err) {
		t.Errorf("a run without a frontier leaves frontier.json: %v", err)
	}
}

func TestGridFaults(t *testing.T) {
	for want, set := range map[string]func(c *pipelines.TrainConfig){
		"--lambda x: want a number": func(c *pipelines.TrainConfig) { c.Lambda = pipelines.Choices{"1", "x"} },
		"want first, best, knee":    func(c *pipelines.TrainConfig) { c.Select = "median" },
		"pruning currency":          func(c *pipelines.TrainConfig) { c.Prune = pipelines.Choices{"depth"} },
		"name it with --prune":      func(c *pipelines.TrainConfig) { c.Alpha = "0.1" },
		"--alpha -1":                func(c *pipelines.TrainConfig) { c.Prune, c.Alpha = pipelines.Choices{"cost"}, "-1" },
		"--folds 1":                 func(c *pipelines.TrainConfig) { c.Folds = "1" },
		"make 0 trees":              func(c *pipelines.TrainConfig) { c.Theta = nil },
		"--max_expected_cost":       func(c *pipelines.TrainConfig) { c.MaxExpectedCost = -1 },
	} {
		c := ticTacToe(t)
		set(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
}

// TestChoices: a value, a number and a list in JSON.
func TestChoices(t *testing.T) {
	for text, want := range map[string]pipelines.Choices{
		`10`: {"10"}, `"auto"`: {"auto"}, `[1, "c45", 0.001]`: {"1", "c45", "0.001"}, `[]`: nil,
	} {
		var got pipelines.Choices
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again pipelines.Choices
		if err := json.Unmarshal(b, &again); err != nil || !slices.Equal(again, want) {
			t.Errorf("%s: %s reads back as %v, %v", text, b, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"a": 1}`), new(pipelines.Choices)); err == nil {
		t.Error("an object is no list of choices")
	}
}
