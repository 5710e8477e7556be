package benchmark_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/bench/experiments/benchmark"
	"github.com/espalier-ml/espalier/bench/experiments/ranking"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/engine"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// newPublished returns a configuration with published figures of two data sets. The manifest has
// the published name of one of them.
func newPublished(t *testing.T) benchmark.Config {
	t.Helper()
	c := newConfig(t)
	c.Published, c.Budgets = filepath.Join(t.TempDir(), "published.csv"), "default"
	for file, text := range map[string]string{
		c.Published: "dataset,ROC AUC:EC4.5,Cost:EC4.5,ROC AUC (ccp):CART,Cost (ccp):CART,Runtime:EC4.5\n" +
			"solo,0.6,3.5,0.7,0.5,1\nfirst of two,0.7,4,,,2\nelsewhere,1,1,1,1,1\n",
		filepath.Join(c.Folder, "MANIFEST.tsv"): "name\tpaper_name\none\tfirst of two\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestPublished compares the figures next to published figures with the splits. The budget query
// must be the query of training with --max_expected_cost and --select highest.
func TestPublished(t *testing.T) {
	c := newPublished(t)
	r := run(t, c)
	var got []string
	for _, p := range r.Published {
		got = append(got, p.Set+" "+p.Method)
		var areas, costs []float64
		for _, s := range r.Splits {
			for _, f := range s.Figures {
				method := f.Algorithm
				if f.Pruned {
					method = "p-" + method
				}
				if s.Set == p.Set && method == p.Method && f.Costs == benchmark.UnitCosts {
					areas, costs = append(areas, f.AUC), append(costs, f.Cost)
				}
			}
		}
		want := benchmark.Means{
			AUC: ranking.Mean(areas), AUCDeviation: ranking.Deviation(areas),
			Cost: ranking.Mean(costs), CostDeviation: ranking.Deviation(costs),
		}
		if p.Ours != want {
			t.Errorf("%s %s: %+v, want %+v", p.Set, p.Method, p.Ours, want)
		}
	}
	if want := []string{"one ec45", "solo ec45", "solo p-cart"}; !cmp.Equal(got, want) {
		t.Errorf("published points %v, want %v", got, want)
	}
	p := r.Published[1]
	areas := make([]float64, c.Splits)
	for i := range areas {
		areas[i] = trainedWithin(t, &c, uint64(i+1), p.Cost)
	}
	if want := ranking.Mean(areas); p.Budget == nil || math.Abs(p.Budget.AUC-want) > 1e-15 || *p.Margin != p.Budget.AUC-p.AUC {
		t.Errorf("budget of %v: %+v, want an AUC of %v", p.Cost, p.Budget, want)
	}
	// Within half a test there is no tree but a leaf.
	if p := r.Published[2]; p.Budget.AUC != 0.5 || p.Budget.Cost != 0 {
		t.Errorf("budget of half a test: %+v, want a leaf", p.Budget)
	}
	text, err := os.ReadFile(filepath.Join(c.Output, "published.md"))
	if err != nil || !strings.Contains(string(text), "\n| all | ") {
		t.Errorf("%v: published.md has no line of all budgets:\n%s", err, text)
	}
}

// trainedWithin trains on the data set solo within a budget, and returns the AUC on test rows.
func trainedWithin(t *testing.T, c *benchmark.Config, seed uint64, budget float64) float64 {
	t.Helper()
	p, err := config.Preset(c.Budgets)
	if err != nil {
		t.Fatal(err)
	}
	p.Input, p.Label, p.Seed = []string{filepath.Join(c.Folder, "solo.parquet")}, "class", seed
	p.MaxExpectedCost, p.Select, p.Report = budget, frontier.Highest, config.ReportNone
	p.FrontierStep, p.Certificate, p.FreeRepeats = 0.0002, false, false
	p.Output = filepath.Join(t.TempDir(), "run")
	r, err := train.Train(context.Background(), p, engine.Silent{})
	if err != nil {
		t.Fatal(err)
	}
	return *r.Metrics.Test.AUCOvRMacro
}

// TestPublishedFaults: the message says which line of the file has the fault.
func TestPublishedFaults(t *testing.T) {
	for text, want := range map[string]string{
		"name,ROC AUC:CART\n":                        "the column is missing",
		"dataset,ROC AUC:CART,Cost:CART\nsolo,x,1\n": "line 2: ROC AUC:CART is \"x\": want a number",
		"dataset\nsolo,1\n":                          "wrong number of fields",
	} {
		c := newPublished(t)
		if err := os.WriteFile(c.Published, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := benchmark.Run(context.Background(), c, engine.Silent{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestLambdas: the lambda of the chosen plain tree is among those that are listed, with its figures.
func TestLambdas(t *testing.T) {
	c := newConfig(t)
	for _, s := range run(t, c).Splits {
		for _, f := range s.Figures {
			if f.Pruned || f.Lambda == 0 {
				continue
			}
			found := 0
			for _, l := range s.Lambdas {
				same := l.Costs == f.Costs && l.Algorithm == f.Algorithm && l.Lambda == f.Lambda
				if same && l.Cost == f.Cost && l.Leaves == f.Leaves && math.Abs(l.AUC-f.AUC) < 1e-12 {
					found++
				}
			}
			if found != 1 {
				t.Errorf("%s, split %d, %s: %d figures of its lambda %v, want 1", s.Set, s.Seed, f.Algorithm, found, f.Lambda)
			}
		}
		if want := 2 * 2 * 5; len(s.Lambdas) != want { // laws of costs, algorithms, lambdas
			t.Errorf("%d figures of lambdas, want %d", len(s.Lambdas), want)
		}
	}
}

// TestScaling: sizes double, slopes are those of least squares, a second run takes the times of the
// first, and the pictures are there.
func TestScaling(t *testing.T) {
	c := newConfig(t)
	c.Scaling, c.Splits, c.Algorithm = true, 1, []string{"ec45", "asr"}
	r := run(t, c)
	if len(r.Scaling) != 2 || r.Scaling[0].By != benchmark.ByRows || r.Scaling[1].By != benchmark.ByFeatures {
		t.Fatalf("experiments %+v, want one by rows and one by features", r.Scaling)
	}
	for _, s := range r.Scaling {
		last := s.Times[len(s.Times)-1]
		if want := map[string]int64{benchmark.ByRows: 600, benchmark.ByFeatures: 8}[s.By]; last.Size != want {
			t.Errorf("the largest size by %s is %d, want %d", s.By, last.Size, want)
		}
		if half := s.Times[len(s.Times)-2]; half.Size < 3*last.Size/8 || half.Size > 5*last.Size/8 {
			t.Errorf("by %s: sizes %v, want halves", s.By, s.Times)
		}
		// The slope by another formula, over all pairs of sizes.
		above, below := 0.0, 0.0
		for i, a := range s.Times {
			for _, b := range s.Times[:i] {
				x := math.Log(float64(a.Size)) - math.Log(float64(b.Size))
				above, below = above+x*(math.Log(a.Seconds)-math.Log(b.Seconds)), below+x*x
			}
		}
		for _, size := range s.Times { // 70 % of the rows are for training; columns of numbers make objects of single rows
			if s.By == benchmark.ByRows && (size.Objects > size.Size*8/10 || size.Objects < size.Size/3) {
				t.Errorf("%d objects of %d rows", size.Objects, size.Size)
			}
		}
		if s.By == benchmark.ByRows && math.Abs(s.Objects.Slope-1) > 0.2 {
			t.Errorf("objects grow by %v with the rows, want about 1", s.Objects.Slope)
		}
		if s.Start != 0 || s.Rest != s.Fit { // there are too few sizes to tell
			t.Errorf("by %s: start %v, %+v without it", s.By, s.Start, s.Rest)
		}
		checkLine(t, &s)
		if math.Abs(s.Slope-above/below) > 1e-9 || !(s.Low <= s.Slope && s.Slope <= s.High) {
			t.Errorf("by %s: slope %v (%v to %v), want %v", s.By, s.Slope, s.Low, s.High, above/below)
		}
	}
	if again := run(t, c); !cmp.Equal(r.Scaling, again.Scaling) {
		t.Errorf("other times:\n%s", cmp.Diff(r.Scaling, again.Scaling))
	}
	found, err := filepath.Glob(filepath.Join(c.Output, "pictures", "*"))
	// Six comparisons, each by two tests; frontier and lambdas of two data sets; two times.
	if want := 6*2 + 2*2 + 2; err != nil || len(found) != want || r.Pictures != want {
		t.Errorf("%v: %d pictures, the result has %d, want %d", err, len(found), r.Pictures, want)
	}
}

// checkLine: no line near it, and beginning at 0 or above, is nearer to the seconds.
func checkLine(t *testing.T, s *benchmark.Scaling) {
	t.Helper()
	squares := func(constant, each float64) (sum, largest float64) {
		for _, taken := range s.Times {
			line := constant + each*float64(taken.Size)
			share := (taken.Seconds - line) / taken.Seconds
			sum += share * share
			largest = max(largest, math.Abs(taken.Seconds/line-1))
		}
		return sum, largest
	}
	least, largest := squares(s.Line.Constant, s.Line.Each)
	if math.Abs(s.Line.Deviation-largest) > 1e-12 || s.Line.Constant < 0 {
		t.Errorf("by %s: %+v, want a deviation of %v", s.By, s.Line, largest)
	}
	step := s.Times[0].Seconds / 100
	for _, constant := range []float64{-step, 0, step} {
		for _, each := range []float64{0.99, 1, 1.01} {
			if at := s.Line.Constant + constant; at >= 0 {
				if sum, _ := squares(at, s.Line.Each*each); sum < least-1e-12 {
					t.Errorf("by %s: %+v with squares of %v, but %v and %v have %v", s.By, s.Line, least, at, s.Line.Each*each, sum)
				}
			}
		}
	}
}

// TestLaTeX: each table has its data sets, and names are escaped.
func TestLaTeX(t *testing.T) {
	c := newConfig(t)
	const odd = "so_lo & <50%> #1 {a}$b~c^d|" // has each character that LaTeX reads otherwise
	if err := os.Rename(filepath.Join(c.Folder, "solo.parquet"), filepath.Join(c.Folder, odd+".parquet")); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	text, err := os.ReadFile(filepath.Join(c.Output, "tables.tex"))
	if err != nil {
		t.Fatal(err)
	}
	tables := 2 * (2*3 + 1) // laws of costs; pruned or not; AUC, cost, leaves; and times once
	for part, want := range map[string]int{
		"\\begin{tabular}": tables, "\\end{tabular}": tables, "\nmean rank & $": tables,
		"\n" + `so\_lo \& \textless{}50\%\textgreater{} \#1 \{a\}\$b\textasciitilde{}c\textasciicircum{}d\textbar{} & $`: tables,
	} {
		if got := strings.Count(string(text), part); got != want {
			t.Errorf("%d times %q, want %d", got, part, want)
		}
	}
	for line := range strings.Lines(string(text)) { // also for several equal lines
		if strings.Contains(line, `\pm`) && !strings.Contains(line, `\mathbf`) {
			t.Errorf("no mean is bold: %s", line)
		}
	}
}
