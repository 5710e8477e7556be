package frontier_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// charged is a step of a tree's sequence whose predictions have an expected cost.
func charged(step, leaves int, cost, errorCost float64) frontier.Point {
	return frontier.Point{
		Currency: prune.Leaves, Step: step,
		Validation: metric.Judgement{AUC: is(.5), LogLoss: is(1), ErrorCost: is(errorCost), TotalCost: is(cost + errorCost)},
		Complexity: tree.Complexity{ExpectedCost: cost, Leaves: leaves},
	}
}

// TestTotal: by hand. The whole tree costs 4 + 1, the tree of 3 leaves 2 + 2, that of 2 leaves
// 1 + 3, a leaf 5. So 4 is the least, and the cheaper of the two trees that cost it is chosen.
func TestTotal(t *testing.T) {
	points := []frontier.Point{charged(0, 8, 4, 1), charged(1, 3, 2, 2), charged(2, 2, 1, 3), charged(3, 1, 0, 5)}
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limits frontier.Limits
		want   int
	}{{frontier.Limits{}, 2}, {frontier.Limits{ExpectedCost: .5}, 3}, {frontier.Limits{Leaves: 1}, 3}} {
		got, err := frontier.Select(points, frontier.Query{Rule: frontier.Total, Limits: c.limits})
		if err != nil || got.Step != c.want {
			t.Errorf("%+v: step %d, %v, want %d", c.limits, got.Step, err, c.want)
		}
	}
	*points[2].Judged.TotalCost += .001
	if got, err := frontier.Select(points, frontier.Query{Rule: frontier.Total}); err != nil || got.Step != 1 {
		t.Errorf("step %d, %v, want 1, which costs .001 less", got.Step, err)
	}
	points[3].Judged.TotalCost = nil
	if _, err := frontier.Select(points, frontier.Query{Rule: frontier.Total}); !errors.Is(err, frontier.ErrNoErrorCosts) {
		t.Errorf("a point without costs: %v", err)
	}
}

// TestCosts: by hand. Costs are the costs on the validation rows and on the folds by their shares,
// or on one of them, and they are averaged over prunings of nearly the same size.
func TestCosts(t *testing.T) {
	points := []frontier.Point{
		charged(0, 110, 3.02, 1), charged(1, 100, 3.01, 2), charged(2, 95, 3, 6), charged(3, 5, 1, 4), charged(4, 1, 0, 8),
	}
	points[3].Folds, points[3].FoldShare = metric.Judgement{ErrorCost: is(2), TotalCost: is(2.5)}, .75
	points[4].Validation.ErrorCost, points[4].Validation.TotalCost = nil, nil
	points[4].Folds = metric.Judgement{ErrorCost: is(7), TotalCost: is(7)}
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ errors, total float64 }{{1, 4.02}, {3, 6.01}, {6, 9}, {2.5, 3.125}, {7, 7}} {
		got := points[i].Judged
		if math.Abs(*got.ErrorCost-want.errors) > 1e-12 || math.Abs(*got.TotalCost-want.total) > 1e-12 {
			t.Errorf("point %d: %v, %v, want %+v", i, *got.ErrorCost, *got.TotalCost, want)
		}
	}
	points[0].Change(metric.Judgement{ErrorCost: is(-.25)}, metric.Judgement{})
	if got := points[0].Judged; *got.ErrorCost != .75 || math.Abs(*got.TotalCost-3.77) > 1e-12 {
		t.Errorf("errors that cost .25 less: %v, %v", *got.ErrorCost, *got.TotalCost)
	}
	points[1].Validation.ErrorCost, points[1].Validation.TotalCost = nil, nil
	err := frontier.Judge(points, frontier.AUC)
	if costs := points[0].Judged; err != nil || costs.ErrorCost != nil || costs.TotalCost != nil {
		t.Errorf("a point lacks error costs: %+v, %v", costs, err)
	}
}

