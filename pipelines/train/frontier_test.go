package train_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// ticTacToe is the default preset on the shipped example.
func ticTacToe(t *testing.T) config.Train {
	t.Helper()
	c := config.DefaultTrain()
	c.Input, c.Label = []string{filepath.Join("..", "..", "cmd", "espalier", "example", "tic-tac-toe.parquet")}, "class"
	c.Output, c.FrontierStep = filepath.Join(t.TempDir(), "run"), 0
	return c
}

func trained(t *testing.T, c config.Train) *train.Result {
	t.Helper()
	r, err := train.Train(context.Background(), c, &silent{})
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

// TestFrontier: cost and merit rise from point to point, except for the chosen point, which is
// chosen by its score; the trees next to frontier.json are the trees of the points; the chosen tree
// is the run's tree, with the metrics of its point.
func TestFrontier(t *testing.T) {
	c := ticTacToe(t)
	r := trained(t, c)
	f := r.Frontier
	// 29: ec45 by four lambdas and c45 with two families of tests, the first of them with two thetas, ec45 with two other ways
	// to count prices, and all with the first family with one and two features on a path.
	if f.Grown != 1+5*2+4*2+5*2 || f.Pruned < 100 || f.Folds != 5 || len(f.Points) < 15 {
		t.Fatalf("%d points of %d prunings of %d trees, %d folds", len(f.Points), f.Pruned, f.Grown, f.Folds)
	}
	before := &runfolder.Point{Merit: -1}
	before.ExpectedCost = -1
	for i := range f.Points {
		p := &f.Points[i]
		if !p.Selected {
			if p.ExpectedCost <= before.ExpectedCost || p.Merit <= before.Merit {
				t.Errorf("point %d does not rise above the one before: %v for %v after %v for %v", i, p.Merit, p.ExpectedCost, before.Merit, before.ExpectedCost)
			}
			before = p
		}
		if mean := *p.Validation.AUC/8 + *p.Folds*7/8; math.Abs(p.Merit-mean) > averaged { // of 10 and 70 % of the rows
			t.Errorf("point %d: merit %v, want about the mean of both areas, %v", i, p.Merit, mean)
		}
		if p.Leaves == 1 && p.Merit != 0.5 { // by hand: a single leaf ranks nothing
			t.Errorf("point %d: a single leaf has the merit %v", i, p.Merit)
		}
		read := readTree(t, c.Output, p.Tree)
		if diff := cmp.Diff(p.Complexity, read.Complexity); diff != "" {
			t.Errorf("%s (-point +tree):\n%s", p.Tree, diff)
		}
		if !p.Selected {
			continue
		}
		chosen := readTree(t, c.Output, "tree.json")
		if c := chosen.Certificate; c == nil || c.LowerBound <= 0 || c.LowerBound > c.ExpectedCost {
			t.Errorf("certificate %+v", c)
		}
		if diff := cmp.Diff(chosen, read); diff != "" {
			t.Errorf("tree.json and %s:\n%s", p.Tree, diff)
		}
		if *p.Validation.AUC != *r.Metrics.Validation.AUCOvRMacro || *p.Test.AUC != *r.Metrics.Test.AUCOvRMacro ||
			p.Validation.Low != r.Metrics.Validation.Intervals.AUCOvRMacro.Low || *p.Test.LogLoss-*r.Metrics.Test.LogLoss > 1e-12 {
			t.Errorf("%s: %+v and %+v, metrics.json %v and %v", p.Tree, p.Validation, p.Test, r.Metrics.Validation, r.Metrics.Test)
		}
	}
}

// TestFolds: the report agrees with the point that was chosen and with the tree, and
// its means and shares with each other.
func TestFolds(t *testing.T) {
	for _, folds := range []int{2, 7} {
		c := fewTrees(ticTacToe(t))
		c.Folds = crossvalidate.Setting{Number: folds}
		r := trained(t, c)
		f := r.Metrics.Folds
		if f.Count != folds || len(f.Each) != f.Count {
			t.Fatalf("%d folds with %d figures, want %d", f.Count, len(f.Each), folds)
		}
		chosen := slices.IndexFunc(r.Frontier.Points, func(p runfolder.Point) bool { return p.Selected })
		if want := *r.Frontier.Points[chosen].Folds; *f.Mean.AUCOvRMacro != want {
			t.Errorf("mean area %v, want that of the point, %v", *f.Mean.AUCOvRMacro, want)
		}
		rows, squares, leaves := int64(0), 0.0, 0.0
		for _, one := range f.Each {
			rows += one.Rows
			squares += (*one.AUCOvRMacro - *f.Mean.AUCOvRMacro) * (*one.AUCOvRMacro - *f.Mean.AUCOvRMacro)
			leaves += float64(one.Leaves)
		}
		if want := math.Sqrt(squares / float64(f.Count-1)); math.Abs(*f.StandardDeviation.AUCOvRMacro-want) > 1e-12 || want == 0 {
			t.Errorf("standard deviation %v, want %v", *f.StandardDeviation.AUCOvRMacro, want)
		}
		if rows != r.Tree.Training.Rows || math.Abs(*f.Mean.Leaves*float64(f.Count)-leaves) > 1e-9 {
			t.Errorf("%d rows, %v leaves in the mean of %v in all", rows, *f.Mean.Leaves, leaves)
		}
		at := 0
		for i := range r.Tree.Nodes {
			n := &r.Tree.Nodes[i]
			if n.Leaf() {
				continue
			}
			s := &f.Splits[at]
			if s.Node != i || s.Feature != r.Tree.Features[n.Test.Feature].Name || s.SameTest > s.SameFeature || s.SameFeature > 1 {
				t.Errorf("split %d: %+v", i, s)
			}
			at++
		}
		if at != len(f.Splits) || f.Splits[0].SameTest < 0.5 { // middle_middle tells most by far
			t.Errorf("%d splits of %d inner nodes, the root's test is that of %v of the trees", len(f.Splits), at, f.Splits[0].SameTest)
		}
		var read runfolder.Metrics
		b, err := os.ReadFile(filepath.Join(c.Output, "metrics.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f, read.Folds); diff != "" {
			t.Errorf("metrics.json (-result +file):\n%s", diff)
		}
	}
	c := fewTrees(ticTacToe(t))
	c.Folds = crossvalidate.Setting{}
	if trained(t, c).Metrics.Folds != nil {
		t.Error("a report of folds that were not grown")
	}
}

// TestOneObject: rows that are all equal are one object, but are dealt to folds one by one. Their
// tree is a leaf.
func TestOneObject(t *testing.T) {
	n := 40
	class, same := make([]string, n), slices.Repeat([]float64{1}, n)
	for i := range class {
		class[i] = []string{"a", "b"}[i%2]
	}
	file := filepath.Join(t.TempDir(), "one.parquet")
	columns := []parquetio.WriteColumn{{Name: "same", Values: same}, {Name: "class", Values: class}}
	if err := parquetio.Write(context.Background(), objectstore.New(), file, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c := ticTacToe(t)
	c.Input, c.Folds = []string{file}, crossvalidate.Setting{Number: 5}
	r, rows := trained(t, c), int64(0)
	for _, fold := range r.Metrics.Folds.Each {
		rows += fold.Rows
	}
	if len(r.Tree.Nodes) != 1 || rows != r.Tree.Training.Rows {
		t.Errorf("%d nodes, folds of %d rows, want a leaf, and each of %d rows in a fold", len(r.Tree.Nodes), rows, r.Tree.Training.Rows)
	}
}

// averaged bounds how far the mean over neighbouring prunings is from a pruning's
// own area on tic-tac-toe.
const averaged = 0.02

// TestSelect: budgets and rules choose from the same frontier, and a budget query
// has the highest point within the budget.
func TestSelect(t *testing.T) {
	highest := fewTrees(ticTacToe(t))
	highest.Select = frontier.Highest
	top := trained(t, highest)
	all, dearest := top.Frontier.Points, top.Tree.Complexity
	within := func(ok func(p *runfolder.Point) bool) tree.Complexity {
		best := -1
		for i := range all {
			if ok(&all[i]) {
				best = i
			}
		}
		return all[best].Complexity
	}
	for _, budget := range []float64{0.5, 2.2, 3, 4} {
		c := fewTrees(ticTacToe(t))
		c.Select, c.MaxExpectedCost = frontier.Highest, budget
		want := within(func(p *runfolder.Point) bool { return p.ExpectedCost <= budget })
		if got := trained(t, c).Tree.Complexity; got != want {
			t.Errorf("--max_expected_cost %v: %+v, want %+v", budget, got, want)
		}
	}
	for _, rule := range []frontier.Rule{frontier.Best, frontier.OneSE, frontier.Paper} {
		c := fewTrees(ticTacToe(t))
		c.Select = rule
		if got := trained(t, c).Tree.Complexity; got.ExpectedCost > dearest.ExpectedCost {
			t.Errorf("--select %s: dearer than the highest, %v after %v", rule, got.ExpectedCost, dearest.ExpectedCost)
		}
	}
	c := fewTrees(ticTacToe(t))
	c.MaxTests = 2
	if got := trained(t, c).Tree; got.PaidTests() > 2 || got.Complexity.Leaves < 2 {
		t.Errorf("--max_tests 2: %d paid tests, %+v", got.PaidTests(), got.Complexity)
	}
	c = fewTrees(ticTacToe(t))
	c.MaxCost, c.MaxLeaves = 4, 9
	if got := trained(t, c).Tree.Complexity; got.MaxCost > 4 || got.Leaves > 9 || got.Leaves < 2 {
		t.Errorf("--max_cost 4 --max_leaves 9: %+v", got)
	}
}

// TestTolerance: the chosen tree is cheaper than all listed trees of its score or more, its score is
// within the tolerance of the highest one, and frontier.json has both. A tolerance below what chance
// gives changes nothing, and one above it chooses a cheaper tree.
func TestTolerance(t *testing.T) {
	cost := make(map[float64]float64)
	for _, tolerance := range []float64{0, 0.0001, 0.03} {
		c := fewTrees(ticTacToe(t))
		c.Tolerance, c.FrontierStep = &tolerance, 0
		f := trained(t, c).Frontier
		chosen := slices.IndexFunc(f.Points, func(p runfolder.Point) bool { return p.Selected })
		score, top := *f.Points[chosen].Score, 0.0
		for i := range f.Points {
			p := &f.Points[i]
			if top = max(top, *p.Score); p.ExpectedCost < f.Points[chosen].ExpectedCost && *p.Score >= score {
				t.Errorf("tolerance %v: point %d is cheaper than the chosen point %d, and its score is %v, not below %v", tolerance, i, chosen, *p.Score, score)
			}
		}
		// 787 rows have an area of about 0.99 with a standard error of 0.003. What chance gives and the tolerance add up.
		if f.Tolerance != tolerance || score < top-tolerance-0.4*0.01-1e-12 || !f.Points[len(f.Points)-1].Highest && !f.Points[chosen].Highest {
			t.Errorf("tolerance %v (written %v): chosen point %d of %d with the score %v, the highest is %v", tolerance, f.Tolerance, chosen, len(f.Points), score, top)
		}
		if rows := f.Evidence[0] + f.Evidence[1]; rows != 787 { // 682 training and 105 validation rows
			t.Errorf("tolerance %v: evidence %v", tolerance, f.Evidence)
		}
		cost[tolerance] = f.Points[chosen].ExpectedCost
	}
	if cost[0] != cost[0.0001] || cost[0.03] >= cost[0] {
		t.Errorf("expected costs by tolerance: %v", cost)
	}
}

// TestSelectTotal: the chosen tree has the least cost of tests and errors among all that are listed,
// a single leaf is one of them, and the costs by part are those of metrics.json. Where tests are
// dear a single leaf is chosen; where they are cheap, or errors dear, a tree.
func TestSelectTotal(t *testing.T) {
	longtest.Skip(t)
	for _, c := range []struct {
		wrong  [2]int // cost of a wrong positive, and of a wrong negative
		budget float64
		leaves [2]int // fewest and most
	}{{[2]int{3, 1}, 0, [2]int{1, 1}}, {[2]int{40, 40}, 0, [2]int{2, 200}}, {[2]int{40, 40}, 1.5, [2]int{2, 5}}} {
		settings := fewTrees(ticTacToe(t))
		settings.Select, settings.MaxExpectedCost = frontier.Total, c.budget
		settings.ErrorCostsFile = textFile(t, "errors.csv", fmt.Sprintf("actual,predicted,cost\nnegative,positive,%d\npositive,negative,%d\n",
			c.wrong[0], c.wrong[1]))
		r := trained(t, settings)
		bare, chosen := false, (*runfolder.Point)(nil)
		for i := range r.Frontier.Points {
			p := &r.Frontier.Points[i]
			if bare = bare || p.Leaves == 1; p.Selected {
				chosen = p
			}
		}
		if !bare || !chosen.LeastTotal || chosen.Leaves < c.leaves[0] || chosen.Leaves > c.leaves[1] {
			t.Errorf("%+v: chosen %+v, a single leaf listed: %v", c, chosen, bare)
		}
		for i := range r.Frontier.Points {
			p := &r.Frontier.Points[i]
			within := c.budget == 0 || p.ExpectedCost <= c.budget
			if within && *p.ExpectedTotalCost < *chosen.ExpectedTotalCost-1e-9 {
				t.Errorf("%+v: %s costs %v in all, chosen %v", c, p.Tree, *p.ExpectedTotalCost, *chosen.ExpectedTotalCost)
			}
		}
		for name, part := range map[string]struct {
			got  metric.Judgement
			want *metric.Metrics
		}{"validation": {chosen.Validation, r.Metrics.Validation}, "test": {chosen.Test, r.Metrics.Test}} {
			total := *part.want.ExpectedErrorCost + *part.want.ExpectedCost
			if math.Abs(*part.got.ErrorCost-*part.want.ExpectedErrorCost) > 1e-9 ||
				math.Abs(*part.got.TotalCost-total) > 1e-9 || math.Abs(*part.got.Accuracy-*part.want.Accuracy) > 1e-12 {
				t.Errorf("%+v: %s: %+v, want error cost %v and total %v", c, name, part.got, *part.want.ExpectedErrorCost, total)
			}
		}
	}
	c := fewTrees(ticTacToe(t))
	c.Select = frontier.Total
	if _, err := train.Train(t.Context(), c, &silent{}); err == nil || !strings.Contains(err.Error(), "give --error_costs") {
		t.Errorf("without error costs: %v", err)
	}
}

// TestSelectFirst: the first tree of the grid as it was grown, or pruned at a given
// alpha.
func TestSelectFirst(t *testing.T) {
	c := ticTacToe(t)
	c.Select = frontier.First
	r := trained(t, c)
	if a := r.Tree.Algorithm; r.Frontier != nil || a.Name != "ec45" || a.Lambda != 10 || a.Theta != 0.005 || a.Prune != "none" {
		t.Errorf("frontier %v, tree by %+v", r.Frontier, a)
	}
	c = ticTacToe(t)
	c.Select, c.Prune, c.Alpha = frontier.First, []prune.Currency{prune.Cost}, new(0.2)
	pruned := trained(t, c).Tree
	if pruned.Complexity.ExpectedCost >= r.Tree.Complexity.ExpectedCost || pruned.Algorithm.Prune != "cost" || pruned.Algorithm.Alpha > 0.2 {
		t.Errorf("pruned at 0.2: %+v by %+v, un-pruned %+v", pruned.Complexity, pruned.Algorithm, r.Tree.Complexity)
	}
}

// TestNoValidationRows: without validation rows folds take their place. Without folds either the tree is the
// first one, and the user is told.
func TestNoValidationRows(t *testing.T) {
	c := fewTrees(ticTacToe(t))
	c.Split, c.Folds = dataset.Shares{100, 0, 0}, crossvalidate.Setting{}
	if r := trained(t, c); r.Frontier != nil || r.Tree.Algorithm.Prune != "none" || r.Tree.Training.Rows != 958 {
		t.Errorf("a frontier without rows to judge it by: %+v", r.Frontier)
	}
	c = fewTrees(ticTacToe(t))
	c.Split, c.Folds = dataset.Shares{100, 0, 0}, crossvalidate.Setting{Auto: true}
	if r := trained(t, c); r.Frontier == nil || r.Frontier.Folds != crossvalidate.AutoFolds {
		t.Errorf("folds auto without validation rows: %+v", r.Frontier)
	}
	c = fewTrees(ticTacToe(t))
	c.Split, c.Folds = dataset.Shares{100, 0, 0}, crossvalidate.Setting{Number: 4}
	r := trained(t, c)
	if r.Frontier == nil || r.Frontier.Folds != 4 || r.Tree.Training.Rows != 958 {
		t.Fatalf("by cross-validation: %+v", r.Frontier)
	}
	for _, p := range r.Frontier.Points {
		if p.Validation.AUC != nil || p.Folds == nil || math.Abs(p.Merit-*p.Folds) > averaged {
			t.Errorf("point %+v: want the merit of the folds", p)
		}
	}
}

// TestFrontierOverwritten: trees of an earlier run's frontier do not stay.
func TestFrontierOverwritten(t *testing.T) {
	c := fewTrees(ticTacToe(t))
	trained(t, c)
	c.Overwrite, c.FrontierStep = true, 0.1
	points := trained(t, c).Frontier.Points
	names, err := filepath.Glob(filepath.Join(c.Output, "frontier", "*.json"))
	if err != nil || len(names) != len(points) {
		t.Errorf("%d trees of %d points, %v", len(names), len(points), err)
	}
	c.Select = frontier.First
	trained(t, c)
	if names, err = filepath.Glob(filepath.Join(c.Output, "frontier*", "*")); err != nil || len(names) > 0 {
		t.Errorf("a run without a frontier leaves %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(c.Output, "frontier.json")); !os.IsNotExist(err) {
		t.Errorf("a run without a frontier leaves frontier.json: %v", err)
	}
}

func TestGridFaults(t *testing.T) {
	for want, set := range map[string]func(c *config.Train){
		"--lambda -1: want a number":               func(c *config.Train) { c.Lambda = []float64{1, -1} },
		"want one of first, best, highest, one_se": func(c *config.Train) { c.Select = 0 },
		"--prune: pruning currency":                func(c *config.Train) { c.Prune = []prune.Currency{9} },
		"name it with --prune":                     func(c *config.Train) { c.Alpha = new(0.1) },
		"--alpha -1":                               func(c *config.Train) { c.Prune, c.Alpha = []prune.Currency{prune.Cost}, new(float64(-1)) },
		"--folds 1":                                func(c *config.Train) { c.Folds = crossvalidate.Setting{Number: 1} },
		"make 0 trees":                             func(c *config.Train) { c.Theta = nil },
		"--max_expected_cost":                      func(c *config.Train) { c.MaxExpectedCost = -1 },
	} {
		c := ticTacToe(t)
		set(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
}
