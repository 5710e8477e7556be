package frontier_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
)

// scored returns points that have merits and scores. Each tree is given by its leaves, area and log
// loss on the rows; the first one is a single leaf.
func scored(rows []float64, trees ...[3]float64) []frontier.Point {
	var points []frontier.Point
	for i, t := range trees {
		p := point(i, 1, 0, t[0]-1, t[1])
		p.Leaves, p.Validation.LogLoss = int(t[0]), is(t[2])
		points = append(points, p)
	}
	if err := frontier.Judge(points, frontier.AUC); err != nil {
		panic(err)
	}
	frontier.SetScores(points, rows, nil, 0)
	return points
}

// TestBest: by hand. On 200 and 200 rows the standard error of an area of .8 is .0222, of which a fifth is
// .0044. The standard error of an area of .5 is .0289, and five times as much is .1443. The entropy of the labels
// is .6931.
func TestBest(t *testing.T) {
	rows := []float64{200, 200}
	for _, c := range []struct {
		what  string
		trees [][3]float64
		want  int
	}{
		{"beyond chance", [][3]float64{{1, .5, .6931}, {2, .65, .67}}, 1},
		{"chance", [][3]float64{{1, .5, .6931}, {2, .64, .67}}, 0},
		{"the same area, but sure of noise", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {90, .81, .7}}, 1},
		{"twice the leaves for less than .2 standard errors", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {4, .804, .5}}, 1},
		{"and for more", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {4, .805, .5}}, 2},
		{"four times the leaves for less than .4", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {8, .808, .5}}, 1},
		{"and for more than .4", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {8, .81, .5}}, 2},
		{"better probabilities alone", [][3]float64{{1, .5, .6931}, {2, .8, .5}, {9, .8, .45}}, 2}, // .3*.05/.6931 = .0216
	} {
		points := scored(rows, c.trees...)
		got, err := frontier.Select(points, frontier.Query{Rule: frontier.Best})
		if err != nil || got.Tree != c.want {
			t.Errorf("%s: tree %d, %v, want %d", c.what, got.Tree, err, c.want)
		}
	}
}

// TestBestWithin: a single leaf is chosen within the limits alone, and a tolerance counts where it is
// more than chance.
func TestBestWithin(t *testing.T) {
	points := scored([]float64{2000, 2000}, [3]float64{1, .5, .6931}, [3]float64{2, .8, .5}, [3]float64{9, .85, .45})
	for _, c := range []struct {
		query frontier.Query
		want  int
	}{
		{frontier.Query{}, 2},
		{frontier.Query{Limits: frontier.Limits{Leaves: 5}}, 1},
		{frontier.Query{Tolerance: .1}, 1},
	} {
		c.query.Rule = frontier.Best
		if got, err := frontier.Select(points, c.query); err != nil || got.Tree != c.want {
			t.Errorf("%+v: tree %d, %v, want %d", c.query, got.Tree, err, c.want)
		}
	}
}

// TestReason: what a person reads of a choice.
func TestReason(t *testing.T) {
	points := scored([]float64{200, 200}, [3]float64{1, .5, .6931}, [3]float64{2, .8, .5}, [3]float64{75, .808, .5})
	for want, pair := range map[string][2]int{
		"2 leaves: a tree of 75 leaves would add 0.0080 of AUC": {1, 2},
		"": {2, 2},
	} {
		got := frontier.Reason(&points[pair[0]], &points[pair[1]])
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	noise := scored([]float64{200, 200}, [3]float64{1, .5, .6931}, [3]float64{44, .53, .9})
	want := "a single leaf: the best tree, of 44 leaves, has an AUC of 0.530 on 400 rows"
	if got := frontier.Reason(&noise[0], &noise[1]); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRaisedScore: what leaf models gain raises the score in both of its parts. The entropy of one row
// in two is .6931.
func TestRaisedScore(t *testing.T) {
	p := scored([]float64{200, 200}, [3]float64{1, .5, .6931}, [3]float64{2, .8, .5})[1]
	before := p.Score.Value
	p.Change(metric.Judgement{AUC: is(.02), LogLoss: is(-.06931)}, metric.Judgement{})
	if got := p.Score.Value - before; math.Abs(got-.05) > 1e-4 {
		t.Errorf("raised by %v, want .02 + .3 * .1", got)
	}
	if math.Abs(p.Merit-.82) > 1e-12 {
		t.Errorf("merit %v", p.Merit)
	}
}

func ExampleReason() {
	points := scored([]float64{1000, 1000}, [3]float64{1, .5, .6931}, [3]float64{2, .9, .325}, [3]float64{1309, .903, .53})
	chosen, _ := frontier.Select(points, frontier.Query{Rule: frontier.Best})
	fmt.Println(chosen.Leaves, "leaves of the rule best, though the highest area is that of a tree of", points[2].Leaves)
	// Output:
	// 2 leaves of the rule best, though the highest area is that of a tree of 1309
}
