package pipelines

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/pipelines/worth"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// warnOfRelabelling warns of classes most of whose rows count as another class, because that class is the
// most frequent one among equal rows. t is grown from the training objects.
func (s *stage) warnOfRelabelling(train *jobs.ObjectStats, t *tree.Tree) {
	if s.config.Classes != split.OfObjects {
		return // rows count with their own classes
	}
	root := &t.Nodes[0]
	for k, weight := range train.Relabelled {
		if root.RawClassWeights[k] == 0 || train.Weight == 0 {
			continue
		}
		// The units of both weights may differ.
		all := float64(root.RawClassWeights[k]) / float64(root.Weight) * float64(train.Weight)
		if share := float64(weight) / all; share > 0.5 {
			s.driver.Reporter.Warn(fmt.Sprintf("%.0f %% of the training rows of the class %q count as another class: "+
				"equal rows are one object, of their most frequent class; --classes rows counts each row", 100*min(share, 1), t.Label.Classes[k]))
		}
	}
}

// warnOfTree warns of a chosen tree that is not worth its tests, of a single leaf, and of monotone
// features whose sign excludes all thresholds.
func (c *choosing) warnOfTree(ctx context.Context, candidates []frontier.Candidate, w *winner) error {
	t := w.Candidate.Tree
	if len(t.Label.Classes) < 2 || len(c.Features) == 0 || t.Training.CutLeaves > 0 {
		return nil // another warning gives the reason
	}
	var verdict *worth.Verdict
	bare := len(t.Nodes) == 1
	if !bare && !t.Modelled() {
		verdict = c.verdict(w)
	}
	poor := verdict != nil && !verdict.Better()
	reversed, err := c.warnOfSigns(ctx, t, bare || poor)
	switch {
	case err != nil || t.Modelled():
		return err
	case poor:
		c.driver.Reporter.Warn(fmt.Sprintf("on %s the tree is no better than always saying the most "+
			"frequent class, %q: %s", verdict.Rows, t.Label.Classes[t.Nodes[0].Class], verdict))
	case bare:
		if reason := c.whyLeaf(candidates, w, reversed); reason != "" {
			c.driver.Reporter.Warn(reason)
		}
	}
	return nil
}

// verdict judges the chosen tree on folds or, without folds, on validation rows; nil without both.
func (c *choosing) verdict(w *winner) *worth.Verdict {
	if found := w.Competition; found != nil && len(found.Folds) > 0 {
		if v := worth.OnFolds(crossvalidate.Counterparts(found.Folds, found.Pool, &found.Choice.Chosen)); v != nil {
			return v
		}
	}
	return worth.OnRows(w.Candidate.Tree, w.Candidate.Counts[dataset.Validation], dataset.Validation.String())
}

// whyLeaf returns the reason why the chosen tree is a single leaf; empty if another warning gives it.
func (c *choosing) whyLeaf(candidates []frontier.Candidate, w *winner, reversed []string) string {
	const none = "the tree is a single leaf: "
	if excluded := c.limitsExclude(w); excluded != "" {
		return none + excluded
	}
	root := &candidates[0].Grown.Nodes[0]
	grown := slices.ContainsFunc(candidates, func(t frontier.Candidate) bool { return len(t.Grown.Nodes) > 1 })
	switch {
	case grown && w.Competition != nil:
		return "no test is worth asking: " + c.asked() + c.bestOf(w)
	case grown && c.config.Alpha != nil:
		return fmt.Sprintf("no test is worth asking: --alpha %v prunes all of them", *c.config.Alpha)
	case len(reversed) > 0:
		return none + "no other feature separates the training rows than " + strings.Join(reversed, ", ") +
			", whose sign excludes all thresholds"
	case c.config.Classes == split.OfObjects && onlyClass(root.ClassWeights) && !onlyClass(root.RawClassWeights):
		return "no test is worth asking: all training objects are of one class, as equal rows are one object of their " +
			"most frequent class"
	case c.config.MinRows > root.Rows:
		return none + fmt.Sprintf("--min_rows %d is more than the %d training rows", c.config.MinRows, root.Rows)
	case !slices.ContainsFunc(candidates, func(t frontier.Candidate) bool { return t.Params.Theta < 1 }):
		return none + fmt.Sprintf("--theta %v makes a leaf of every node", c.config.Theta[0])
	default:
		return "no test is worth asking: no feature separates the training objects"
	}
}

func onlyClass(weights []int64) bool {
	classes := 0
	for _, w := range weights {
		if w > 0 {
			classes++
		}
	}
	return classes == 1
}

