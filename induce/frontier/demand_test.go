package frontier_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// fan is a contender of a root with a leaf for each pair of weights, no and yes, with these probabilities of yes. The rows
// are as many as their weight.
func fan(probabilities []float64, weights [][2]int64) frontier.Contender {
	t := &tree.Tree{Label: tree.Label{Classes: []string{"no", "yes"}}, Nodes: []tree.Node{{Probabilities: []float64{.5, .5}}}}
	t.Nodes[0].Test = &tree.Test{Test: split.Test{Kind: split.Multiway}}
	for i, p := range probabilities {
		t.Nodes[0].Branches = append(t.Nodes[0].Branches, tree.Branch{Outcome: i, Child: i + 1})
		t.Nodes = append(t.Nodes, tree.Node{Probabilities: []float64{1 - p, p}})
	}
	counts := t.NewLeafCounts()
	for i, w := range weights {
		counts.Weights[i+1] = []int64{w[0], w[1]}
		counts.Rows[i+1] = w[0] + w[1]
	}
	return frontier.Contender{Tree: t, Validation: metric.OfLeaves(t, counts, 1)}
}

// TestDemandOfOneTree: with 59, 93, 124 and 153 rows, of which 0, 1, 2 and 3 are missed, a share of .95 is shown with a
// confidence of .95, and with a row less it is not (Wilks 1941).
func TestDemandOfOneTree(t *testing.T) {
	d := &frontier.Demand{Class: "yes", Sensitivity: .95, Confidence: .95}
	for misses, rows := range []int64{59, 93, 124, 153} {
		for _, less := range []int64{0, 1} {
			m := int64(misses)
			c := fan([]float64{.8, .2, .1}, [][2]int64{{10, rows - less - m}, {20, m}, {30, 0}})
			_, decision, err := d.Decide([]frontier.Contender{c}, 0)
			want := .5
			switch {
			case less == 1 && misses > 0:
				want = .15 // the second leaf has the missed rows
			case less == 1:
				if !errors.Is(err, frontier.ErrDemand) || !strings.Contains(err.Error(), "even no error takes 59 rows") {
					t.Errorf("%d rows: %v, %v", rows-1, decision, err)
				}
				continue
			case misses == 0:
				want = .5
			}
			if err != nil || decision.Positive != "yes" || decision.Threshold < want-.1 || decision.Threshold > want+.1 {
				t.Errorf("%d misses of %d rows: %+v, %v; want a threshold of about %v", misses, rows-less, decision, err, want)
			}
		}
	}
}

// TestDemandThatTrades: the cheapest contender whose threshold keeps both shares is taken, and a demand that does not trade
// leaves the contender chosen.
func TestDemandThatTrades(t *testing.T) {
	p := []float64{.9, .5, .1}
	list := []frontier.Contender{
		fan(p, [][2]int64{{400, 900}, {300, 100}, {300, 0}}), // finds all at a specificity of .3
		fan(p, [][2]int64{{100, 980}, {50, 20}, {850, 0}}),
		fan(p, [][2]int64{{10, 999}, {0, 1}, {990, 0}}),
	}
	for _, x := range []struct {
		d         frontier.Demand
		at        int
		low, high float64 // of the threshold
		fault     string
	}{
		{frontier.Demand{Sensitivity: .95}, 2, .5, .9, ""},
		{frontier.Demand{Specificity: .8}, 2, .1, .5, ""},
		{frontier.Demand{Sensitivity: .95, Specificity: .8}, 1, .5, .9, ""},
		{frontier.Demand{Sensitivity: .95, Specificity: .2}, 0, .1, .5, ""},
		{frontier.Demand{Sensitivity: .95, Specificity: .9}, 2, .5, .9, ""},
		{frontier.Demand{Precision: .8}, 1, .1, .5, ""},
		{frontier.Demand{Precision: .95, Sensitivity: .95}, 2, .5, .9, ""},
		{frontier.Demand{Sensitivity: .95, Specificity: .9999}, 0, 0, 0, "even no error takes"},
		{frontier.Demand{Sensitivity: .95, Specificity: .995}, 0, 0, 0, "the best that can be shown is 0.9"},
	} {
		x.d.Class = "yes"
		x.d.Confidence = .95
		at, decision, err := x.d.Decide(list, 2)
		if x.fault != "" {
			if !errors.Is(err, frontier.ErrDemand) || !strings.Contains(err.Error(), x.fault) {
				t.Errorf("%+v: %v, want an error with %q", x.d, err, x.fault)
			}
			continue
		}
		if err != nil || at != x.at || !(decision.Threshold > x.low && decision.Threshold <= x.high) {
			t.Errorf("%+v: contender %d, %+v, %v; want contender %d from more than %v to %v", x.d, at, decision, err, x.at, x.low, x.high)
		}
	}
	both := frontier.Demand{Class: "yes", Sensitivity: .95, Specificity: .5, Confidence: .95} // 1 at .3, or .9 at .6
	if _, _, err := both.Decide(list[:1], 0); err == nil || !strings.Contains(err.Error(), "on 1000 validation rows in the class") ||
		!strings.Contains(err.Error(), "; no single threshold keeps all of them; demand less") {
		t.Errorf("shares that can only be kept alone: %v", err)
	}
	list[0].Validation.PerClass[1].ROC.EffectiveRows = 45.5
	if _, _, err := both.Decide(list[:1], 0); err == nil || !strings.Contains(err.Error(), "on validation rows in the class that count as 45 rows, ") {
		t.Errorf("rows with weights: %v", err)
	}
	d := frontier.Demand{Class: "maybe", Sensitivity: .5, Confidence: .95}
	if _, _, err := d.Decide(list, 0); err == nil || !strings.Contains(err.Error(), `no class "maybe"`) {
		t.Errorf("unknown class: %v", err)
	}
}

