package textview_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; accept with go test ./io/textview -update):\n%s", file, diff)
	}
}

// every is a tree with each kind of test, and names that are hard to print.
func every() *tree.Tree {
	features := []dataset.Feature{
		{Name: "age", Kind: dataset.Numeric, Cuts: []float64{18, 40.5, 65}, Cost: 1},
		{
			Name: "job\nor\x1b[31m " + strings.Repeat("long ", 20), Kind: dataset.Categorical,
			Values: []string{"", "clerk", "tab\there"}, Other: 1, Missing: 1, Cost: 2.5,
		},
	}
	test := func(feature int, kind split.Kind, code int) *tree.Test {
		return &tree.Test{Test: split.Test{Feature: feature, Kind: kind, Code: code}, Cost: features[feature].Cost}
	}
	two := func(yes, no int) []tree.Branch {
		return []tree.Branch{{Outcome: 1, Child: yes}, {Outcome: 0, Child: no, Missing: true, Other: true}}
	}
	t := &tree.Tree{
		Label:     tree.Label{Column: "class", Classes: []string{"no", "yes"}},
		Features:  features,
		Algorithm: tree.Algorithm{Name: "ec45", Lambda: 10},
		Training:  tree.Training{Rows: 1000},
	}
	t.Nodes = []tree.Node{
		{Weight: 1000, Test: test(0, split.Threshold, 2), Branches: two(1, 2)},
		{Weight: 400, Test: test(0, split.Bin, 3), Branches: two(3, 4)},
		{Weight: 600, Test: test(1, split.Multiway, 0), Branches: []tree.Branch{
			{Outcome: 0, Child: 5},
			{Outcome: 2, Child: 6},
			{Outcome: 3, Child: 7, Other: true},
			{Outcome: 4, Child: 8, Missing: true},
		}},
		{Weight: 100, Test: test(0, split.Missing, 4), Branches: two(9, 10)},
		{Weight: 300, Test: test(0, split.Bin, 1), Branches: two(11, 12)},
		{Weight: 250, Test: test(1, split.Equals, 1), Branches: two(13, 14)},
		{Weight: 150, Test: test(1, split.Other, 3), Branches: two(15, 16)},
		{Weight: 120},
		{Weight: 80},
		{Weight: 1},
		{Weight: 99},
		{Weight: 200, Test: test(0, split.Bin, 0), Branches: two(17, 18)},
		{Weight: 100},
		{Weight: 125},
		{Weight: 125},
		{Weight: 75},
		{Weight: 75},
		{Weight: 150},
		{Weight: 50},
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		n.Rows = n.Weight
		n.ClassWeights = []int64{n.Weight / 3, n.Weight - n.Weight/3}
		n.RawClassWeights = n.ClassWeights
	}
	t.Estimate(tree.Smoothed, 1)
	t.Measure()
	return t
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := textview.Text(&b, every(), 0); err != nil {
		t.Fatal(err)
	}
	golden(t, "every_kind_of_test", b.String())
	for _, r := range b.String() {
		if r != '\n' && r < ' ' {
			t.Errorf("control character %q in the output", r)
		}
	}
}

// TestTextBilled: costs have their unit, and are the billed ones.
func TestTextBilled(t *testing.T) {
	priced := every()
	priced.Algorithm.CostUnit, priced.Features[0].Group, priced.Features[0].GroupCost = "euros\n", "visit", 5
	with := 6.0
	priced.Nodes[0].Test.Billed = &with
	priced.Measure()
	var b strings.Builder
	if err := textview.Text(&b, priced, 0); err != nil {
		t.Fatal(err)
	}
	golden(t, "billed", b.String())
}

func TestFigures(t *testing.T) {
	leaves := []metric.Leaf{
		{Probabilities: []float64{0.75, 0.25}, Class: 0, Weights: []int64{3, 1}, Rows: 4, Cost: 2, Tests: 1},
		{Probabilities: []float64{0.25, 0.75}, Class: 1, Weights: []int64{1, 3}, Rows: 4, Cost: 3, Tests: 2},
	}
	some := metric.Evaluate(leaves, []string{"no", "yes"}, 1)
	none := metric.Evaluate(nil, []string{"no", "yes"}, 1)
	var b strings.Builder
	parts := []runfolder.MeasuredPart{{Name: "train", Metrics: &some}, {Name: "test", Metrics: &none}}
	if err := textview.FiguresTable(parts).Write(&b, 0); err != nil {
		t.Fatal(err)
	}
	golden(t, "figures", b.String())
}

