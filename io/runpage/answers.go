package runpage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// answered is a question about the tree with its answer.
type answered struct {
	ID, Question string
	Short        string   // the answer at a glance
	Text         []string // more of it, in sentences
}

// answers answer what a reader wants to know first.
func (f *facts) answers() []answered {
	return []answered{f.whatIsPredicted(), f.whatIsFirst(), f.whatItCosts(), f.whatToTrust(), f.whatIsCheaper()}
}

func (f *facts) whatIsPredicted() answered {
	t := f.Tree
	a := answered{ID: "what", Question: "What does the tree predict?"}
	names := t.Label.Classes[:min(maxNames, len(t.Label.Classes))]
	a.Short = fmt.Sprintf("%s: %s", report.Name(t.Label.Column), strings.ReplaceAll(report.Listed(names, report.Name),
		" and ", " or "))
	if more := len(t.Label.Classes) - len(names); more > 0 {
		a.Short = fmt.Sprintf("%s: one of %d classes", report.Name(t.Label.Column), len(t.Label.Classes))
	}
	text := fmt.Sprintf("It was trained on %s%s.", count(t.Training.Rows, "row", "rows"), f.files())
	if m := f.Metrics.Validation; m != nil && m.Rows > 0 {
		text += fmt.Sprintf(" %s more served to choose it among other trees.", grouped(m.Rows))
	}
	if f.part == "test" {
		text += fmt.Sprintf(" %s that it has never seen, the test rows, measure it on this page.",
			grouped(f.metrics.Rows))
	}
	a.Text = append(a.Text, text)
	if at := frequent(f.metrics); at >= 0 {
		c := &f.metrics.PerClass[at]
		a.Text = append(a.Text, fmt.Sprintf("%s of the %s rows are %s.", report.Percent(*c.Prevalence), f.part,
			report.Name(c.Class)))
	}
	return a
}

// maxNames is the greatest number of classes named in a sentence.
const maxNames = 6

// frequent returns the most frequent class; below 0: there are no rows.
func frequent(m *metric.Metrics) int {
	if m.Weight == 0 {
		return -1
	}
	list := make([]int, len(m.PerClass))
	for k := range list {
		list[k] = k
	}
	return slices.MaxFunc(list, func(i, k int) int {
		return cmp.Or(cmp.Compare(m.PerClass[i].Support, m.PerClass[k].Support), k-i)
	})
}

func (f *facts) whatIsFirst() answered {
	a := answered{ID: "first", Question: "Which question comes first, and why?"}
	n := f.root()
	if n == nil {
		a.Short = "None: the tree asks nothing and gives every row the same answer."
		return a
	}
	t := f.Tree
	a.Short = "Is " + report.Condition(t, n, &n.Branches[0]) + "?"
	if n.Test.Kind == split.Multiway {
		a.Short = "Which value has " + report.Name(t.Features[n.Test.Feature].Name) + "?"
	}
	a.Text = append(a.Text, f.reason(n))
	if r := n.Test.RunnerUp; r != nil {
		a.Text = append(a.Text, f.runnerUp(r, n.Test.Score.Total))
	}
	a.Text = append(a.Text, f.afterFirst(n))
	return a
}

// reason says why the root's test was chosen.
func (f *facts) reason(n *tree.Node) string {
	t := f.Tree
	if len(t.Algorithm.First) > 0 && t.Algorithm.First[0] == t.Features[n.Test.Feature].Name {
		return "Whoever trained the tree wished to ask for it first."
	}
	s, price := &n.Test.Score, ""
	a, _ := split.ParseAlgorithm(t.Algorithm.Name)
	if n.Test.Cost != 1 && a.ByPrice() {
		price = fmt.Sprintf(" for each unit of its price, %s,", f.cost(n.Test.Cost))
		if n.Test.Cost == 0 {
			price = " for its price (it is free, and counts as a tenth of the cheapest question)"
		}
	}
	parts := []string{
		fmt.Sprintf("it parts the rows (balance %s: that share of them does not go to the largest side)", short(s.Balance)),
		fmt.Sprintf("it tells rows of different classes apart (efficiency %s; 1 would be all of them)", short(s.Efficiency)),
		fmt.Sprintf("it takes away uncertainty about the class (discrimination %s%s)", short(s.Discrimination), before(t)),
	}
	lambda := fmt.Sprintf(" The score is balance + efficiency + %s x discrimination.", short(t.Algorithm.Lambda))
	switch a {
	case split.EC45, split.ECART:
	case split.ASR:
		parts, lambda = parts[:2], ""
	case split.Bal:
		parts, lambda = parts[:1], ""
	default:
		parts, lambda = parts[2:], ""
	}
	return fmt.Sprintf("Among all questions that the tree could begin with, it scored highest%s with %s: %s.%s", price,
		short(s.Total), report.Listed(parts, func(s string) string { return s }), lambda)
}

