package modelcard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/report"
	"github.com/espalier-ml/espalier/io/runfolder"
	"github.com/espalier-ml/espalier/io/usage"
)

// builder makes the facts of a card.
type builder struct {
	*runfolder.Run

	settings settings
	part     string          // the part whose figures are quoted
	metrics  *metric.Metrics // metrics of this part
}

// settings are members of the config in manifest.json.
type settings struct {
	Split       string   `json:"split"` // in earlier versions possibly the column
	SplitColumn string   `json:"split_column"`
	Key         string   `json:"key"`
	Seed        uint64   `json:"seed"`
	Weight      string   `json:"weight"`
	Probability []string `json:"label_probabilities"`
	Slice       []string `json:"slice"`
}

// readSettings reads the settings of the run.
func (b *builder) readSettings() error {
	raw, err := json.Marshal(b.Manifest.Config)
	if err == nil {
		err = json.Unmarshal(raw, &b.settings)
	}
	if err != nil {
		return usage.Errorf("the settings in the run's manifest.json cannot be read: %v", err)
	}
	return nil
}

// unit returns the unit of the costs to follow a number, if there is a unit.
func (b *builder) unit() markdown {
	if b.Tree.Algorithm.CostUnit == "" {
		return ""
	}
	return say(" %s", b.Tree.Algorithm.CostUnit)
}

// details describes the model, and how it was made.
func (b *builder) details() []fact {
	t, a, c := b.Tree, &b.Tree.Algorithm, &b.Tree.Complexity
	model := say("a tree of %d tests and %d leaves, at most %d tests deep", c.Nodes-c.Leaves, c.Leaves, c.Depth)
	switch {
	case a.BoosterTrees > 0:
		model += "; its leaves have linear models and small regression trees of the values on the path"
	case t.Modelled():
		model += "; its leaves have linear models of the values on the path"
	}
	how := say("%s (lambda %v, theta %v), %s tests on %d %s bins, %s leaves", a.Name, a.Lambda, a.Theta, a.Tests, a.Bins,
		a.Binning, a.LeafEstimate)
	if a.Prune != "none" {
		how += say(", pruned by %s", a.Prune)
	}
	if a.Teacher != "" {
		how += say(", taught by %s", a.Teacher)
	}
	facts := []fact{
		{"Model", model},
		{"Predicts", say("%s: one of %d classes, %s", t.Label.Column, len(t.Label.Classes), names(t.Label.Classes))},
		{"Made by", how},
	}
	if f := b.Frontier; f != nil {
		text := say("by the rule %s among %d prunings of %d trees", f.Select, f.Pruned, f.Grown)
		facts = append(facts, fact{"Chosen", text})
	}
	const when = "2006-01-02 15:04 MST"
	facts = append(facts, fact{"Trained", say("%s, by Espalier %s", b.Manifest.Started.UTC().Format(when),
		b.Manifest.Espalier)})
	if n := len(b.Manifest.Promotions); n > 0 {
		last := &b.Manifest.Promotions[n-1]
		facts = append(facts, fact{"Promoted", say("%s, %s became the run's tree in the place of %s",
			last.Promoted.UTC().Format(when), last.Tree, last.Before)})
	}
	return append(facts, fact{"SHA-256 of tree.json", markdown(tree.Digest(t.Encode()))})
}

// use describes what a prediction requires.
func (b *builder) use() []fact {
	var tested []string
	for _, in := range b.Tree.Scorer().Features() {
		tested = append(tested, in.Name)
	}
	c := &b.Tree.Complexity
	expected, most := c.ExpectedCost, c.MaxCost
	facts := []fact{
		{"Features", say("%d, asked one after the other and only if needed: %s", len(tested), names(tested))},
		{"Cost of a prediction", say("%s%s on average over the training rows, at most %s%s", number(expected), b.unit(),
			number(most), b.unit())},
		{"Tests of a prediction", say("%s on average, at most %d", number(c.ExpectedTests), c.Depth)},
	}
	l := &b.Tree.Label
	if l.ErrorCosts != nil {
		facts = append(facts, fact{"Decision", "the class of the least expected error cost"})
	} else {
		facts = append(facts, fact{"Decision", "the most probable class"})
	}
	if l.Priors != nil {
		facts = append(facts, fact{"Probabilities", say("for classes as frequent as %s", byClass(l.Classes, l.Priors))})
	}
	return facts
}