func TestTextOfClasses(t *testing.T) {
	tr := every()
	tr.Training.Weights, tr.Training.ClassWeights = "class_weights", []float64{0.75, 1.5}
	tr.Label.Priors, tr.Label.ErrorCosts = []float64{0.9, 0.1}, [][]float64{{0, 1}, {20, 0}}
	tr.Estimate(tree.Smoothed, 1)
	var b strings.Builder
	if err := textview.Text(&b, tr, 0); err != nil {
		t.Fatal(err)
	}
	golden(t, "classes", b.String())
}

// TestTextOfInterest: a tree that names a class of interest says its probability and rows, never a rounded 0 or 1.
func TestTextOfInterest(t *testing.T) {
	tr := every()
	tr.Label.Decision = &tree.Decision{Positive: tr.Label.Classes[1], Threshold: 0.2}
	tr.Estimate(tree.Smoothed, 1)
	rare := &tr.Nodes[len(tr.Nodes)-1]
	rare.Probabilities = []float64{0.9997, 0.0003}
	var b strings.Builder
	if err := textview.Text(&b, tr, 0); err != nil {
		t.Fatal(err)
	}
	if err := textview.Rules(&b, &textview.View{Tree: tr}); err != nil {
		t.Fatal(err)
	}
	b.WriteString(textview.About(tr) + "\n")
	for i := range tr.Nodes {
		b.WriteString(textview.OfInterest(tr, i) + "\n")
	}
	golden(t, "interest", b.String())
}

// TestInterested: the rarer of two classes, by priors or rows and not by class weights, unless the tree names a class.
func TestInterested(t *testing.T) {
	tr := every() // 333 no, 667 yes
	for name, c := range map[string]struct {
		weights  []int64
		factors  []float64
		decision *tree.Decision
		want     string
		guess    bool
	}{
		"first":    {[]int64{333, 667}, nil, nil, "no", true},
		"second":   {[]int64{500, 499}, nil, nil, "yes", true},
		"equal":    {[]int64{5, 5}, nil, nil, "yes", true},
		"balanced": {[]int64{500, 500}, []float64{1.5, .75}, nil, "no", true},
		"no rows":  {[]int64{0, 10}, []float64{0, 1}, nil, "no", true},
		"named":    {[]int64{333, 667}, nil, &tree.Decision{Positive: "yes"}, "yes", false},
	} {
		tr.Nodes[0].RawClassWeights, tr.Training.ClassWeights, tr.Label.Decision = c.weights, c.factors, c.decision
		got, guess := textview.Interested(tr)
		if got.Label.Decision.Positive != c.want || (guess != "") != c.guess || tr.Label.Decision != c.decision {
			t.Errorf("%s: %v, %q; want %s", name, got.Label.Decision, guess, c.want)
		}
	}
	tr.Nodes[0].RawClassWeights, tr.Label.Priors, tr.Label.Decision = []int64{333, 667}, []float64{.95, .05}, nil
	if got, _ := textview.Interested(tr); got.Label.Decision.Positive != "yes" {
		t.Errorf("priors of .95 and .05: %v", got.Label.Decision)
	}
	tr.Label.Classes, tr.Label.Decision = []string{"a", "b", "c"}, nil
	if got, guess := textview.Interested(tr); got.Label.Decision != nil || guess != "" {
		t.Errorf("three classes: %v, %q", got.Label.Decision, guess)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReturned(t *testing.T) {
	if err := textview.Text(broken{}, every(), 0); err == nil {
		t.Error("Text: no error")
	}
	if err := textview.FiguresTable(nil).Write(broken{}, 0); err == nil {
		t.Error("FiguresTable: no error")
	}
}
