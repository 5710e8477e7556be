package textview_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// TestShares: texts of shares and probabilities.
func TestShares(t *testing.T) {
	for x, want := range map[float64][2]string{
		0: {"0.0%", "0"}, 1: {"100.0%", "1"}, 0.5: {"50.0%", "0.5"}, 1417. / 1421: {"99.7%", "0.9972"},
		0.99996: {"99.996%", "0.99996"}, 0.0004: {"0.04%", "0.0004"}, 1e-12: {"<0.000001%", "1e-12"},
		1 - 1e-12: {">99.999999%", ">0.999999999"}, math.NaN(): {"NaN%", "NaN"},
	} {
		if got := [2]string{textview.Percent(x), textview.Probability(x)}; got != want && x == x || x != x && got[0] != want[0] {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

// TestNoShareIsRounded: a share between 0 and 1 is never written as 0 or 100 %, and its text is the
// nearest number of its digits.
func TestNoShareIsRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		x := math.Pow(r.Float64(), 1+10*r.Float64())
		if r.IntN(2) == 0 {
			x = 1 - x
		}
		percent, probability := textview.Percent(x), textview.Probability(x)
		for _, text := range []string{percent, probability} {
			number, whole := strings.TrimSuffix(text, "%"), 1.0
			if number != text {
				whole = 100
			}
			y, err := strconv.ParseFloat(strings.TrimLeft(number, "<>"), 64)
			if x > 0 && x < 1 && (err != nil || y <= 0 || y >= whole) || math.Abs(y-whole*x) > 0.051 {
				t.Fatalf("%v is written %q", x, text)
			}
		}
	}
}

// sick is a tree of one test, with a leaf of 1417 healthy and 4 sick rows and a probability p of healthy.
func sick(p float64) *tree.Tree {
	m := &tree.Tree{
		Label:    tree.Label{Column: "y", Classes: []string{"no", "yes"}},
		Features: []dataset.Feature{{Name: "x", Kind: dataset.Numeric, Cuts: []float64{0.5}}},
		Nodes: []tree.Node{
			{Rows: 2780, Weight: 2780, RawClassWeights: []int64{1417, 1363}, Probabilities: []float64{0.51, 0.49}},
			{Rows: 1359, Weight: 1359, Class: 1, RawClassWeights: []int64{0, 1359}, Probabilities: []float64{1 - p, p}},
			{Rows: 1421, Weight: 1421, RawClassWeights: []int64{1417, 4}, Probabilities: []float64{p, 1 - p}},
		},
	}
	m.Nodes[0].Test = &tree.Test{Test: split.Test{Kind: split.Threshold, Code: 1}, Cost: 1}
	m.Nodes[0].Branches = []tree.Branch{{Outcome: 1, Child: 1}, {Child: 2, Missing: true}}
	m.Measure()
	return m
}

// TestLeavesOfBothClasses: wherever a view prints a leaf of 1417 and 4 rows, it does not print that all rows
// have one class, and it prints the 1417 rows.
func TestLeavesOfBothClasses(t *testing.T) {
	for _, p := range []float64{1417. / 1421, 0.99999, 1 - 1e-9} {
		v := &textview.View{Tree: sick(p)}
		var text, rules, outline strings.Builder
		if err := errors.Join(textview.Shown(&text, v), textview.Rules(&rules, v)); err != nil {
			t.Fatal(err)
		}
		textview.Outline(&outline, v.Tree, 80, len(v.Tree.Nodes))
		for what, s := range map[string]string{
			"text": text.String(), "rules": rules.String(), "overview": outline.String(), "picture": textview.Picture(v).Nodes[2].Tip +
				"\n" + textview.Picture(v).Nodes[2].Label + "\n",
		} {
			if wrong := regexp.MustCompile(`(no|yes) (1|1\.0+|100 %|0|0\.0+|0 %)[:,\n]`).FindString(s); wrong != "" {
				t.Errorf("%v: %s: %q in\n%s", p, what, wrong, s)
			}
			if !strings.Contains(s, "1417") {
				t.Errorf("%v: %s: no 1417 in\n%s", p, what, s)
			}
		}
	}
}
