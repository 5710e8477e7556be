package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// textOf joins the words of sentences.
func textOf(list []said) string {
	var b strings.Builder
	for _, s := range list {
		for _, w := range s {
			b.WriteString(w.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// confused returns metrics of rows with these numbers by true and predicted class.
func confused(classes []string, confusion [][]int64, cost, tests float64) *metric.Metrics {
	var leaves []metric.Leaf
	for predicted := range classes {
		l := metric.Leaf{Class: predicted, Weights: make([]int64, len(classes)), Cost: cost, Tests: int(tests)}
		for actual := range classes {
			l.Weights[actual] = confusion[actual][predicted]
			l.Rows += confusion[actual][predicted]
		}
		for actual := range classes {
			p := 1 / float64(len(classes))
			if l.Rows > 0 {
				p = float64(l.Weights[actual]) / float64(l.Rows)
			}
			l.Probabilities = append(l.Probabilities, p)
		}
		leaves = append(leaves, l)
	}
	m := metric.Evaluate(leaves, classes, 1)
	return &m
}

// ofRun returns the facts of a run with a test of one numeric feature at its root.
func ofRun(t *testing.T, m *runfolder.Metrics, classes []string, change func(r *runfolder.Run)) *facts {
	t.Helper()
	one := &tree.Tree{
		Label:     tree.Label{Column: "acute", Classes: classes},
		Algorithm: tree.Algorithm{Name: "cc45"},
		Features:  []dataset.Feature{{Name: "crp", Kind: dataset.Numeric, Cuts: []float64{5}, Cost: 1}},
	}
	weights := make([]int64, len(classes))
	for k := range weights {
		weights[k] = int64(10 * (len(classes) - k)) // the last class is the rarest
	}
	node := func() tree.Node {
		return tree.Node{Rows: 10, Weight: 10, RawClassWeights: weights, ClassWeights: weights, Probabilities: make([]float64, len(classes))}
	}
	one.Nodes = []tree.Node{node(), node(), node()}
	one.Nodes[0].Test = &tree.Test{
		Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1, Score: split.Parts{Total: 0.5},
		RunnerUp: &tree.RunnerUp{Feature: "age", Kind: split.Threshold, GE: new(float64), Total: 0.4},
	}
	one.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Outcome: 0, Child: 2, Missing: true}}
	one.Measure()
	r := &runfolder.Run{Tree: one, Metrics: m}
	if change != nil {
		change(r)
	}
	f, err := newFacts(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// priced gives features prices: crp 3, and ct and xray 90 and 18 with 15 for their room, once.
func priced(r *runfolder.Run) {
	r.Tree.Algorithm.CostUnit = "euro"
	r.Schema = &tree.Schema{Columns: []tree.SchemaColumn{{Name: "id", Role: "ignored"}}}
	for _, f := range []dataset.Feature{
		{Name: "crp", Cost: 3}, {Name: "ct", Cost: 90, Group: "room", GroupCost: 15}, {Name: "xray", Cost: 18, Group: "room", GroupCost: 15},
	} {
		r.Schema.Columns = append(r.Schema.Columns, tree.SchemaColumn{Name: f.Name, Role: "feature", Feature: &f})
	}
	r.Tree.Nodes[0].Test.Cost = 3
	r.Tree.Measure()
}

// TestBrief: each figure of the sentences is a figure of the run, for the kinds of runs that there are.
func TestBrief(t *testing.T) {
	two := []string{"no", "yes"}
	confusion := [][]int64{{1700, 100}, {20, 180}} // 2,000 rows: 90 of 1,000 found, 10 missed, 50 false alarms
	rows := func() *runfolder.Metrics {
		return &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Test: confused(two, confusion, 1, 1)}
	}
	for _, c := range []struct {
		name    string
		metrics *runfolder.Metrics
		classes []string
		change  func(r *runfolder.Run)
		says    []string
		not     string
	}{
		{"no prices", rows(), two, nil, []string{
			"Of 1,000 rows, 100 have acute = yes (measured on 2,000 test rows).\n",
			"The tree finds 90 of them, misses 10 and raises 50 false alarms.\n", "It asks 1 question per row on average and 1 at most.\n",
			"First it asks for crp, because this question tells the most about the class; the best question about another feature, age >= 0, scores 20.0\u00a0% less.\n",
		}, "cost"},
		{"prices", rows(), two, priced, []string{
			"It costs 1 euro per row on average and 3 euro at most, where all 3 features cost 126 euro.\n", "First it asks for crp (3 euro), because this question tells the most about the class for its price; ",
		}, "It asks 1"},
		{"prices in minutes as well", rows(), two, func(r *runfolder.Run) {
			priced(r)
			r.Metrics.Test.Further = dataset.NewFurtherCosts([]string{"minutes"}, dataset.Amounts{4}, dataset.Amounts{9})
		}, []string{"at most, where all 3 features cost 126 euro; 4 minutes on average, 9 at most.\n"}, ""},
		{"prices in minutes alone", rows(), two, func(r *runfolder.Run) {
			r.Metrics.Test.Further = dataset.NewFurtherCosts([]string{"minutes"}, dataset.Amounts{4}, dataset.Amounts{9})
		}, []string{"It asks 1 question per row on average and 1 at most; 4 minutes on average, 9 at most.\n"}, ""},
		{"a class of interest that is not the rarer", rows(), two, func(r *runfolder.Run) {
			r.Tree.Label.Decision = &tree.Decision{Positive: "no"}
		}, []string{"Of 1,000 rows, 900 have acute = no", "finds 850 of them, misses 50 and raises 10 false alarms"}, "= yes"},
		{"a threshold", rows(), two, func(r *runfolder.Run) {
			r.Tree.Label.Decision = &tree.Decision{Positive: "yes", Threshold: 0.022}
		}, []string{"Saying yes from a probability of 2.2\u00a0% on, the tree finds 90 of them"}, "The tree finds"},
		{"costs of errors", rows(), two, func(r *runfolder.Run) {
			priced(r)
			r.Tree.Label.ErrorCosts = [][]float64{{0, 1}, {10, 0}}
			r.Metrics.Test.ExpectedErrorCost = new(0.15)
		}, []string{
			"Deciding by the cost of errors, the tree finds 90", // errors: 0.01 * 10 + 0.05 * 1
			"cost 126 euro; tests and errors together cost 1.15 euro per row on test rows; without tests, calling every row no costs 1 euro, calling every row yes costs 0.9 euro. " +
				"Predicting \"yes\" for a row of class \"no\" costs 1 euro, and predicting \"no\" for a row of class \"yes\" costs 10 euro.\n",
		}, "The tree finds"},
		{
			"the least total cost", rows(), two, func(r *runfolder.Run) { r.Tree.Algorithm.Objective = tree.TotalCost },
			[]string{"because the expected cost of questions and errors is the lowest with it.\n"},
			"% less",
		},
		{
			"a named first feature", rows(), two, func(r *runfolder.Run) { r.Tree.Algorithm.First = []string{"crp"} },
			[]string{"because the setting --first asks for it"},
			"tells the most",
		},
		{"no test rows", &runfolder.Metrics{Train: confused(two, confusion, 1, 1)}, two, nil, []string{
			"Of 1,000 rows, 100 have acute = yes (measured on the 2,000 rows that grew the tree: expect worse on new rows).\n",
		}, "test rows"},
		{
			"validation rows", &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Validation: confused(two, confusion, 1, 1)}, two, nil,
			[]string{"(measured on 2,000 validation rows, which also chose the tree)"},
			"test rows",
		},
		{
			"no rows", &runfolder.Metrics{Train: confused(two, [][]int64{{0, 0}, {0, 0}}, 0, 0)}, two, nil,
			[]string{"There are no rows on which the tree was measured.\n", "First it asks for crp"},
			"NaN",
		},
		{
			"a rare class", &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Test: confused(two, [][]int64{{99_000, 900}, {0, 100}}, 1, 1)}, two, nil,
			[]string{"Of 10,000 rows, 10 have acute = yes", "finds 10 of them, misses 0 and raises 90 false alarms"},
			"",
		},
		{
			"no row of the class", &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Test: confused(two, [][]int64{{1900, 100}, {0, 0}}, 1, 1)}, two, nil,
			[]string{"None of the 2,000 test rows has acute = yes, so the share that the tree finds is not known.\nIt asks 1 question"},
			"misses 0",
		},
		{
			"a mistake that is rarer than 1 in 1,000", &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Test: confused(two, [][]int64{{900_000, 1}, {1, 99_998}}, 1, 1)}, two, nil,
			[]string{"finds 100 of them, misses fewer than 1 and raises fewer than 1 false alarm.\n"},
			"misses 0",
		},
		{
			"three classes", &runfolder.Metrics{Train: confused(two, confusion, 1, 1), Test: confused([]string{"a", "b", "c"}, [][]int64{{500, 10, 0}, {40, 250, 10}, {0, 0, 190}}, 1, 1)},
			[]string{"a", "b", "c"},
			nil,
			[]string{
				"Of 1,000 rows, 510 have acute = a, the most frequent of 3 classes (measured on 1,000 test rows).\n",
				"The tree calls 940 of 1,000 rows right and 60 wrong; most often it takes b for a: 40.\n",
			},
			"alarm",
		},
		{"a single leaf", rows(), two, func(r *runfolder.Run) {
			r.Tree.Nodes = r.Tree.Nodes[:1]
			r.Tree.Nodes[0].Test, r.Tree.Nodes[0].Branches = nil, nil
			r.Tree.Measure()
		}, []string{"It asks nothing: every row is called no.\n"}, "First"},
	} {
		if c.metrics.Train != nil && len(c.classes) == 3 {
			c.metrics.Train = c.metrics.Test
		}
		list := ofRun(t, c.metrics, c.classes, c.change).brief()
		text := textOf(list)
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %q in\n%s", c.name, want, text)
			}
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, text)
		}
		if len(list) > 5 || regexp.MustCompile(`NaN|Inf|%!|\.\.`).MatchString(text) {
			t.Errorf("%s: %d sentences:\n%s", c.name, len(list), text)
		}
	}
}