// number writes a number with at most four significant digits, a share with more if it is near 1.
func number(x float64) markdown { return markdown(report.Probability(x)) }

// byClass writes a number for each class.
func byClass(classes []string, numbers []float64) markdown {
	var list []string
	for k, x := range numbers[:min(len(numbers), visible(len(classes), maxNames))] {
		list = append(list, string(say("%s: %s", classes[k], number(x))))
	}
	if more := len(classes) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d others", more))
	}
	return markdown(strings.Join(list, ", "))
}

// columns lists the columns of a role.
func (b *builder) columns(role string) []string {
	var list []string
	if b.Schema == nil {
		return nil
	}
	for i := range b.Schema.Columns {
		if c := &b.Schema.Columns[i]; c.Role == role {
			list = append(list, c.Name)
		}
	}
	return list
}

// factors describes how rows were grouped to measure the tree, and lists the columns without tests.
func (b *builder) factors() []fact {
	facts := []fact{{"Measured by", "all rows and each class"}}
	if sliced := slicedBy(b.metrics); len(sliced) > 0 {
		facts[0].Text += say(", and each value of %s", names(sliced))
	} else {
		facts[0].Text += "; no slices were asked for: `--slice COLUMN` measures groups of rows"
	}
	for _, role := range []struct{ role, title string }{
		{"forbidden", "Read and never tested"}, {"ignored", "Ignored columns"},
	} {
		if list := b.columns(role.role); len(list) > 0 {
			facts = append(facts, fact{role.title, names(list)})
		}
	}
	return facts
}

// slicedBy lists the columns of slices.
func slicedBy(m *metric.Metrics) []string {
	var list []string
	for i := range m.Slices {
		list = append(list, m.Slices[i].Column)
	}
	return slices.Compact(list)
}

// evaluation describes the rows of the quoted part.
func (b *builder) evaluation() []fact {
	how := say("shares %s of train, validation and test, drawn by a hash of each row's place with seed %d",
		b.settings.Split, b.settings.Seed)
	switch {
	case b.settings.SplitColumn != "":
		how = say("by the column %s", b.settings.SplitColumn)
	case !strings.Contains(b.settings.Split, "/"):
		how = say("by the column %s", b.settings.Split)
	case b.settings.Key != "":
		how = say("shares %s of train, validation and test, drawn by a hash of %s with seed %d", b.settings.Split,
			b.settings.Key, b.settings.Seed)
	}
	var prevalence []float64
	for k := range b.metrics.PerClass {
		if p := b.metrics.PerClass[k].Prevalence; p != nil {
			prevalence = append(prevalence, *p)
		}
	}
	return []fact{
		{"Rows", say("%s, the %s part of the same files as the training rows", humanize.Comma(b.metrics.Rows), b.part)},
		{"Parts", how},
		{"Shares of the classes", byClass(b.Tree.Label.Classes, prevalence)},
	}
}

