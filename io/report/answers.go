package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// answered is a question about the tree with its answer.
type answered struct {
	ID, Question string
	Short        string   // the answer at a glance
	Text         []string // more of it, in sentences
}

// answers answer what the first screen leaves open.
func (f *facts) answers() []answered {
	return []answered{f.whatIsFirst(), f.whatItCosts(), f.whatToTrust()}
}

// share returns the share of the training rows that reach a node, by weight.
func share(t *tree.Tree, node int) float64 {
	if t.Nodes[0].Weight == 0 {
		return 0
	}
	return float64(t.Nodes[node].Weight) / float64(t.Nodes[0].Weight)
}

func (f *facts) whatItCosts() answered {
	a := answered{ID: "cost", Question: "What does a row cost?"}
	expected := *cmp.Or(f.metrics.ExpectedCost, &f.Tree.Complexity.ExpectedCost)
	most := f.Tree.Complexity.MaxCost
	a.Short = fmt.Sprintf("%s on average, %s at most", f.cost(expected), f.cost(most)) +
		textview.FurtherCosts(f.furtherCosts(), "; ", short, textview.Name)
	text := fmt.Sprintf("A training row is asked %s questions on average and %d at most.", short(f.Tree.Complexity.ExpectedTests),
		f.Tree.Complexity.Depth)
	if half, nine := paidBy(f.Tree, 0.5), paidBy(f.Tree, 0.9); most > 0 {
		text += fmt.Sprintf(" Half of the training rows pay at most %s, and 90\u00a0%% pay at most %s.", f.cost(half), f.cost(nine))
	}
	a.Text = append(a.Text, text)
	if f.metrics.ExpectedCost != nil && f.part != "train" {
		a.Text = append(a.Text, fmt.Sprintf("The training rows pay %s on average, the %s rows %s.", f.cost(f.Tree.Complexity.ExpectedCost),
			f.part, f.cost(expected)))
	}
	return a
}

// paidBy returns what a share of the training rows pay at most.
func paidBy(t *tree.Tree, part float64) float64 {
	_, billed := t.PathCosts()
	var leaves []int
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			leaves = append(leaves, i)
		}
	}
	slices.SortStableFunc(leaves, func(i, k int) int { return cmp.Compare(billed[i], billed[k]) })
	sum := 0.0
	for _, i := range leaves {
		if sum += share(t, i); sum >= part {
			return billed[i]
		}
	}
	return billed[leaves[len(leaves)-1]]
}

// fewRows is the inverse of the share of the rows below which a tenth of the scale says less.
const fewRows = 50

func (f *facts) whatToTrust() answered {
	a := answered{ID: "trust", Question: "Can its probabilities be trusted?"}
	m := f.metrics
	c := m.Calibration
	if c == nil {
		a.Short = "Not known: there are no rows to measure them on."
		return a
	}
	a.Short = fmt.Sprintf("%s on %s %s rows", textview.OffBy(c, points), humanize.Comma(m.Rows), f.part)
	if c.FarOff() {
		a.Short = "With care: " + a.Short
	} else {
		a.Short = upper(a.Short)
	}
	class := "the predicted class"
	is := "have it"
	if c.Class != "" {
		class = textview.Name(c.Class)
		is = "are " + class
	}
	off := func(b metric.CalibrationBin) float64 { // bins with few rows count less
		return math.Abs(b.MeanProbability-b.ObservedShare) * min(1, float64(b.Weight)*fewRows/float64(m.Weight))
	}
	b := slices.MaxFunc(c.Bins, func(a, b metric.CalibrationBin) int { return cmp.Compare(off(a), off(b)) })
	a.Text = append(a.Text, fmt.Sprintf("At worst, of the rows whose probability of %s is %.0f to %.0f\u00a0%% (%s of all rows, "+
		"%s on average), %s %s.", class, 100*b.From, 100*b.To, textview.Percent(float64(b.Weight)/float64(m.Weight)),
		textview.Percent(b.MeanProbability), textview.Percent(b.ObservedShare), is))
	if f.part == "train" {
		a.Text = append(a.Text, "The tree was trained on these rows: on new rows the errors are larger.")
	}
	return a
}
