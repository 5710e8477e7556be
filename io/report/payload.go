package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/svg"
	"github.com/espalier-ml/espalier/io/textview"
)

// payload is the data for the script of the page: see the type Data in score.js.
type payload struct {
	Label      string            `json:"label"`
	Classes    []string          `json:"classes"`
	Positive   *int              `json:"positive,omitempty"` // index of the class of interest; absent: none is named
	Unit       string            `json:"unit,omitempty"`     // unit of costs
	Priced     bool              `json:"priced,omitempty"`   // whether features have prices
	Factors    []float64         `json:"factors,omitempty"`  // factors of the priors, by class
	ErrorCosts [][]float64       `json:"errorCosts,omitempty"`
	Features   []pageFeature     `json:"features"`
	Tests      []json.RawMessage `json:"tests"`
	Trees      []json.RawMessage `json:"trees"` // the tree of the run, then the trees of the points
	Points     []point           `json:"points"`
	Path       []int             `json:"path,omitempty"` // nodes on the path of the shown row
	Decisions  *decisions        `json:"decisions,omitempty"`
}

// decisions are the operating points of the class of interest, from the highest threshold to the lowest.
type decisions struct {
	Of     int64          `json:"of"`    // number of rows that counts are of
	Own    int            `json:"own"`   // the point at which the tree decides; -1: no point is known to be that
	Start  int            `json:"start"` // the point nearest to it
	Points []decisionLine `json:"points"`
}

// decisionLine is an operating point. Shares and their 95 % intervals are null where they are not defined.
type decisionLine struct {
	Threshold   float64    `json:"threshold"`
	Sensitivity []*float64 `json:"sensitivity"` // with the ends of its interval, as other shares
	Specificity []*float64 `json:"specificity"`
	PPV         []*float64 `json:"ppv"`
	NPV         []*float64 `json:"npv"`
	Counts      [4]int64   `json:"counts"`           // rows found, missed, called falsely, and rightly not called
	Errors      *float64   `json:"errors,omitempty"` // expected cost of errors per row
}

// point is a point of the frontier on the page.
type point struct {
	Name       string   `json:"name"` // number of its file
	Tree       int      `json:"tree"` // index in Trees; -1 if the page has no room for it
	Cost       float64  `json:"cost"`
	Most       float64  `json:"most"` // cost of the most expensive path
	Tests      float64  `json:"tests"`
	Leaves     int      `json:"leaves"`
	Depth      int      `json:"depth"`
	Merit      float64  `json:"merit"`
	Validation *float64 `json:"validation"` // area under the ROC curve
	Folds      *float64 `json:"folds"`      // mean area on the folds of the training rows
	Low        float64  `json:"low,omitempty"`
	High       float64  `json:"high,omitempty"`
	Test       *float64 `json:"test"`
	Loss       *float64 `json:"loss"`      // log loss on validation rows
	Accuracy   *float64 `json:"accuracy"`  // on validation rows
	ErrorCost  *float64 `json:"errorCost"` // expected cost of a prediction; null without error costs
	Total      *float64 `json:"total"`     // expected cost of the tests and the prediction
	Chosen     bool     `json:"chosen,omitempty"`
	Marks      string   `json:"marks,omitempty"`

	Spot [2]float64 `json:"spot"` // position in the picture of the frontier
}

// maxPoints is the greatest number of points of the frontier on the page.
const maxPoints = 250

// maxNamed is the greatest number of classes that are all named.
const maxNamed = 1000

// maxPriced is the greatest number of classes for which the page has the costs of errors, which
// models need to decide.
const maxPriced = 50

// newPayload makes the data of a page.
func newPayload(r *runfolder.Run, route *textview.Route, spots []svg.Point, room int) *payload {
	t := r.Tree
	d := &payload{
		Label: textview.Name(t.Label.Column), Unit: unitOf(t), Points: []point{}, Classes: make([]string, len(t.Label.Classes)),
	}
	shown, _ := textview.Interested(t)
	if k := shown.Label.Positive(); k >= 0 {
		d.Positive = &k
	}
	d.Priced = (&textview.Overview{Run: r}).Priced()
	_, m := r.Metrics.Best()
	d.Decisions = newDecisions(t, m)
	a := &album{tests: newTests(), left: room, plain: t.Label.ErrorCosts != nil && len(t.Label.Classes) > maxPriced}
	if r.Frontier == nil {
		d.Trees = []json.RawMessage{a.add(t, room)}
	} else {
		d.Trees = []json.RawMessage{a.add(t, min(room, maxRunTree))}
		d.addPoints(a, r, spots)
	}
	if t.Modelled() && !a.plain {
		d.Factors = t.PriorFactors()
		d.ErrorCosts = t.Label.ErrorCosts
	}
	named := make([]bool, len(d.Classes))
	for i := range t.Nodes {
		named[t.Nodes[i].Class] = true
	}
	for k := range d.Classes {
		if len(d.Classes) <= maxNamed || named[k] {
			d.Classes[k] = textview.Name(t.Label.Classes[k])
		}
	}
	d.Features = a.tests.pageFeatures()
	for _, text := range a.tests.list {
		d.Tests = append(d.Tests, json.RawMessage(text))
	}
	if route != nil {
		for i := range route.Steps {
			d.Path = append(d.Path, route.Steps[i].Node)
		}
		d.Path = append(d.Path, route.Leaf)
	}
	return d
}

// maxDecisions is the greatest number of operating points on the page.
const maxDecisions = 60