// runnerUp says how near another feature came.
func (f *facts) runnerUp(r *tree.RunnerUp, best float64) string {
	behind := ""
	if best > 0 {
		behind = fmt.Sprintf(", %s less", report.Percent(1-r.Total/best))
	}
	return fmt.Sprintf("The best question about another feature, %s, scored %s%s.", report.RunnerUp(f.Tree, r),
		short(r.Total), behind)
}

// before says how uncertain the class is before the first question.
func before(t *tree.Tree) string {
	var total, sum float64
	for _, w := range t.Nodes[0].ClassWeights {
		total += float64(w)
	}
	gini := strings.Contains(t.Algorithm.Name, "cart")
	if gini {
		sum = 1
	}
	for _, w := range t.Nodes[0].ClassWeights {
		if w == 0 {
			continue
		}
		if p := float64(w) / total; gini {
			sum -= float64(p * p)
		} else {
			sum -= float64(p*portable.Log(p)) / math.Ln2
		}
	}
	if total == 0 {
		return ""
	}
	if gini {
		return " of " + short(sum) + " by the Gini index"
	}
	return " of " + short(sum) + " bits"
}

// afterFirst says what the first question tells.
func (f *facts) afterFirst(n *tree.Node) string {
	t := f.Tree
	var list []string
	for k := range n.Branches {
		if k == maxNames {
			list = append(list, "and so on")
			break
		}
		child := &t.Nodes[n.Branches[k].Child]
		list = append(list, fmt.Sprintf("%s, %s of the rows: %s with probability %.2f",
			report.Condition(t, n, &n.Branches[k]), report.Percent(share(t, n.Branches[k].Child)),
			report.Name(t.Label.Classes[child.Class]), child.Probabilities[child.Class]))
	}
	return "After it: " + strings.Join(list, "; ") + "."
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
	expected, most := f.Tree.Complexity.Billed()
	a.Short = fmt.Sprintf("%s on average, %s at worst", f.cost(expected), f.cost(most))
	text := fmt.Sprintf("That is for %s questions on average and %d at most", short(f.Tree.Complexity.ExpectedTests),
		f.Tree.Complexity.Depth)
	if f.plainPrices() {
		text += ", each of price 1"
	}
	if half, nine := paidBy(f.Tree, 0.5), paidBy(f.Tree, 0.9); most > 0 {
		text += fmt.Sprintf("; half of the training rows pay at most %s, and 90\u00a0%% at most %s", f.cost(half),
			f.cost(nine))
	}
	a.Text = append(a.Text, text+".")
	if c := report.Cost(f.metrics); c != nil && f.part != "train" {
		a.Text = append(a.Text, fmt.Sprintf("The %s rows pay %s on average.", f.part, f.cost(*c)))
	}
	return a
}

// plainPrices reports whether each test costs 1.
func (f *facts) plainPrices() bool {
	return !f.Tree.BillsApart() && !slices.ContainsFunc(f.Tree.Nodes, func(n tree.Node) bool {
		return !n.Leaf() && n.Test.Cost != 1
	})
}

