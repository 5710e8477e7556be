package frontier_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/prune"
)

// listed writes the listed points as step and marks: c for chosen, h for highest.
func listed(c *frontier.Choice) string {
	var list []string
	for _, p := range c.Listed {
		var marks []byte
		for i, marked := range []bool{p.Chosen, p.Highest} {
			if marked {
				marks = append(marks, "ch"[i])
			}
		}
		list = append(list, fmt.Sprintf("%d/%d%s", p.Tree, p.Step, marks))
	}
	return strings.Join(list, " ")
}

// TestChoose: by hand on grownTree, pruned in leaves. Costs and areas are 0 and .5, 1
// and .786, 2.25 and .827. The second tree has equal points, after the points of the first tree. The tree with one
// test has a worst path of 1, the whole tree one of 3.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		query frontier.Query
		step  float64
		want  string
	}{
		{frontier.Query{Rule: frontier.Highest}, 0, "0/2 0/1 0/0ch"},
		{frontier.Query{Rule: frontier.First}, 0, "0/2 0/1 0/0ch"},
		{frontier.Query{Rule: frontier.Best}, 0, "0/2c 0/1 0/0h"}, // 14 rows: an area of .827 is no more than chance gives
		{frontier.Query{Rule: frontier.Highest, Limits: frontier.Limits{ExpectedCost: 2}}, 0, "0/2 0/1ch 0/0"},
		{frontier.Query{Rule: frontier.Highest, Limits: frontier.Limits{Leaves: 1}}, 0, "0/2ch 0/1 0/0"},
		{frontier.Query{Rule: frontier.Highest, Limits: frontier.Limits{Leaves: 1}}, .5, "0/2ch 0/0"},
	} {
		s := frontier.Settings{Query: c.query, Step: c.step, Currencies: both()[:1]}
		choice, err := pool(t, &s, candidates()).Choose(&s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		if got := listed(choice); got != c.want {
			t.Errorf("%+v: %s, want %s", s, got, c.want)
		}
		for _, p := range choice.Listed {
			if p.Chosen && (p.Step != choice.Chosen.Step || p.Tree != choice.Chosen.Tree) {
				t.Errorf("%+v: chosen %+v, listed as chosen %+v", s, choice.Chosen, p)
			}
		}
	}
}

// TestThinned: by hand. At a price of .1 for the second test of grownTree, 0/1 has nearly
// the cost of 0/0. A step of .3 drops 0/1, whose area is .286 above the area
// of 0/2.
func TestThinned(t *testing.T) {
	for step, want := range map[float64]string{0: "0/2 0/1 0/0ch", .28: "0/2 0/1 0/0ch", .3: "0/2 0/0ch"} {
		s := frontier.Settings{Query: frontier.Query{Rule: frontier.Highest}, Step: step, Currencies: both()[:1]}
		list := candidates()[:1]
		list[0].Tree.Nodes[2].Test.Cost = .1
		choice, err := pool(t, &s, list).Choose(&s)
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(choice); got != want {
			t.Errorf("step %v: listed %s, want %s", step, got, want)
		}
	}
}

// TestOffTheFrontier: by hand. The second tree costs 2 + .5*5/8 = 2.3125 instead of
// 2.25, for the same area, and its worst path costs 2.5 instead of 3. A limit of 2.5
// chooses it. It is listed, though the first tree dominates it.
func TestOffTheFrontier(t *testing.T) {
	list := candidates()
	list[1].Tree.Nodes[0].Test.Cost, list[1].Tree.Nodes[2].Test.Cost = 2, .5
	s := frontier.Settings{Query: frontier.Query{Rule: frontier.Highest, Limits: frontier.Limits{MaxCost: 2.5}}}
	choice, err := pool(t, &s, list).Choose(&s)
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(choice); got != "0/0 1/0ch" {
		t.Errorf("listed %s, want 0/0 1/0ch", got)
	}
}

// TestOneStandardError: by hand on grownTree, the standard error of the 14 validation
// rows is between .041 and .326, the distances from the highest area to the others: it
// chooses the tree with one test.
func TestOneStandardError(t *testing.T) {
	s := frontier.Settings{Query: frontier.Query{Rule: frontier.OneSE}, Currencies: both()}
	p := pool(t, &s, candidates())
	choice, err := p.Choose(&s)
	if err != nil {
		t.Fatal(err)
	}
	area := metric.Area(metric.Leaves(p.Candidates[0].Tree, p.Candidates[0].Counts[dataset.Validation]))
	if area.StandardError <= .041 || area.StandardError >= .326 {
		t.Errorf("standard error %v", area.StandardError)
	}
	if got := listed(choice); got != "0/2 0/1c 0/0h" {
		t.Errorf("listed %s", got)
	}
	if got := p.Points[0].Validation.Interval; got == nil || *got != area.Interval {
		t.Errorf("interval %+v, want %+v", got, area.Interval)
	}
}