// TestDemandTakesAnotherTree: if the chosen tree does not keep a demand of one share, the rule chooses among the trees that
// keep it. Bounds then hold for all trees together: with two trees and a confidence of .95, a tree without a miss shows a
// share of .95 with 72 rows, as .95^72 < .025 < .95^71, and not with 59. The error is the fault of the tree that comes
// closest.
func TestDemandTakesAnotherTree(t *testing.T) {
	p := []float64{.9, .5, .1}
	blind := fan(p, [][2]int64{{50, 36}, {25, 0}, {25, 36}}) // misses half
	last := func(keeping []int) (int, error) { return keeping[len(keeping)-1], nil }
	for _, x := range []struct {
		rows int64
		kept bool
	}{{71, false}, {72, true}} {
		d := &frontier.Demand{Class: "yes", Sensitivity: .95, Confidence: .95}
		good := fan(p, [][2]int64{{10, x.rows}, {20, 0}, {70, 0}})
		_, _, fault := d.Decide([]frontier.Contender{blind}, 0)
		if !errors.Is(fault, frontier.ErrDemand) {
			t.Fatal(fault)
		}
		at, decision, err := d.Instead([]frontier.Contender{blind, good}, last, fault)
		if x.kept && (err != nil || at != 1 || !(decision.Threshold > .5 && decision.Threshold <= .9)) {
			t.Errorf("%d rows: contender %d, %+v, %v", x.rows, at, decision, err)
		}
		if !x.kept && !errors.Is(err, frontier.ErrDemand) {
			t.Errorf("%d rows: %v", x.rows, err)
		}
	}
	d := &frontier.Demand{Class: "yes", Sensitivity: .99, Confidence: .95}
	good := fan(p, [][2]int64{{10, 970}, {20, 20}, {70, 10}}) // 990 of 1,000 show less than .99
	few := fan(p, [][2]int64{{50, 500}, {25, 100}, {25, 400}})
	_, _, fault := d.Decide([]frontier.Contender{few}, 0)
	_, _, err := d.Instead([]frontier.Contender{few, good}, last, fault)
	if !errors.Is(err, frontier.ErrDemand) || !strings.Contains(err.Error(), "the best that can be shown is 0.98") || strings.Contains(fault.Error(), "0.98") {
		t.Errorf("no tree keeps it: %v; the chosen one: %v", err, fault)
	}
	failing := errors.New("no rule")
	if _, _, err := d.Instead([]frontier.Contender{fan(p, [][2]int64{{10, 999}, {20, 1}, {70, 0}})},
		func([]int) (int, error) { return 0, failing }, fault); !errors.Is(err, failing) {
		t.Errorf("a rule that fails: %v", err)
	}
}

// TestDemandHolds: a tree of 90 leaves with known shares of both classes. The threshold is chosen on 150 rows of a class and
// 300 others; its true shares are at least the demanded ones with about the confidence, however many thresholds there are.
func TestDemandHolds(t *testing.T) {
	const leaves, runs = 90, 1500
	r := rand.New(rand.NewPCG(11, 12))
	var p, yes, no []float64
	for i := range leaves {
		x := (float64(i) + .5) / leaves
		p, yes, no = append(p, x), append(yes, 2*x/leaves), append(no, 2*(1-x)/leaves)
	}
	pick := func(shares []float64) int {
		x := r.Float64()
		for i, s := range shares {
			if x -= s; x < 0 {
				return i
			}
		}
		return leaves - 1
	}
	for _, d := range []frontier.Demand{
		{Class: "yes", Sensitivity: .9, Confidence: .95},
		{Class: "yes", Sensitivity: .8, Confidence: .8},
		{Class: "yes", Specificity: .7, Confidence: .9},
	} {
		failed := 0
		for range runs {
			weights := make([][2]int64, leaves)
			for range 150 {
				weights[pick(yes)][1]++
			}
			for range 300 {
				weights[pick(no)][0]++
			}
			_, decision, err := d.Decide([]frontier.Contender{fan(p, weights)}, 0)
			if err != nil {
				t.Fatal(err)
			}
			sensitivity, specificity := 0.0, 0.0
			for i := range leaves {
				if p[i] >= decision.Threshold {
					sensitivity += yes[i]
				} else {
					specificity += no[i]
				}
			}
			if sensitivity < d.Sensitivity-1e-9 || specificity < d.Specificity-1e-9 {
				failed++
			}
		}
		if share := float64(failed) / runs; share > (1-d.Confidence)*1.15+.005 || share < (1-d.Confidence)/5 {
			t.Errorf("%+v: not kept in a share of %v of the runs", d, share)
		}
	}
}
