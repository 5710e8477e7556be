package frontier_test

import (
	"math"
	"testing"

	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
)

// TestCriteria: by hand. The second figures are of the folds, which have three quarters of the weight.
func TestCriteria(t *testing.T) {
	p := pruned(0, 9, 2, .9)
	p.Validation.Accuracy, p.FoldShare = is(.6), .75
	p.Folds = metric.Judgement{AUC: is(.5), LogLoss: is(.5), Accuracy: is(.4)}
	want := frontier.Merits{frontier.AUC: .6, frontier.LogLoss: -.4, frontier.Accuracy: .45}
	for by := frontier.AUC; by <= frontier.Accuracy; by++ {
		points := []frontier.Point{p}
		if err := frontier.Judge(points, by); err != nil {
			t.Fatal(err)
		}
		if got := &points[0]; math.Abs(got.Merit-want[by]) > 1e-12 || got.Merit != got.Merits[by] || got.By != by {
			t.Errorf("%v: merit %v of %v by %v, want %v", by, got.Merit, got.Merits, got.By, want[by])
		}
		if parsed, err := frontier.ParseCriterion(by.String()); err != nil || parsed != by {
			t.Errorf("%v: %v, %v", by, parsed, err)
		}
		for c := range want {
			if by := frontier.Criterion(c); by >= frontier.AUC && math.Abs(points[0].Merits[c]-want[c]) > 1e-12 {
				t.Errorf("merit by %v: %v, want %v", by, points[0].Merits[c], want[c])
			}
		}
	}
	if _, err := frontier.ParseCriterion("gini"); err == nil {
		t.Error("an unknown criterion is parsed")
	}
}