// TestBriefBySlice: the least and the greatest sensitivity of the slices of the first column are said.
func TestBriefBySlice(t *testing.T) {
	two := []string{"no", "yes"}
	m := &runfolder.Metrics{Train: confused(two, [][]int64{{80, 20}, {10, 90}}, 1, 1)}
	for i, name := range []string{"North", "South", "East", "<b>"} {
		one := confused(two, [][]int64{{8, 2}, {int64(i), int64(10 - i)}}, 1, 1)
		of := metric.SliceRows{Column: "clinic", Of: metric.SliceOfValue, Value: &name}
		m.Train.Slices = append(m.Train.Slices, metric.NewSlice(of, one, 200))
	}
	f := ofRun(t, m, two, nil)
	if got, want := textOf([]said{f.bySlice()}), "By clinic, it finds 70.0\u00a0% (<b>, of 10) to 100.0\u00a0% (North, of 10) of them.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m.Train.Slices = m.Train.Slices[:1]
	if s := f.bySlice(); s != nil {
		t.Errorf("one slice: %s", textOf([]said{s}))
	}
	m.Train.Slices = append(m.Train.Slices, m.Train.Slices[0])
	if got := textOf([]said{f.bySlice()}); got != "By clinic, it finds 100.0\u00a0% of them in each of 2 slices.\n" {
		t.Errorf("equal slices: %q", got)
	}
}