// TestNoChoice: without validation rows, and with limits that no tree keeps.
func TestNoChoice(t *testing.T) {
	s := frontier.Settings{Query: frontier.Query{Rule: frontier.Highest}, Currencies: both()}
	list := candidates()
	for i := range list {
		list[i].Counts[dataset.Validation] = list[i].Tree.NewLeafCounts()
	}
	if _, err := pool(t, &s, list).Choose(&s); !errors.Is(err, frontier.ErrNoMerit) {
		t.Errorf("without rows: %v", err)
	}
	s.Currencies, s.Limits = nil, frontier.Limits{ExpectedCost: 1}
	if _, err := pool(t, &s, candidates()).Choose(&s); !errors.Is(err, frontier.ErrLimits) {
		t.Errorf("trees of cost 2.25 within 1: %v", err)
	}
}

func limited(l frontier.Limits) frontier.Settings {
	return frontier.Settings{Query: frontier.Query{Limits: l}}
}

func TestUndecided(t *testing.T) {
	alpha := 0.1
	for name, c := range map[string]struct {
		settings frontier.Settings
		trees    int
		want     bool
	}{
		"several trees":            {frontier.Settings{}, 2, true},
		"one tree":                 {frontier.Settings{}, 1, false},
		"prunings":                 {frontier.Settings{Currencies: both()}, 1, true},
		"one alpha":                {frontier.Settings{Currencies: both(), Alpha: &alpha}, 1, false},
		"trees at one alpha":       {frontier.Settings{Currencies: both(), Alpha: &alpha}, 2, true},
		"a budget":                 {limited(frontier.Limits{ExpectedCost: 1}), 1, true},
		"a budget of a path":       {limited(frontier.Limits{MaxCost: 1}), 1, true},
		"a limit the growth keeps": {limited(frontier.Limits{Leaves: 4}), 1, false},
	} {
		c.settings.Rule = frontier.Best
		if got := c.settings.Undecided(c.trees); got != c.want {
			t.Errorf("%s: undecided %v", name, got)
		}
		c.settings.Rule = frontier.First
		if c.settings.Undecided(c.trees) {
			t.Errorf("%s: the rule first has a choice", name)
		}
	}
}