// newDecisions returns the operating points of a tree; nil without any.
func newDecisions(t *tree.Tree, m *metric.Metrics) *decisions {
	c, points := textview.OperatingPoints(t, m)
	if len(points) < 2 || c.Recall == nil || c.Specificity == nil {
		return nil
	}
	own := -1
	if from := t.Label.DecidesFrom(slices.Index(t.Label.Classes, c.Class)); from > 0 {
		points, own = textview.WithOwn(points, c, from)
	}
	d := &decisions{Of: scaleOf(*c.Prevalence, m.Rows), Own: -1}
	off := math.Inf(1)
	step := max(1, float64(len(points)-1)/(maxDecisions-1))
	next := 0.0
	for i := range points {
		p := &points[i]
		far := math.Abs(p.Sensitivity.Value-*c.Recall) + math.Abs(p.Specificity.Value-*c.Specificity)
		is := i == own || own < 0 && textview.SameShares(p.Sensitivity.Value, p.Specificity.Value, *c.Recall, *c.Specificity)
		if float64(i) < next && !is && i < len(points)-1 {
			continue
		}
		if float64(i) >= next {
			next += step
		}
		if is {
			d.Own = len(d.Points)
		}
		if far < off {
			off = far
			d.Start = len(d.Points)
		}
		n := tallied(d.Of, p.Found, p.Missed, p.FalseAlarms)
		line := decisionLine{
			Threshold: p.Threshold, Sensitivity: estimateOf(&p.Sensitivity), Specificity: estimateOf(&p.Specificity), PPV: estimateOf(&p.PPV),
			NPV: estimateOf(&p.NPV), Counts: [4]int64{n.Found, n.Missed, n.Alarms, n.Other},
		}
		if costs := t.Label.ErrorCosts; len(costs) == 2 {
			at := slices.Index(t.Label.Classes, c.Class)
			rest := 1 - p.Found - p.Missed - p.FalseAlarms
			sum := float64(p.Found*costs[at][at]) + float64(p.Missed*costs[at][1-at]) + float64(p.FalseAlarms*costs[1-at][at]) +
				float64(rest*costs[1-at][1-at])
			line.Errors = &sum
		}
		d.Points = append(d.Points, line)
	}
	return d
}

// estimateOf returns a share with the ends of its interval, each rounded to what a page shows; nil where it is not defined.
func estimateOf(e *metric.Estimate) []*float64 {
	list := make([]*float64, 0, 3)
	for _, x := range []float64{e.Value, e.Low, e.High} {
		if math.IsNaN(x) {
			list = append(list, nil)
			continue
		}
		rounded := math.Round(x*1e5) / 1e5
		list = append(list, &rounded)
	}
	return list
}

// unitOf returns the unit of a tree's costs for reading; empty if unknown.
func unitOf(t *tree.Tree) string {
	if t.Algorithm.CostUnit == "" {
		return ""
	}
	return textview.Name(t.Algorithm.CostUnit)
}

// addPoints adds the points of the frontier, and as many of their trees as there is room for. Small
// trees come first, and each gets an equal part of the room that is left.
func (d *payload) addPoints(a *album, r *runfolder.Run, spots []svg.Point) {
	var order, sizes []int
	chosen := new(runfolder.Point)
	if at := slices.IndexFunc(r.Frontier.Points, func(p runfolder.Point) bool { return p.Selected }); at >= 0 {
		chosen = &r.Frontier.Points[at]
	}
	for i := range r.Frontier.Points {
		p := &r.Frontier.Points[i]
		cost := p.ExpectedCost
		most := p.MaxCost
		q := point{
			Name: textview.Number(p.Tree), Tree: -1, Cost: cost, Most: most, Tests: p.ExpectedTests, Leaves: p.Leaves,
			Depth: p.Depth, Merit: p.Merit, Validation: p.Validation.AUC, Folds: p.Folds, Test: p.Test.AUC,
			Loss: cmp.Or(p.Validation.LogLoss, p.LogLoss), Accuracy: cmp.Or(p.Validation.Accuracy, p.Accuracy),
			ErrorCost: p.ErrorsBeside(chosen), Total: p.TotalBeside(chosen),
			Chosen: p.Selected, Marks: textview.Marks(p),
		}
		if i < len(spots) {
			q.Spot = [2]float64{spots[i].X, spots[i].Y}
		}
		if p.Validation.Interval != nil {
			q.Low, q.High = p.Validation.Low, p.Validation.High
		}
		size := 0
		switch {
		case p.Selected:
			q.Tree = 0
		case i < len(r.Trees) && r.Trees[i] != nil:
			size = estimate(r.Trees[i], &form{digits: exactDigits, scores: true, counts: true})
			order = append(order, i)
		}
		d.Points = append(d.Points, q)
		sizes = append(sizes, size)
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(sizes[i], sizes[k]) })
	for done, i := range order {
		if b := a.add(r.Trees[i], a.left/(len(order)-done)); b != nil {
			d.Points[i].Tree = len(d.Trees)
			d.Trees = append(d.Trees, b)
		}
	}
}

// outlined returns a run with at most most points of its frontier, and with their trees.
func outlined(r *runfolder.Run, most int) *runfolder.Run {
	if r.Frontier == nil || len(r.Frontier.Points) <= most {
		return r
	}
	few := *r
	f := *r.Frontier
	f.Points = nil
	few.Trees = nil
	few.Frontier = &f
	for _, i := range textview.Outlined(r.Frontier.Points, most) {
		f.Points = append(f.Points, r.Frontier.Points[i])
		if i < len(r.Trees) {
			few.Trees = append(few.Trees, r.Trees[i])
		}
	}
	return &few
}
