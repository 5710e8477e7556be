package benchmark

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/bench/experiments/diagrams"
	"github.com/espalier-ml/espalier/bench/experiments/significance"
	"github.com/espalier-ml/espalier/io/chart"
)

// pictures returns all pictures.
func (r *Result) pictures(c *Config) ([]file, error) {
	var files []file
	add := func(name string, p *chart.Picture, err error) error {
		if err != nil {
			return fmt.Errorf("the picture %s: %w", name, err)
		}
		var svg bytes.Buffer
		if err := p.SVG(&svg, 0); err != nil {
			return err
		}
		files = append(files, file{picturesFolder + "/" + name + ".svg", svg.Bytes()})
		return nil
	}
	for i := range r.Comparisons {
		if err := r.Comparisons[i].draw(add); err != nil {
			return nil, err
		}
	}
	for _, set := range setsOf(r.Means) {
		p, err := diagrams.NewCurves(r.frontierCurves(set, c))
		if err := add("frontier-"+set, p, err); err != nil {
			return nil, err
		}
		if curves := r.lambdaCurves(set); curves != nil {
			p, err := diagrams.NewCurves(curves)
			if err := add("lambda-"+set, p, err); err != nil {
				return nil, err
			}
		}
	}
	for _, by := range []string{ByRows, ByFeatures} {
		if curves := r.scalingCurves(by); curves != nil {
			p, err := diagrams.NewCurves(curves)
			if err := add("time-"+by, p, err); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// draw draws the comparison of the paper's methods: all pairs, and the pairs with the control.
func (c *Comparison) draw(add func(name string, p *chart.Picture, err error) error) error {
	if c.Of != AllTrees {
		return nil
	}
	title := measureOf(c.Measure).title + ": " + variant{costs: c.Costs}.law()
	ranking := &diagrams.Ranking{Title: "Mean ranks by " + lowered(title), Critical: c.Nemenyi, Control: -1}
	for i := range c.Methods {
		ranking.Methods = append(ranking.Methods, c.Methods[i].Name)
		ranking.Ranks = append(ranking.Ranks, c.Methods[i].Rank)
	}
	ranking.Groups = significance.Groups(ranking.Ranks, c.Nemenyi)
	on := fmt.Sprintf("%d methods on %d data sets, the best to the right; ", len(c.Methods), c.Sets)
	ranking.Note = on + fmt.Sprintf("bars: not different at %g (Nemenyi)", c.Level)
	p, err := diagrams.CriticalDifference(ranking)
	name := strings.Join([]string{"ranks", c.Measure, c.Costs}, "-")
	if err := add(name+"-nemenyi", p, err); err != nil || c.Control == "" {
		return err
	}
	ranking.Control = slices.Index(ranking.Methods, c.Control)
	ranking.Critical = c.Dunn
	ranking.Note = on + fmt.Sprintf("band: not different from %s at %g (Bonferroni and Dunn)",
		c.Control, c.Level)
	p, err = diagrams.CriticalDifference(ranking)
	return add(name+"-bonferroni-dunn", p, err)
}

// lowered begins a title with a small letter, unless it begins with an abbreviation.
func lowered(title string) string {
	if title[1] >= 'A' && title[1] <= 'Z' {
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}

// sign returns the series of a method without points: plain trees have a filled sign.
func (m method) series() diagrams.Series {
	s := diagrams.Series{
		Name: m.String(), Sign: diagrams.Filled,
		Colour: slices.Index([]string{"ec45", "c45", "ecart", "cart", "asr", "ip", "bal"}, m.algorithm),
	}
	if m.pruned {
		s.Sign = diagrams.Hollow
	}
	return s
}

// frontierCurves has the mean AUC over the mean cost of each method, the published figures, and what
// the preset of the budgets has at each cost.
func (r *Result) frontierCurves(set string, c *Config) *diagrams.Curves {
	var own, published []diagrams.Series
	notes := []string{fmt.Sprintf("means over %d splits; each test costs 1; p- is pruned", r.splits())}
	dearest := 0.0
	lowest := 1.0
	for _, m := range paperMethods(c.Algorithm) {
		s := m.series()
		mean := meanOf(r.Means, UnitCosts, set, m)
		s.Points = []diagrams.Coordinates{{X: mean.Of["cost"].Mean, Y: mean.Of["auc"].Mean}}
		dearest = max(dearest, s.Points[0].X)
		lowest = min(lowest, s.Points[0].Y)
		own = append(own, s)
	}
	for i := range r.Published {
		p := &r.Published[i]
		if p.Set != set {
			continue
		}
		if p.Cost > 2*dearest { // it would press the other points together
			notes = append(notes, fmt.Sprintf("published %s: %.3f at %.1f, beyond the picture", p.Method, p.AUC, p.Cost))
			continue
		}
		published = append(published, publishedSeries(p))
		lowest = min(lowest, p.AUC)
	}
	panel := diagrams.Panel{Y: diagrams.Scale{Label: "AUC on test rows"}}
	const black, below = 6, 0.05
	line := diagrams.Series{Name: "best within each cost, --preset " + c.Budgets, Line: true, Colour: black}
	line.Points = slices.DeleteFunc(r.budgetCurve(set), func(at diagrams.Coordinates) bool { return at.Y < lowest-below })
	if len(line.Points) > 0 {
		panel.Series = []diagrams.Series{line}
	}
	panel.Series = slices.Concat(panel.Series, own, published)
	return &diagrams.Curves{
		Title: set + ": AUC over expected cost", Note: strings.Join(notes, "; "),
		X:      diagrams.Scale{Label: "expected cost of a row", Zero: true},
		Panels: []diagrams.Panel{panel},
	}
}

// publishedSeries returns a published point, in the colour of its method.
func publishedSeries(p *Published) diagrams.Series {
	algorithm, pruned := strings.CutPrefix(p.Method, prunedPrefix)
	s := method{algorithm, pruned}.series()
	s.Name = "published, in the same colours"
	s.Sign = diagrams.Plus
	if pruned {
		s.Name = "published, pruned"
		s.Sign = diagrams.Cross
	}
	s.Points = []diagrams.Coordinates{{X: p.Cost, Y: p.AUC}}
	return s
}

// budgetCurve returns the mean AUC of the answers to budgets, up to the cost where no split has a
// better tree.
func (r *Result) budgetCurve(set string) []diagrams.Coordinates {
	var splits []*Split
	dearest := 0.0
	for _, s := range r.Splits {
		if s.Set != set {
			continue
		}
		if len(s.Frontier) == 0 {
			return nil
		}
		splits = append(splits, s)
		dearest = max(dearest, s.Frontier[len(s.Frontier)-1].Cost)
	}
	const steps = 120
	var curve []diagrams.Coordinates
	for i := range steps + 1 {
		cost := float64(dearest * float64(i) / steps)
		sum := 0.0
		for _, s := range splits {
			sum += answer(s.Frontier, cost).AUC
		}
		curve = append(curve, diagrams.Coordinates{X: cost, Y: sum / float64(len(splits))})
	}
	return curve
}

// lambdaCurves has AUC on validation rows and cost over lambda, of the algorithms with a lambda. It
// is nil without such algorithms.
func (r *Result) lambdaCurves(set string) *diagrams.Curves {
	of := slices.DeleteFunc(slices.Clone(r.Splits), func(s *Split) bool { return s.Set != set })
	panels := []diagrams.Panel{
		{Y: diagrams.Scale{Label: "AUC on validation rows"}},
		{Y: diagrams.Scale{Label: "expected cost"}},
		{Y: diagrams.Scale{Label: "of random costs"}},
	}
	for _, algorithm := range []string{"ec45", "ecart"} {
		for i, law := range []string{UnitCosts, RandomCosts} {
			s := method{algorithm, law == RandomCosts}.series()
			s.Name = algorithm
			s.Line = true
			s.Dashed = law == RandomCosts
			if law == RandomCosts {
				s.Name += ", random costs"
			}
			area := s
			cost := s
			for _, l := range lambdaMeans(of, law, algorithm) {
				area.Points = append(area.Points, diagrams.Coordinates{X: l.lambda, Y: l.validation})
				cost.Points = append(cost.Points, diagrams.Coordinates{X: l.lambda, Y: l.of.Cost})
			}
			if len(area.Points) > 0 {
				panels[0].Series = append(panels[0].Series, area)
				panels[1+i].Series = append(panels[1+i].Series, cost)
			}
		}
	}
	if len(panels[0].Series) == 0 {
		return nil
	}
	return &diagrams.Curves{
		Title: set + ": what lambda does", Note: fmt.Sprintf("plain trees; means over %d splits", r.splits()),
		X: diagrams.Scale{Label: "lambda", Log: true}, Panels: panels,
	}
}

// scalingCurves has the times of a scaling experiment with their fitted lines; nil without times.
func (r *Result) scalingCurves(by string) *diagrams.Curves {
	panel := diagrams.Panel{Y: diagrams.Scale{Label: "seconds of processors", Log: true}}
	set := ""
	for i := range r.Scaling {
		s := &r.Scaling[i]
		if s.By != by {
			continue
		}
		set = s.Set
		times := method{algorithm: s.Algorithm}.series()
		fitted := times
		times.Name = fmt.Sprintf("%s: slope %.2f (%.2f to %.2f)", s.Algorithm, s.Rest.Slope, s.Rest.Low, s.Rest.High)
		fitted.Name = ""
		fitted.Sign = diagrams.NoSign
		fitted.Line = true
		for _, t := range s.Times {
			if rest := t.Seconds - s.Start; rest > 0 {
				times.Points = append(times.Points, diagrams.Coordinates{X: float64(t.Size), Y: rest})
			}
		}
		for _, end := range s.line() {
			fitted.Points = append(fitted.Points, diagrams.Coordinates{X: float64(end.Size), Y: end.Seconds})
		}
		panel.Series = append(panel.Series, fitted, times)
	}
	if len(panel.Series) == 0 {
		return nil
	}
	return &diagrams.Curves{
		Title: "Time against " + by + " of " + set, X: diagrams.Scale{Label: by, Log: true}, Panels: []diagrams.Panel{panel},
		Note: "one tree, without the start that every run takes; fitted lines, slopes with 95 % intervals",
	}
}