// limitsExclude returns a text that names the limit that excludes all trees with a test; empty if not all
// are excluded.
func (c *choosing) limitsExclude(w *winner) string {
	if c.config.MaxLeaves == 1 {
		return "--max_leaves 1 allows no test"
	}
	l := c.Settings.Limits
	if w.Competition == nil || l == (frontier.Limits{}) {
		return ""
	}
	if someTestAllowed(w.Competition.Pool.Points, l) {
		return ""
	}
	trees, expected, most, leaves := leastOf(w.Competition.Pool.Points)
	test := c.cheapestTest()
	switch {
	case trees == 0:
		return ""
	case l.ExpectedCost > 0 && test > l.ExpectedCost:
		return fmt.Sprintf("every test costs at least %v, the budget --max_expected_cost is %v", test, l.ExpectedCost)
	case l.MaxCost > 0 && test > l.MaxCost:
		return fmt.Sprintf("every test costs at least %v, the budget --max_cost is %v", test, l.MaxCost)
	case l.ExpectedCost > 0 && expected > l.ExpectedCost:
		return fmt.Sprintf("the cheapest of %d trees with a test costs %v per row, the budget --max_expected_cost is %v",
			trees, expected, l.ExpectedCost)
	case l.MaxCost > 0 && most > l.MaxCost:
		return fmt.Sprintf("each of %d trees with a test costs some rows at least %v, the budget --max_cost is %v",
			trees, most, l.MaxCost)
	default:
		return fmt.Sprintf("each of %d trees with a test breaks one of the limits (%v): the least expected cost is %v, "+
			"the least maximum cost %v, the fewest leaves %d", trees, l, expected, most, leaves)
	}
}

// someTestAllowed reports whether a tree with a test is within the limits.
func someTestAllowed(points []frontier.Point, l frontier.Limits) bool {
	return slices.ContainsFunc(points, func(p frontier.Point) bool { return p.Leaves > 1 && l.Allow(&p.Complexity) })
}

// leastOf returns the number of trees with a test, and their least expected cost, least maximum cost
// and least number of leaves.
func leastOf(points []frontier.Point) (trees int, expected, most float64, leaves int) {
	expected, most, leaves = math.Inf(1), math.Inf(1), math.MaxInt
	for i := range points {
		p := &points[i]
		if p.Leaves == 1 {
			continue
		}
		trees++
		average, worst := p.Billed()
		expected = min(expected, average)
		most = min(most, worst)
		leaves = min(leaves, p.Leaves)
	}
	return trees, expected, most, leaves
}

// cheapestTest returns the least price of a first test, with the price of its feature's group.
func (c *choosing) cheapestTest() float64 {
	least := math.Inf(1)
	for i := range c.Features {
		f := &c.Features[i]
		price := f.Cost
		for _, cost := range f.ValueCosts {
			price = min(price, cost)
		}
		least = min(least, price+f.GroupCost)
	}
	return least
}

// asked returns a text that names the feature that the root has to test; empty for any feature.
func (c *choosing) asked() string {
	for i := range c.Columns {
		if c.Columns[i].First == 1 {
			return fmt.Sprintf("--first %s allows no other test at the root; ", c.Features[i].Name)
		}
	}
	return ""
}

// before reports whether tree p is better than tree q by the criterion of the run's choice.
func (c *choosing) before(p, q *frontier.Point) bool {
	if c.Settings.Rule == frontier.Total && p.Costs != nil && q.Costs != nil {
		return p.Costs.Total < q.Costs.Total
	}
	return p.Merit > q.Merit
}

// bestOf returns a text that compares the best tree with a test within the limits with the chosen leaf.
func (c *choosing) bestOf(w *winner) string {
	pool := w.Competition.Pool
	var best *frontier.Point
	for i := range pool.Points {
		p := &pool.Points[i]
		if p.Leaves > 1 && c.Settings.Limits.Allow(&p.Complexity) && (best == nil || c.before(p, best)) {
			best = p
		}
	}
	if best == nil {
		return "no tree has a test"
	}
	within := ""
	if c.Settings.Limits != (frontier.Limits{}) {
		within = " within " + c.Settings.Limits.String()
	}
	expected, _ := best.Billed()
	if c.Settings.Rule == frontier.Total && best.Costs != nil && w.Competition.Choice.Chosen.Costs != nil {
		return fmt.Sprintf("with its errors a single leaf costs %.4g per row, and the cheapest of %d prunings of %d trees%s "+
			"%.4g, %.4g of it for tests", w.Competition.Choice.Chosen.Costs.Total, len(pool.Points), len(pool.Candidates),
			within, best.Costs.Total, expected)
	}
	chance := ""
	if w.Competition.Choice.Reason != "" {
		chance = ", but chance may give as much"
	}
	return fmt.Sprintf("the best of %d prunings of %d trees%s has %d leaves, the expected cost %.3g and the merit %.4f, "+
		"a single leaf has %.4f%s", len(pool.Points), len(pool.Candidates), within, best.Leaves, expected, best.Merit,
		w.Competition.Choice.Chosen.Merit, chance)
}

