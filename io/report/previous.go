package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/textview"
)

// previous compares a run with an earlier one.
type previous struct {
	Text             []string
	Metrics, Classes *table
}

// newPrevious compares a run with an earlier one: metrics, shares of the classes, features.
func newPrevious(before, now *runfolder.Run) *previous {
	p := &previous{}
	part, m := now.Metrics.Best()
	partBefore, was := before.Metrics.Best()
	p.Text = append(p.Text, fmt.Sprintf("The earlier run was trained on %s, this one on %s. Figures are of the %s rows "+
		"now and of the %s rows then: other rows, unless the same were given.",
		count(before.Tree.Training.Rows, "row", "rows"), count(now.Tree.Training.Rows, "row", "rows"), part, partBefore))
	if before.Tree.Label.Column != now.Tree.Label.Column {
		p.Text = append(p.Text, fmt.Sprintf("It predicted another column: %s.", textview.Name(before.Tree.Label.Column)))
	}
	p.Text = append(p.Text, features(before.Tree, now.Tree)...)
	t := compared("figure")
	for _, f := range []struct {
		name     string
		was, now *float64
	}{
		{"AUC", was.AUCOvRMacro, m.AUCOvRMacro},
		{"accuracy", was.Accuracy, m.Accuracy},
		{"balanced accuracy", was.BalancedAccuracy, m.BalancedAccuracy},
		{"log loss", was.LogLoss, m.LogLoss},
		{"error of probabilities", calibrationError(was), calibrationError(m)},
		{"cost a row", was.ExpectedCost, m.ExpectedCost},
		{"tests a row", was.ExpectedTests, m.ExpectedTests},
	} {
		t.Add(f.name, textview.Figure(f.was), textview.Figure(f.now), difference(f.was, f.now))
	}
	t.Add("leaves", humanize.Comma(int64(before.Tree.Complexity.Leaves)), humanize.Comma(int64(now.Tree.Complexity.Leaves)),
		fmt.Sprintf("%+d", now.Tree.Complexity.Leaves-before.Tree.Complexity.Leaves))
	p.Metrics = newTable(t)
	p.Classes = newTable(classShares(before.Tree, now.Tree))
	return p
}

// compared returns a table of two numbers and their difference.
func compared(of string) *textview.Table {
	return textview.NewTable(textview.Column{Head: of, Left: true}, textview.Column{Head: "before"}, textview.Column{Head: "now"},
		textview.Column{Head: "change"})
}

func calibrationError(m *metric.Metrics) *float64 {
	if m.Calibration == nil {
		return nil
	}
	return m.Calibration.ExpectedError
}

func difference(was, now *float64) string {
	if was == nil || now == nil {
		return "-"
	}
	return fmt.Sprintf("%+.4f", *now-*was)
}

// classShares compares the shares of the classes among the training rows. If there are many
// classes, it lists the classes with the greatest changes.
func classShares(before, now *tree.Tree) *textview.Table {
	was := sharesOf(before)
	is := sharesOf(now)
	var names []string
	for _, t := range []*tree.Tree{now, before} {
		for _, class := range t.Label.Classes {
			_, both := was[class]
			if t == now || !both || is[class] == 0 && !slices.Contains(names, class) {
				names = append(names, class)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.SortStableFunc(names, func(a, b string) int {
		switch x, y := math.Abs(is[a]-was[a]), math.Abs(is[b]-was[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
	t := compared("class among the training rows")
	shown, others := textview.Visible(len(names), maxChanged)
	for _, class := range names[:shown] {
		t.Add(textview.Name(class), textview.Percent(was[class]), textview.Percent(is[class]),
			fmt.Sprintf("%+.1f", 100*(is[class]-was[class])))
	}
	if others != "" {
		t.Add(others)
	}
	return t
}

// maxChanged is the greatest number of classes in a comparison.
const maxChanged = 20

// sharesOf returns the share of each class among the training rows, by weight.
func sharesOf(t *tree.Tree) map[string]float64 {
	shares := make(map[string]float64)
	total := 0.0
	for _, w := range t.Nodes[0].RawClassWeights {
		total += float64(w)
	}
	for k, w := range t.Nodes[0].RawClassWeights {
		if total > 0 {
			shares[t.Label.Classes[k]] = float64(w) / total
		}
	}
	return shares
}

// features names the features that only one of two trees uses.
func features(before, now *tree.Tree) []string {
	var text []string
	for _, of := range []struct {
		says         string
		these, those *tree.Tree
	}{{"The tree now also asks for", now, before}, {"It no longer asks for", before, now}} {
		var names []string
		for i := range of.these.Features {
			name := of.these.Features[i].Name
			if !slices.ContainsFunc(of.those.Features, func(f dataset.Feature) bool { return f.Name == name }) {
				names = append(names, name)
			}
		}
		if shown, _ := textview.Visible(len(names), maxChanged); shown < len(names) {
			names = append(names[:shown], fmt.Sprintf("%d others", len(names)-shown))
		}
		if len(names) > 0 {
			text = append(text, fmt.Sprintf("%s %s.", of.says, textview.Listed(names, textview.Name)))
		}
	}
	return text
}