// training describes the training rows.
func (b *builder) training() []fact {
	t, rows, bytes := &b.Tree.Training, int64(0), int64(0)
	for _, in := range b.Manifest.Inputs {
		rows, bytes = rows+in.Rows, bytes+in.Size
	}
	facts := []fact{
		{"Files", say("%d with %s rows in all (%s); manifest.json has their names and digests", len(b.Manifest.Inputs),
			humanize.Comma(rows), humanize.Bytes(uint64(max(0, bytes))))},
		{"Training rows", say("%s, %s of them distinct in what tests can tell apart", humanize.Comma(t.Rows),
			humanize.Comma(t.Objects))},
	}
	add := func(name string, told bool, text markdown) {
		if told {
			facts = append(facts, fact{name, text})
		}
	}
	if b.Schema != nil {
		add("Columns", true, say("%d features, %d of one value alone, %d ignored", len(b.columns("feature"))+
			len(b.columns("forbidden")), len(b.columns("constant")), len(b.columns("ignored"))))
	}
	add("Without a label", t.DroppedNullLabel > 0, say("%s rows were left out", humanize.Comma(t.DroppedNullLabel)))
	add("Weights of rows", b.settings.Weight != "", say("column %s", b.settings.Weight))
	add("Weights of classes", len(t.ClassWeights) > 0, byClass(b.Tree.Label.Classes, t.ClassWeights))
	add("Probabilities of classes", len(b.settings.Probability) > 0, say("trees have also learnt from %s",
		names(b.settings.Probability)))
	kind := "rows"
	if b.settings.Weight != "" {
		kind = "rows of the mean weight"
	}
	add("Contradictions", t.RelabelledRows > 0, say("%s %s are of another class than most rows of the same values",
		humanize.Comma(t.RelabelledRows), kind))
	return facts
}

// measures describes what the figures mean.
func (b *builder) measures() []fact {
	facts := []fact{
		{"AUC", "the share of pairs of a row of a class and another row that the tree ranks rightly, ties counted half; " +
			"of more than two classes the mean over the classes"},
		{"Accuracy", "the share of rows whose class is predicted; balanced accuracy: its mean over the classes"},
		{"Log loss, Brier score", "how far the probabilities are from what is true; 0 is best"},
		{"Cost, tests", "mean number of tests of a row, and their mean cost"},
		{"Intervals", "95 %, for this tree on new rows like these: DeLong's for AUC, Wilson's for shares"},
	}
	if b.metrics.ExpectedErrorCost != nil {
		facts = append(facts, fact{"Error cost", "the mean cost of the predictions"})
	}
	return facts
}

// chosen describes how the tree was chosen, and how far it can be trusted.
func (b *builder) chosen() []fact {
	var facts []fact
	if b.Frontier != nil {
		if at := slices.IndexFunc(b.Frontier.Points, func(p runfolder.Point) bool { return p.Selected }); at >= 0 {
			facts = append(facts, fact{"Merit", say("the tree was chosen by a merit of %.4f, of validation rows%s",
				b.Frontier.Points[at].Merit, folded(b.Frontier.Folds))})
		}
	}
	if c := b.metrics.Calibration; c != nil {
		of := markdown("the predicted class")
		if c.Class != "" {
			of = name(c.Class)
		}
		facts = append(facts, fact{"Calibration", say("probabilities of %s are %s; observed shares differ from them by %.3f in the "+
			"worst of %d bins", of, markdown(report.OffBy(c, threeDecimals)), c.MaximumError, len(c.Bins))})
	}
	if f := b.Metrics.Folds; f != nil {
		text := say("AUC %s +- %s over %d trees grown without a fold each", report.Figure(f.Expected()),
			report.Figure(f.StandardDeviation.AUCOvRMacro), f.Count)
		if f.Stability != nil && f.SameFeature != nil {
			text += say("; a split has the same feature in %s of them", report.Percent(*f.SameFeature))
		}
		facts = append(facts, fact{"Folds", text})
	}
	return append(facts, b.certificate()...)
}

func threeDecimals(x float64) string { return fmt.Sprintf("%.3f", x) }

func folded(folds int) markdown {
	if folds == 0 {
		return ""
	}
	return say(" and %d folds", folds)
}

// certificate describes the lower bound on the cost of all trees.
func (b *builder) certificate() []fact {
	c := b.Tree.Certificate
	if c == nil || c.Ratio == 0 {
		return nil
	}
	this := "this tree costs"
	if c.Pruned {
		this = "this tree, before it was pruned, costs"
	}
	const digits = 4
	text := say("%s at most %v times what the cheapest tree costs that separates the training rows as far, over the same "+
		"bins and tests", markdown(this), portable.Up(c.Ratio, digits))
	if c.Sampled {
		text += say(", at %v %% confidence", 100*c.Confidence)
	}
	return []fact{{"Certificate", text}}
}