// TestSole: the tree where there is no choice, by hand on grownTree: at alpha .25 in
// leaves the second test is cut, which is worth .2. Each test costs at least 1, so a path of cost 1 has one test.
func TestSole(t *testing.T) {
	alpha := .25
	limit := func(l frontier.Limits) frontier.Query { return frontier.Query{Rule: frontier.Best, Limits: l} }
	c := candidates()[0]
	full := c.Tree.Complexity
	for name, one := range map[string]struct {
		settings frontier.Settings
		leaves   int // 0: no tree is within the limits
	}{
		"un-pruned":           {frontier.Settings{Currencies: both()}, 3},
		"no currency":         {frontier.Settings{Alpha: &alpha}, 3},
		"pruned":              {frontier.Settings{Currencies: both(), Alpha: &alpha}, 2},
		"unjudged, alpha":     {frontier.Settings{Query: limit(frontier.Limits{}), Currencies: both(), Alpha: &alpha}.Unjudged(), 2},
		"unjudged":            {frontier.Settings{Query: limit(frontier.Limits{}), Currencies: both()}.Unjudged(), 3},
		"a kept limit":        {frontier.Settings{Query: limit(frontier.Limits{MaxCost: full.MaxCost}), Currencies: both()}.Unjudged(), 3},
		"a limit of cost":     {frontier.Settings{Query: limit(frontier.Limits{ExpectedCost: full.ExpectedCost - .1}), Currencies: both()}.Unjudged(), 2},
		"a limit of a path":   {frontier.Settings{Query: limit(frontier.Limits{MaxCost: full.MaxCost - .1}), Currencies: both()}.Unjudged(), 2},
		"a limit below tests": {frontier.Settings{Query: limit(frontier.Limits{MaxCost: .1}), Currencies: both()}.Unjudged(), 1},
		"alpha and a limit":   {frontier.Settings{Query: limit(frontier.Limits{MaxCost: .1}), Currencies: both(), Alpha: &alpha}.Unjudged(), 1},
		"a limit, not pruned": {frontier.Settings{Query: limit(frontier.Limits{MaxCost: .1})}.Unjudged(), 0},
		"leaves of a refit":   {frontier.Settings{Query: limit(frontier.Limits{Leaves: 2})}.Unjudged(), 0},
	} {
		got, err := one.settings.Sole(&c)
		if one.leaves == 0 {
			if !errors.Is(err, frontier.ErrLimits) {
				t.Errorf("%s: error %v, want ErrLimits", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Tree.Complexity.Leaves != one.leaves || got.Grown != c.Tree {
			t.Errorf("%s: %d leaves, want %d", name, got.Tree.Complexity.Leaves, one.leaves)
		}
		if want := .2; name == "pruned" && math.Abs(got.Tree.Algorithm.Alpha-want) > 1e-15 {
			t.Errorf("%s: alpha %v, want that of the step, %v", name, got.Tree.Algorithm.Alpha, want)
		}
	}
	s := frontier.Settings{Query: frontier.Query{Rule: frontier.Best}, Currencies: both()}.Unjudged()
	if s.Rule != frontier.First || len(s.Currencies) > 0 || s.Undecided(5) {
		t.Errorf("unjudged: %+v", s)
	}
}

// TestGrownLeaves: the limit of leaves is kept as a tree grows, unless prunings compete that can keep it.
func TestGrownLeaves(t *testing.T) {
	alpha := .25
	for name, c := range map[string]struct {
		settings frontier.Settings
		want     int
	}{
		"prunings compete": {frontier.Settings{Query: frontier.Query{Rule: frontier.Best}, Currencies: both()}, 0},
		"not pruned":       {frontier.Settings{Query: frontier.Query{Rule: frontier.Best}}, 3},
		"a fixed alpha":    {frontier.Settings{Query: frontier.Query{Rule: frontier.Best}, Currencies: both(), Alpha: &alpha}, 3},
		"first":            {frontier.Settings{Query: frontier.Query{Rule: frontier.First}, Currencies: both()}, 3},
	} {
		c.settings.Limits.Leaves = 3
		if got := c.settings.GrownLeaves(); got != c.want {
			t.Errorf("%s: %d leaves, want %d", name, got, c.want)
		}
	}
}

// TestFronts: by hand. Of tree 0 the point of cost 2 is dominated, and the step of the point of
// cost 4 is too small; tree 1 has a front of its own, though tree 0 is better everywhere. So have
// the prunings of a tree in another currency.
func TestFronts(t *testing.T) {
	point := func(tree int, cost, merit float64) frontier.Point {
		p := frontier.Point{Tree: tree, Merit: merit}
		p.ExpectedCost, p.MaxCost = cost, cost
		return p
	}
	pool := &frontier.Pool{Candidates: make([]frontier.Candidate, 2), Points: []frontier.Point{
		point(0, 5, 0.9), point(0, 4, 0.801), point(0, 3, 0.8), point(0, 2, 0.6), point(0, 1, 0.7),
		point(1, 3, 0.75), point(1, 1, 0.65),
	}}
	for _, merit := range []float64{0.5, 0.6} {
		p := point(0, 10*merit, merit)
		p.Currency = prune.MaxCost
		pool.Points = append(pool.Points, p)
	}
	var got []float64
	for _, p := range pool.Fronts(0.01) {
		got = append(got, p.Merit)
	}
	if want := []float64{0.7, 0.8, 0.9, 0.65, 0.75, 0.5, 0.6}; !slices.Equal(got, want) {
		t.Errorf("merits %v, want %v", got, want)
	}
}

// TestContenders: by hand. The standard error of an area of 0.8 on 50 and 50 rows is 0.045 by Hanley
// and McNeil. On a quarter of the rows it is about twice as large.
func TestContenders(t *testing.T) {
	point := func(cost float64, leaves int, merit float64) frontier.Point {
		p := frontier.Point{Merit: merit, Score: &frontier.Score{Value: merit, Rows: []float64{50, 50}}}
		p.ExpectedCost, p.MaxCost, p.Leaves = cost, 2*cost, leaves
		return p
	}
	points := []frontier.Point{
		point(2, 10, 0.8),  // the best
		point(2, 10, 0.79), // behind by chance
		point(3, 20, 0.74), // behind by more, but not on a quarter of the rows
		point(2, 2, 0.68),  // behind by far, with fewer leaves
		point(1, 2, 0.67),  // the cheapest
	}
	best := frontier.Query{Rule: frontier.Best}
	limited := best
	limited.Limits.MaxCost = 3 // the last point alone is within
	for name, c := range map[string]struct {
		query          frontier.Query
		share          float64
		standardErrors float64
		bySize         bool
		want           []bool
	}{
		"all rows":    {best, 1, 1, false, []bool{true, true, false, false, true}},
		"a quarter":   {best, 0.25, 1, false, []bool{true, true, true, false, true}},
		"a fifth":     {best, 1, 0.2, false, []bool{true, false, false, false, true}},
		"by size":     {best, 1, 0.5, true, []bool{true, true, false, true, true}},
		"total":       {frontier.Query{Rule: frontier.Total}, 1, 1, false, []bool{true, true, true, true, true}},
		"beyond cost": {limited, 1, 1, false, []bool{true, true, false, false, true}},
	} {
		if got := frontier.Contenders(points, c.query, c.share, c.standardErrors, c.bySize); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	within := point(2.5, 2, 0.7) // costs more on average, and less on its most expensive path
	within.MaxCost = 3
	got := frontier.Contenders([]frontier.Point{point(2, 10, 0.9), within}, limited, 1, 1, false)
	if want := []bool{true, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: a point beyond the limits does not beat a point within them", got, want)
	}
}