// TestDefaultCriterion: the number of classes decides, unless the settings name a criterion or the rule is about areas.
func TestDefaultCriterion(t *testing.T) {
	for _, c := range []struct {
		merit   frontier.Criterion
		rule    frontier.Rule
		classes int
		want    frontier.Criterion
	}{
		{0, frontier.Best, 2, frontier.AUC},
		{frontier.Auto, frontier.Best, 5, frontier.AUC},
		{frontier.Auto, frontier.Best, 6, frontier.Accuracy},
		{frontier.Auto, frontier.OneSE, 6, frontier.AUC},
		{frontier.Auto, frontier.Paper, 6, frontier.AUC},
		{frontier.LogLoss, frontier.Best, 2, frontier.LogLoss},
	} {
		s := frontier.Settings{Merit: c.merit, Query: frontier.Query{Rule: c.rule}}
		if got := s.Criterion(c.classes); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// ofClasses returns points of four trees with costs of 0, 1, 2 and 3, and a pool with the given number of
// classes. The first tree is a single leaf.
func ofClasses(t *testing.T, classes int, by frontier.Criterion) (*frontier.Pool, []frontier.Point) {
	t.Helper()
	var points []frontier.Point
	for i, f := range [][3]float64{{.5, 1.4, .3}, {.8, .9, .6}, {.79, .8, .5}, {.85, .85, .55}} {
		p := point(i, 1, 0, float64(i), f[0])
		p.Validation.LogLoss, p.Validation.Accuracy = is(f[1]), is(f[2])
		points = append(points, p)
	}
	if err := frontier.Judge(points, by); err != nil {
		t.Fatal(err)
	}
	label := tree.Label{Classes: []string{"a", "b", "c", "d"}[:classes]}
	return &frontier.Pool{Candidates: []frontier.Candidate{{Tree: &tree.Tree{Label: label}}}}, points
}

// TestFrontsByCriterion: by hand. By area the trees at 0, 1 and 3 are on the front, by log loss all but the last one, and by accuracy
// the first two. With two classes only the criterion of the choice counts.
func TestFrontsByCriterion(t *testing.T) {
	for _, c := range []struct {
		classes int
		by      frontier.Criterion
		want    string
	}{
		{2, frontier.AUC, "0/0 1/0 3/0h"},
		{2, frontier.LogLoss, "0/0 1/0 2/0h"},
		{2, frontier.Accuracy, "0/0 1/0h"},
		{3, frontier.AUC, "0/0 1/0 2/0 3/0h"},
		{4, frontier.LogLoss, "0/0 1/0 2/0h 3/0"},
		{4, frontier.Accuracy, "0/0 1/0h 2/0 3/0"},
	} {
		p, points := ofClasses(t, c.classes, c.by)
		choice, err := p.ChooseAmong(points, &frontier.Settings{Query: frontier.Query{Rule: frontier.Highest}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range choice.Listed {
			q := &choice.Listed[i]
			if q.Chosen != q.Highest || q.Merit != q.Merits[c.by] {
				t.Errorf("%d classes by %v: %d is chosen %v, has the merit %v", c.classes, c.by, q.Tree, q.Chosen, q.Merit)
			}
			choice.Listed[i].Chosen = false
		}
		if got := listed(choice); got != c.want {
			t.Errorf("%d classes by %v: %s, want %s", c.classes, c.by, got, c.want)
		}
	}
}

// TestSteps: by hand. The log losses of the front range over .6 nats, so a step of .21 of an area is .504 nats, and the
// tree at 1 is .5 better than the leaf.
func TestSteps(t *testing.T) {
	for step, want := range map[float64]string{.20: "0/0 1/0 2/0h", .21: "0/0 2/0h"} {
		p, points := ofClasses(t, 2, frontier.LogLoss)
		choice, err := p.ChooseAmong(points, &frontier.Settings{Query: frontier.Query{Rule: frontier.Highest}, Step: step})
		if err != nil {
			t.Fatal(err)
		}
		for i := range choice.Listed {
			choice.Listed[i].Chosen = false
		}
		if got := listed(choice); got != want {
			t.Errorf("step %v: %s, want %s", step, got, want)
		}
	}
}

// TestBestByCriterion: by hand, on 400 rows. A leaf has the log loss ln 2 = .6931. By log loss the score is the skill: .2
// standard errors of a deviation of .5 are .2 * .5 / 20 = .005 nats for each doubling of the leaves. By accuracy, .2
// standard errors of .8 are .2 * .4 / 20 = .004.
func TestBestByCriterion(t *testing.T) {
	for _, c := range []struct {
		by      frontier.Criterion
		figures [][3]float64 // leaves, log loss, accuracy
		want    int
	}{
		{frontier.LogLoss, [][3]float64{{1, .6931, .5}, {2, .5, .8}, {4, .496, .8}}, 1},
		{frontier.LogLoss, [][3]float64{{1, .6931, .5}, {2, .5, .8}, {4, .494, .8}}, 2},
		{frontier.Accuracy, [][3]float64{{1, .6931, .5}, {2, .5, .796}, {4, .5, .799}}, 1},
		{frontier.Accuracy, [][3]float64{{1, .6931, .5}, {2, .5, .795}, {4, .5, .8}}, 2},
		{frontier.Accuracy, [][3]float64{{1, .6931, .5}, {2, .5, .795}, {4, .52, .8}}, 1}, // .3 * .02 / .6931 = .0087
	} {
		var points []frontier.Point
		for i, f := range c.figures {
			p := point(i, 1, 0, f[0]-1, .9)
			if i == 0 {
				p.Validation.AUC = is(.5)
			}
			p.Leaves, p.Validation.LogLoss, p.Validation.Accuracy = int(f[0]), is(f[1]), is(f[2])
			points = append(points, p)
		}
		if err := frontier.Judge(points, c.by); err != nil {
			t.Fatal(err)
		}
		frontier.SetScores(points, []float64{200, 200}, nil, .5)
		if got, err := frontier.Select(points, frontier.Query{Rule: frontier.Best}); err != nil || got.Tree != c.want {
			t.Errorf("%v %v: tree %d, %v, want %d", c.by, c.figures, got.Tree, err, c.want)
		}
	}
}
