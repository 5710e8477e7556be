package report

import (
	"fmt"

	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// whatIsFirst explains the first question by its score.
func (f *facts) whatIsFirst() answered {
	a := answered{ID: "first", Question: "Why is this the first question?"}
	n := f.root()
	if n == nil {
		a.Short = "The tree asks nothing, and gives every row the same answer."
		return a
	}
	t := f.Tree
	a.Short = textview.Condition(t, n, &n.Branches[0])
	if n.Test.Kind == split.Multiway {
		a.Short = textview.Name(t.Features[n.Test.Feature].Name)
	}
	a.Text = f.reason(n)
	if r := n.Test.RunnerUp; r != nil {
		a.Text = append(a.Text, f.runnerUp(r, n.Test.Score.Total))
	}
	return a
}

// reason explains in sentences why the root's test was chosen.
func (f *facts) reason(n *tree.Node) []string {
	t := f.Tree
	if len(t.Algorithm.First) > 0 && t.Algorithm.First[0] == t.Features[n.Test.Feature].Name {
		return []string{"The setting --first asks for it."}
	}
	if t.Algorithm.ByTotal() {
		return []string{"A search over this question and the questions below it found the lowest expected cost of questions and " +
			"errors with it."}
	}
	s := &n.Test.Score
	a, _ := split.ParseAlgorithm(t.Algorithm.Name)
	balance := fmt.Sprintf("Balance, %s, is the share of the training rows outside the largest branch.", short(s.Balance))
	efficiency := fmt.Sprintf("Efficiency, %s, is the share of the pairs of different classes that the question separates.",
		short(s.Efficiency))
	gain := fmt.Sprintf("Discrimination, %s, is how much the question reduces the uncertainty about the class%s.",
		short(s.Discrimination), before(t, a))
	if f := &t.Features[n.Test.Feature]; f.Unordered && f.Missing > 0 {
		gain += " As rows lack the value, the reduction is measured on the rows that have the value, and multiplied by the share of these rows."
	}
	score := ""
	terms := []string(nil)
	switch a.Terms() {
	case split.Pairs:
		score = "the number of pairs of different classes that a question separates"
	case split.Balance:
		score = "balance"
		terms = []string{balance}
	case split.BalanceEfficiency:
		score = "balance + efficiency"
		terms = []string{balance, efficiency}
	case split.Discrimination:
		score = "discrimination"
		terms = []string{gain}
	default:
		score = fmt.Sprintf("balance + efficiency + %s \u00d7 discrimination", short(t.Algorithm.Lambda))
		terms = []string{balance, efficiency, gain}
	}
	best := "It has the highest score of all questions"
	if len(t.Algorithm.Selected) > 0 {
		best += " about the selected features"
	}
	if t.Algorithm.Once {
		best += " that were not asked above"
	}
	switch a := &t.Algorithm; {
	case (a.MaxCost > 0 || len(a.MaxFurther) > 0) && a.MaxTests > 0:
		best += " that the maximum cost and number of tests allow"
	case a.MaxCost > 0 || len(a.MaxFurther) > 0:
		best += " that the maximum cost allows"
	case a.MaxTests > 0:
		best += " that the maximum number of tests allows"
	}
	if t.Algorithm.RootByCodes {
		best = "The values of this feature together tell the most about the class. The question has the highest score of the " +
			"questions about the feature"
	}
	return append([]string{fmt.Sprintf("%s, %s. The score is %s%s.", best, short(s.Total), score, f.divisor(n, a))}, terms...)
}

// divisor describes what the score of a test is divided by: see split.Prices.
func (f *facts) divisor(n *tree.Node, a split.Algorithm) string {
	if !a.ByPrice() {
		return ""
	}
	price, alone := f.priced(n)
	switch f.Tree.Algorithm.Prices {
	case split.RootPrices.String():
		return ", divided by the square root of the ratio of " + price + ", to the average price"
	case split.ShiftedPrices.String():
		return ", divided by 1 plus the ratio of " + price + ", to the average price"
	case split.FlooredPrices.String():
		return ", divided by the ratio of " + price + ", to the average price, or by 1 if that is more"
	}
	switch {
	case n.Test.Cost == 0 && alone:
		return ", divided by a tenth of the lowest price, as the question is free"
	case n.Test.Cost == 1 && alone:
		return ""
	default:
		return ", divided by " + price
	}
}

// priced describes the price of the first test that scores count: see split.SetUps. alone reports
// whether it is the test's own price.
func (f *facts) priced(n *tree.Node) (text string, alone bool) {
	own := "its price, " + f.cost(n.Test.Cost)
	group := n.Test.Paid() - n.Test.Cost
	switch setUps := f.Tree.Algorithm.SetUps; {
	case group == 0 || setUps == split.FreeSetUps.String():
		return own, true
	case setUps == split.SharedSetUps.String():
		return own + ", and its share of the price of its group, " + f.cost(group), false
	default:
		return "its price and the price of its group, " + f.cost(n.Test.Paid()), false
	}
}

// runnerUp describes how near another feature came.
func (f *facts) runnerUp(r *tree.RunnerUp, best float64) string {
	behind := ""
	if best > 0 {
		behind = fmt.Sprintf(", %s less", textview.Percent(1-r.Total/best))
	}
	return fmt.Sprintf("The best question about another feature, %s, has %s%s.", textview.RunnerUp(f.Tree, r),
		short(r.Total), behind)
}

// before describes how uncertain the class is before the first question, by the impurity of an
// algorithm.
func before(t *tree.Tree, a split.Algorithm) string {
	weights := t.Nodes[0].ClassWeights
	if t.Algorithm.Classes == tree.ClassesOfRows {
		weights = t.Nodes[0].RawClassWeights
	}
	total := 0.0
	for _, w := range weights {
		total += float64(w)
	}
	if total == 0 {
		return ""
	}
	of := a.Impurity()
	return fmt.Sprintf(", whose %s is %s before it", of, short(of.Weighted(weights)/total))
}