// paidBy returns what a share of the training rows pay at most.
func paidBy(t *tree.Tree, part float64) float64 {
	billed := t.Billed()
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

// The mean errors of probabilities that are called small and moderate.
const (
	smallError    = 0.02
	moderateError = 0.05
)

func (f *facts) whatToTrust() answered {
	a := answered{ID: "trust", Question: "Can its probabilities be trusted?"}
	m := f.metrics
	c := m.Calibration
	if c == nil {
		a.Short = "Not known: there are no rows to measure them on."
		return a
	}
	verdict := "On"
	switch {
	case f.part == "train":
		verdict = "Not known for other rows: on"
	case c.ExpectedError > moderateError:
		verdict = "With care: on"
	}
	a.Short = fmt.Sprintf("%s the %s %s rows they are off by %s on average, and by %s in the worst tenth of the scale", verdict,
		grouped(m.Rows), f.part, points(c.ExpectedError), points(c.MaximumError))
	of := "its class"
	if c.Class != "" {
		of = report.Name(c.Class)
	}
	b := slices.MaxFunc(c.Bins, func(a, b metric.CalibrationBin) int {
		return cmp.Compare(a.To*min(1, float64(a.Weight)*20/float64(m.Weight)), b.To*min(1, float64(b.Weight)*20/
			float64(m.Weight)))
	})
	text := fmt.Sprintf("For example, of the rows that it gives %.0f to %.0f\u00a0%% for %s, %s are so.", 100*b.From,
		100*b.To, of, report.Percent(b.ObservedShare))
	if f.part == "train" {
		text += " But these are the rows that the tree was trained on: on others the errors are larger."
	}
	a.Text = append(a.Text, text)
	if m.AUCOvRMacro != nil {
		a.Text = append(a.Text, fmt.Sprintf("It ranks well, too, if its AUC is near 1 (0.5 is chance): %s%s.", report.Area(m),
			f.rightAsOften(m)))
	}
	return a
}

// rightAsOften compares the accuracy with that of the most frequent class.
func (f *facts) rightAsOften(m *metric.Metrics) string {
	at := frequent(m)
	if at < 0 || m.Accuracy == nil {
		return ""
	}
	return fmt.Sprintf(", in brackets the 95\u00a0%% interval. Its class is right for %s of the rows; always saying %s "+
		"would be right for %s", report.Percent(*m.Accuracy), report.Name(m.PerClass[at].Class),
		report.Percent(*m.PerClass[at].Prevalence))
}

func (f *facts) whatIsCheaper() answered {
	a := answered{ID: "cheaper", Question: "What would the next cheaper tree lose?"}
	if f.chosen < 0 {
		a.Short = "Not known: the run grew this tree alone."
		return a
	}
	cheaper, dearer := report.NextTo(f.points, f.chosen)
	if cheaper == f.chosen {
		a.Short = "No tree of the run is cheaper."
	} else {
		a.Short, a.Text = f.difference(cheaper), []string{f.against(cheaper)}
	}
	if dearer != f.chosen {
		a.Text = append(a.Text, f.against(dearer))
	}
	a.Text = append(a.Text, fmt.Sprintf("The run has %s; the slider below shows them.",
		count(len(f.points), "tree", "trees at different prices")))
	return a
}

// difference says what a cheaper tree loses against the chosen one, at a glance.
func (f *facts) difference(at int) string {
	p, chosen := &f.points[at], &f.points[f.chosen]
	cost, _ := p.Billed()
	paid, _ := chosen.Billed()
	price := fmt.Sprintf("%s (%s) less a row", f.cost(paid-cost), report.Percent((paid-cost)/paid))
	if changes := changes(p, chosen); changes != "" {
		return "It " + changes + ", for " + price
	}
	return price
}

// changes says how the areas of a point differ from those of the chosen one.
func changes(p, chosen *runfolder.Point) string {
	var list []string
	for _, of := range []struct {
		part          string
		value, before *float64
	}{{"validation", p.Validation.AUC, chosen.Validation.AUC}, {"test", p.Test.AUC, chosen.Test.AUC}} {
		if of.value == nil || of.before == nil {
			continue
		}
		words := "loses"
		if *of.value > *of.before {
			words = "gains"
		}
		list = append(list, fmt.Sprintf("%s %.4f AUC on %s rows", words, math.Abs(*of.value-*of.before), of.part))
	}
	return report.Listed(list, func(s string) string { return s })
}

// against compares a point with the chosen one, in sentences.
func (f *facts) against(at int) string {
	p, chosen := &f.points[at], &f.points[f.chosen]
	cost, _ := p.Billed()
	paid, _ := chosen.Billed()
	side, words := "cheaper", "less"
	if cost > paid {
		side, words = "dearer", "more"
	}
	text := fmt.Sprintf("The next %s one, tree %s, costs %s on average, %s %s, and has %s.", side, report.Number(p.Tree),
		f.cost(cost), f.cost(math.Abs(cost-paid)), words, count(p.Leaves, "leaf", "leaves"))
	if changes := changes(p, chosen); changes != "" {
		text += " It " + changes + "."
	}
	return text
}