// TestTallied: whole numbers add up, and each is at most 1 from its share.
func TestTallied(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		parts := []float64{r.ExpFloat64() * float64(r.IntN(2)), r.ExpFloat64(), r.ExpFloat64() * float64(r.IntN(2)), r.ExpFloat64()}
		sum := parts[0] + parts[1] + parts[2] + parts[3]
		of := scaleOf((parts[0]+parts[1])/sum, mostScale)
		n := tallied(of, parts[0]/sum, parts[1]/sum, parts[2]/sum)
		whole := []int64{n.Found, n.Missed, n.Alarms, n.Other}
		for k, x := range whole {
			if exact := parts[k] / sum * float64(of); x < 0 || math.Abs(float64(x)-exact) > 1+1e-9 || exact == 0 && x > 0 && k < 3 {
				t.Fatalf("%v of %d: %v", parts, of, whole)
			}
		}
		if whole[0]+whole[1]+whole[2]+whole[3] != of {
			t.Fatalf("%v do not add up to %d", whole, of)
		}
	}
	for share, want := range map[float64]int64{0: 1000, 0.01: 1000, 0.0099: 10_000, 0.5: 1000, 0.000_173: 100_000, 1e-9: 1_000_000} {
		if got := scaleOf(share, mostScale); got != want {
			t.Errorf("a share of %v is scaled to %d, want %d", share, got, want)
		}
	}
}