// TestLeastTotalListed: by hand on grownTree. Of the 14 validation rows a leaf predicts 7 wrong, the
// tree with one test 3, and the whole tree 3. So at 3 for an error a leaf costs 1.5 and the tree with
// one test 1 + 9/14 = 1.64; at 5 they cost 2.5 and 1 + 15/14 = 2.07. Both are listed, whatever the
// step and the rule.
func TestLeastTotalListed(t *testing.T) {
	for _, c := range []struct {
		wrong float64 // cost of a wrong prediction
		rule  frontier.Rule
		want  string
		total float64
		p     float64 // of an association of a feature with the class
	}{
		{3, frontier.Total, "0/2c", 1.5, 0.5},
		{3, frontier.Highest, "0/2", 1.5, 0},
		{5, frontier.Total, "0/1c", 1 + 15./14, 0.1}, // a single leaf costs 2.5, with a standard error of 2.5/sqrt(7)
		{5, frontier.Highest, "0/1", 1 + 15./14, 0},
		{50, frontier.Total, "0/1c", 1 + 150./14, 0.1}, // a single leaf costs 25, with a standard error of 25/sqrt(7)
		{50, frontier.Total, "0/1c", 1 + 150./14, 0.3},
	} {
		list := candidates()[:1]
		label := &list[0].Tree.Label
		label.ErrorCosts = [][]float64{{0, c.wrong}, {c.wrong, 0}}
		for v := range list[0].Tree.Nodes {
			n := &list[0].Tree.Nodes[v]
			n.Class = label.Decide(n.Probabilities)
		}
		s := frontier.Settings{Query: frontier.Query{Rule: c.rule}, Currencies: both()[:1], Step: .5}
		few := pool(t, &s, list)
		few.Association = &frontier.Association{Feature: "a", P: c.p}
		if c.p > 0 { // so few rows show no signal; with errors at 3 the least total is a single leaf's
			unseen, err := few.Choose(&s)
			if err != nil || (unseen.Chosen.Leaves == 1) != (c.wrong < 50 || c.p > 0.2) || strings.Contains(unseen.Reason, "no more than chance") != (unseen.Chosen.Leaves == 1 && c.wrong > 3) {
				t.Errorf("errors at %v, without a signal: %d leaves, %q, %v", c.wrong, unseen.Chosen.Leaves, unseen.Reason, err)
			}
		}
		few.Association = &frontier.Association{Feature: "a"}
		choice, err := few.Choose(&s)
		if err != nil || choice.Reason != "" {
			t.Fatal(choice, err)
		}
		least, total, bare := "", 0.0, false
		for i, p := range choice.Listed {
			if i > 0 && c.rule == frontier.Total && *p.Judged.ErrorCost >= *choice.Listed[i-1].Judged.ErrorCost {
				t.Errorf("errors at %v: a listed tree costs more in tests and not less in errors than the one before", c.wrong)
			}
			bare = bare || p.Leaves == 1
			if p.LeastTotal {
				least, total = listed(&frontier.Choice{Listed: []frontier.Listed{p}}), *p.Judged.TotalCost
			}
		}
		if least != c.want || math.Abs(total-c.total) > 1e-12 || !bare {
			t.Errorf("errors at %v: the least total is %v of %q, want %v of %q; a single leaf listed: %v", c.wrong, total, least,
				c.total, c.want, bare)
		}
	}
}

// TestSettled: only the rule auto depends on error costs.
func TestSettled(t *testing.T) {
	for rule := frontier.First; rule <= frontier.ByCosts; rule++ {
		without := rule.Settled(false)
		with := rule.Settled(true)
		switch {
		case rule == frontier.ByCosts && (without != frontier.Best || with != frontier.Total):
			t.Errorf("%v: %v, with error costs %v", rule, without, with)
		case rule != frontier.ByCosts && (without != rule || with != rule):
			t.Errorf("%v becomes %v, with error costs %v", rule, without, with)
		}
	}
}

// TestTotalLeavesOutDominated: by hand. Of two free trees the one with fewer errors is listed, and a tree that costs more
// in tests and in errors than another is not, though its merit is the highest.
func TestTotalLeavesOutDominated(t *testing.T) {
	points := []frontier.Point{
		charged(0, 60, 9, 1), charged(1, 30, 5, 3), charged(2, 12, 2, 2), charged(3, 5, 0, 4), charged(4, 1, 0, 6),
	}
	points[1].Validation.AUC = is(.99)
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	p := &frontier.Pool{Candidates: []frontier.Candidate{{Tree: &tree.Tree{Label: tree.Label{Classes: []string{"a", "b"}}}}}}
	choice, err := p.ChooseAmong(points, &frontier.Settings{Query: frontier.Query{Rule: frontier.Total}})
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, q := range choice.Listed {
		steps = append(steps, q.Step)
	}
	if !slices.Equal(steps, []int{3, 2, 0}) || !choice.Chosen.Same(&points[2]) && choice.Chosen.Step != 3 {
		t.Errorf("steps %v, chosen %d, want 3, 2 and 0", steps, choice.Chosen.Step)
	}
}