// warnOfSigns warns of monotone features whose sign excludes the best threshold at the root, if the
// tree does not test the feature, or is poor. It returns the names of the features whose sign
// excludes all thresholds.
func (c *choosing) warnOfSigns(ctx context.Context, t *tree.Tree, poor bool) (reversed []string, err error) {
	var objects *dataset.Objects
	for f := range c.Columns {
		demand := c.Columns[f].Monotone
		tests := func(n tree.Node) bool { return !n.Leaf() && n.Test.Feature == f }
		if demand == 0 || !c.Columns[f].Numeric || !poor && slices.ContainsFunc(t.Nodes, tests) {
			continue
		}
		if objects == nil {
			if objects, err = c.Sample(ctx, dataset.Train); err != nil {
				return nil, err
			}
		}
		found := c.thresholdsAgainst(objects, f, demand)
		name, which := c.Features[f].Name, "the best"
		if found.all == 0 || found.against == 0 {
			continue
		}
		if found.against == found.all {
			reversed, which = append(reversed, name), "every"
		}
		const certain = 16 // chi squared: four standard errors, as the best of many thresholds is looked at
		if found.chiSquared < certain && (len(t.Nodes) > 1 || found.against < found.all) {
			continue
		}
		direction := map[int8]string{1: "falls", -1: "rises"}[demand]
		c.driver.Reporter.Warn(fmt.Sprintf("--monotone %s=%+d excludes %s threshold on %s at the root: "+
			"the share of the class %q %s as %s grows; %s=%+d would allow it",
			name, demand, which, name, t.Label.Classes[1], direction, name, name, -demand))
	}
	return reversed, nil
}

// againstSign counts the thresholds on a feature that its sign excludes.
type againstSign struct {
	all, against int
	chiSquared   float64 // chi squared of the best threshold, by rows and classes; 0 if the sign allows this threshold
}

// thresholdsAgainst counts the thresholds on a feature that separate objects.
func (c *choosing) thresholdsAgainst(o *dataset.Objects, feature int, demand int8) (found againstSign) {
	codes, raw := c.Columns[feature].Codes, o.Soft() || c.config.Classes != split.OfObjects
	second, all := make([]float64, codes), make([]float64, codes)
	totalSecond, total, rows := 0.0, 0.0, 0.0
	for i := range o.Len() {
		weights := []dataset.ClassWeight{{Class: o.Class[i], Weight: o.Weight[i]}}
		if raw {
			weights = o.Raw(i)
		}
		code := o.Codes[feature].At(i)
		rows += float64(o.RowsOf(i))
		for _, cw := range weights {
			w := float64(cw.Weight)
			all[code] += w
			total += w
			if cw.Class == 1 {
				second[code] += w
				totalSecond += w
			}
		}
	}
	share, most := totalSecond/total, 0.0
	missing := codes - 1
	no, noSecond := all[missing], second[missing]
	for code := range missing {
		if yes := total - no; no > 0 && yes > 0 && (code == 0 || all[code-1] > 0) {
			found.all++
			rise := float64(demand) * ((totalSecond-noSecond)/yes - noSecond/no)
			if rise < 0 {
				found.against++
			}
			if gain := float64(rise*rise) * (no / total) * (yes / total); gain > most {
				if most, found.chiSquared = gain, 0; rise < 0 {
					found.chiSquared = rows * gain / (share * (1 - share))
				}
			}
		}
		no += all[code]
		noSecond += second[code]
	}
	return found
}

// warnOfConstants warns of constant features that --first or --monotone names.
func (w *fitter) warnOfConstants(names []string) {
	for _, name := range names {
		for _, flag := range []struct {
			name  string
			names bool
		}{{"first", slices.Contains(w.config.First, name)}, {"monotone", w.config.Monotone[name] != 0}} {
			if flag.names {
				w.driver.Reporter.Warn(fmt.Sprintf("--%s: column %q has one value among the training rows: no node can test it",
					flag.name, name))
			}
		}
	}
}
