package diagrams_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/bench/experiments/diagrams"
	"github.com/espalier-ml/espalier/io/chart"
	"github.com/espalier-ml/espalier/io/pagetest"
)

// TestPictures: with plain and with hostile names, pictures are well formed and their texts do not overlap.
func TestPictures(t *testing.T) {
	for _, n := range []int{2, 3, 11, 40} {
		for kind, names := range map[string][]string{"plain": plain(n), "hostile": hostile(n)} {
			for _, control := range []int{-1, n / 2} {
				p, err := diagrams.CriticalDifference(rankingOf(names, control))
				check(t, fmt.Sprintf("ranks of %d %s methods, control %d", n, kind, control), p, err)
			}
			p, err := diagrams.NewCurves(curvesOf(names))
			check(t, fmt.Sprintf("curves of %d %s names", n, kind), p, err)
		}
	}
}

func check(t *testing.T, name string, p *chart.Picture, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	pagetest.CheckPicture(t, name, written(t, p))
}

func written(t *testing.T, p *chart.Picture) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.SVG(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// plain returns n names of usual length, hostile the names of pagetest, each with a number of
// quotes at its end.
func plain(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("Horizontal_Distance_To_%d", i)
	}
	return names
}

func hostile(n int) []string {
	names, nasty := make([]string, n), pagetest.Names()
	for i := range names {
		names[i] = nasty[i%len(nasty)] + strings.Repeat("'", i/len(nasty))
	}
	return names
}

// rankingOf returns methods with equal ranks among them, in runs that do not differ.
func rankingOf(names []string, control int) *diagrams.Ranking {
	r := &diagrams.Ranking{Title: names[0], Note: names[len(names)-1], Methods: names, Critical: 2.5, Control: control}
	for i := range names {
		r.Ranks = append(r.Ranks, float64(1+i-i%2))
		if i > 0 {
			r.Groups = append(r.Groups, [2]int{i - 1, i})
		}
	}
	return r
}

// curvesOf returns two panels of curves with all signs, on logarithmic axes.
func curvesOf(names []string) *diagrams.Curves {
	c := &diagrams.Curves{Title: names[0], Note: "note " + names[len(names)-1], X: diagrams.Scale{Label: names[1], Log: true}}
	for range 2 {
		panel := diagrams.Panel{Y: diagrams.Scale{Label: names[0], Log: true}}
		for i, name := range names {
			s := diagrams.Series{Name: name, Line: i%2 == 0, Dashed: i%4 == 0, Colour: i, Sign: diagrams.Sign(i % 5)}
			for k := range 9 {
				s.Points = append(s.Points, diagrams.Coordinates{X: float64(k + 1), Y: float64((i + 1) * (k + 1))})
			}
			panel.Series = append(panel.Series, s)
		}
		c.Panels = append(c.Panels, panel)
	}
	return c
}

// TestRefusedComparisons: descending ranks, and points without a place on an axis.
func TestRefusedComparisons(t *testing.T) {
	for want, change := range map[string]func(r *diagrams.Ranking){
		"two methods or more": func(r *diagrams.Ranking) { r.Methods = r.Methods[:1] },
		"ascending":           func(r *diagrams.Ranking) { r.Ranks[0] = 2.5 },
		"mean rank NaN":       func(r *diagrams.Ranking) { r.Ranks[1] = math.NaN() },
	} {
		r := rankingOf(plain(3), -1)
		change(r)
		if _, err := diagrams.CriticalDifference(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
	for want, change := range map[string]func(c *diagrams.Curves){
		"no panel":       func(c *diagrams.Curves) { c.Panels = nil },
		"has no points":  func(c *diagrams.Curves) { c.Panels[1].Series = nil },
		"the point (0, ": func(c *diagrams.Curves) { c.Panels[0].Series[0].Points[0].X = 0 },
		"NaN) has no":    func(c *diagrams.Curves) { c.Panels[0].Series[0].Points[0].Y = math.NaN() },
	} {
		c := curvesOf(plain(2))
		change(c)
		if _, err := diagrams.NewCurves(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestCurvePlaces: on a logarithmic axis equal ratios are equal distances.
func TestCurvePlaces(t *testing.T) {
	points := []diagrams.Coordinates{{X: 1, Y: 5}, {X: 10, Y: 5}, {X: 100, Y: 6}}
	p, err := diagrams.NewCurves(&diagrams.Curves{X: diagrams.Scale{Log: true}, Panels: []diagrams.Panel{{
		Series: []diagrams.Series{{Points: points, Line: true}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`stroke-width="1.6" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"`).
		FindStringSubmatch(written(t, p))
	if found == nil {
		t.Fatal("the picture has no line of three points")
	}
	var at [7]float64
	for i := 1; i < len(at); i++ {
		at[i], _ = strconv.ParseFloat(found[i], 64)
	}
	if first, second := at[3]-at[1], at[5]-at[3]; math.Abs(first-second) > 0.02 || first < 100 {
		t.Errorf("distances %v and %v, want equal ones", first, second)
	}
	if at[2] != at[4] || at[6] > at[4]-100 {
		t.Errorf("heights %v, %v, %v: want two equal ones, and a higher one", at[2], at[4], at[6])
	}
}
