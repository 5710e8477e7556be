package frontier_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/tree"
)

// pruned is a step of a tree's sequence.
func pruned(step, leaves int, cost, auc float64) frontier.Point {
	return frontier.Point{
		Currency: prune.Leaves, Step: step, Validation: metric.Judgement{AUC: is(auc), LogLoss: is(1 - auc)},
		Complexity: tree.Complexity{ExpectedCost: cost, Leaves: leaves},
	}
}

// TestJudge: by hand. The third pruning is averaged with two before and two after
// it, the second with one on each side. The others lack an alike neighbour on one
// side.
func TestJudge(t *testing.T) {
	points := []frontier.Point{
		pruned(0, 120, 10.3, .90), pruned(1, 115, 10.2, .94), pruned(2, 110, 10.1, .91), pruned(3, 105, 10.0, .93),
		pruned(4, 100, 9.9, .92),
		pruned(5, 50, 9.8, .80), // alike in cost, not in leaves
		pruned(6, 49, 5.0, .70), // alike in leaves, not in cost
		pruned(7, 1, 0, .5),
	}
	want := []float64{
		.90, (.90 + .94 + .91) / 3, (.90 + .94 + .91 + .93 + .92) / 5, (.91 + .93 + .92) / 3, .92, .80,
		.70, .5,
	}
	r := rand.New(rand.NewPCG(2, 9))
	for range 20 {
		r.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		if err := frontier.Judge(points, frontier.AUC); err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			if math.Abs(p.Merit-want[p.Step]) > 1e-12 {
				t.Errorf("step %d: merit %v, want %v", p.Step, p.Merit, want[p.Step])
			}
		}
	}
}

// TestJudgeKinds: the merit is the area on the validation rows, the area on the
// folds, or the weighted mean of the two.
func TestJudgeKinds(t *testing.T) {
	points := []frontier.Point{pruned(0, 20, 3, .9), pruned(1, 9, 2, .8), pruned(2, 2, 1, .7)}
	points[0].Folds.AUC, points[0].FoldShare = is(.8), .75
	points[1].Validation.AUC, points[1].Folds.AUC = nil, is(.6)
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.825, .6, .7} {
		if math.Abs(points[i].Merit-want) > 1e-12 {
			t.Errorf("point %d: merit %v, want %v", i, points[i].Merit, want)
		}
	}
}

// TestJudgeNaive: on random nested sequences of several trees, the merits equal those
// of a search for each point's run from its definition.
func TestJudgeNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		var points []frontier.Point
		for grown := range 3 {
			leaves, cost := 2+r.IntN(400), 3+20*r.Float64()
			for step := 0; leaves > 1; step++ {
				p := pruned(step, leaves, cost, r.Float64())
				p.Tree = grown
				points = append(points, p)
				leaves -= 1 + r.IntN(max(1, leaves/20))
				cost *= 1 - 0.03*r.Float64()
			}
		}
		if err := frontier.Judge(points, frontier.AUC); err != nil {
			t.Fatal(err)
		}
		for i := range points {
			if want := naiveMerit(points, i); math.Abs(points[i].Merit-want) > 1e-12 {
				t.Fatalf("point %d: merit %v, want %v", i, points[i].Merit, want)
			}
		}
	}
}

// naiveMerit widens the run around a point while both ends are alike to the point.
func naiveMerit(points []frontier.Point, at int) float64 {
	alike := func(large, small frontier.Point) bool {
		return float64(large.Leaves) <= 1.2*float64(small.Leaves) && large.ExpectedCost <= 1.05*small.ExpectedCost
	}
	values := []float64{*points[at].Validation.AUC}
	for side := 1; ; side++ {
		i, j := at-side, at+side
		if i < 0 || j >= len(points) || points[i].Tree != points[at].Tree || points[j].Tree != points[at].Tree ||
			!alike(points[i], points[at]) || !alike(points[at], points[j]) {
			break
		}
		values = append(values, *points[i].Validation.AUC, *points[j].Validation.AUC)
	}
	sum := 0.0
	for _, v := range slices.Backward(values) {
		sum += v
	}
	return sum / float64(len(values))
}