// TestDecisions: the page has the operating points of the metrics, and the point at which the tree decides.
func TestDecisions(t *testing.T) {
	two := []string{"no", "yes"}
	r := rand.New(rand.NewPCG(3, 4))
	for _, leaves := range []int{2, 7, 40, 500} {
		var list []metric.Leaf
		for range leaves {
			p := r.Float64()
			l := metric.Leaf{Probabilities: []float64{1 - p, p}, Weights: []int64{int64(r.IntN(90)), int64(1 + r.IntN(30))}}
			l.Rows = l.Weights[0] + l.Weights[1]
			if p >= 1.0/11 { // an error of this class costs ten times the other
				l.Class = 1
			}
			list = append(list, l)
		}
		m := metric.Evaluate(list, two, 1)
		costs := [][]float64{{0, 1}, {10, 0}}
		f := ofRun(t, &runfolder.Metrics{Train: &m, Test: &m}, two, func(r *runfolder.Run) { r.Tree.Label.ErrorCosts = costs })
		f.Tree.Label.Decision = &tree.Decision{Positive: "yes"}
		f.interest = 1
		d := newDecisions(f.Tree, &m)
		if d == nil || len(d.Points) > maxDecisions+1 || leaves < 100 && d.Own != d.Start {
			t.Fatalf("%d leaves: %+v", leaves, d)
		}
		for i, p := range d.Points {
			var hits, misses, alarms, others int64 // of the rows that have at least the threshold
			for _, l := range list {
				if l.Probabilities[1] >= p.Threshold {
					hits += l.Weights[1]
					alarms += l.Weights[0]
				} else {
					misses += l.Weights[1]
					others += l.Weights[0]
				}
			}
			all := float64(m.Weight)
			errors := (10*float64(misses) + float64(alarms)) / all
			if math.Abs(*p.Errors-errors) > 1e-9 || math.Abs(*p.Sensitivity[0]-float64(hits)/float64(hits+misses)) > 1e-5 ||
				math.Abs(*p.Specificity[0]-float64(others)/float64(others+alarms)) > 1e-5 {
				t.Fatalf("%d leaves, point %d: %+v, want %d hits, %d misses, %d alarms", leaves, i, p, hits, misses, alarms)
			}
			for k, x := range []int64{hits, misses, alarms, others} {
				if math.Abs(float64(p.Counts[k])-float64(x)/all*float64(d.Of)) > 1 {
					t.Fatalf("%d leaves, point %d: counts %v of %d", leaves, i, p.Counts, d.Of)
				}
			}
			if i > 0 && p.Threshold >= d.Points[i-1].Threshold {
				t.Fatalf("thresholds %v, %v", d.Points[i-1].Threshold, p.Threshold)
			}
		}
		if d.Own < 0 {
			continue // the curve of many leaves has not all corners
		}
		tally := f.tally()
		if own := d.Points[d.Own].Counts; fmt.Sprint(own) != fmt.Sprint([]int64{tally.Found, tally.Missed, tally.Alarms, tally.Other}) {
			t.Errorf("%d leaves: the page decides by %v, its sentences by %v", leaves, own, tally)
		}
	}
}
