package textview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Fact is a statement about a run, taken from its documents.
type Fact struct{ Name, Text string }

// FactSheet has the facts of a run: the first screen, the page and the model card take them from here.
type FactSheet struct {
	Model      []Fact // the model, and how it was made
	Use        []Fact // what a prediction requires
	Factors    []Fact // how rows were grouped to measure the tree, and columns without tests
	Evaluation []Fact // the rows of the part whose figures are quoted, and the intervals of the figures
	Training   []Fact // the training rows
	Choice     []Fact // how good the tree was where it was chosen, and how far it can be trusted
}

// Facts returns the facts of a run, which has Tree and Metrics. If other documents are nil, their facts are left out.
// write writes a name that people have chosen, such as the name of a column.
func Facts(r *runfolder.Run, write func(name string) string) *FactSheet {
	f := newFacts(r, write)
	f.describeModel()
	f.describeUse()
	f.describeFactors()
	f.describeEvaluation()
	f.describeTraining()
	f.describeChoice()
	return &f.FactSheet
}

// facts makes the facts of a run.
type facts struct {
	*runfolder.Run
	FactSheet

	write    func(name string) string
	settings map[string]any  // by flag; nil if they are unknown
	part     string          // the part whose figures are quoted
	metrics  *metric.Metrics // metrics of this part
}

func newFacts(r *runfolder.Run, write func(name string) string) *facts {
	f := &facts{Run: r, write: write}
	f.part, f.metrics = r.Metrics.Best()
	if r.Manifest != nil {
		b, _ := json.Marshal(r.Manifest.Config) // settings that are no JSON are unknown
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		_ = d.Decode(&f.settings)
	}
	return f
}

// setting returns a setting of the run as text; empty if it is unknown or null.
func (f *facts) setting(flag string) string {
	if x := f.settings[flag]; x != nil {
		return fmt.Sprint(x)
	}
	return ""
}

// written is text in which all names are written.
type written string

// say formats text. Strings among the arguments are names.
func (f *facts) say(format string, args ...any) written {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = f.write(s)
		}
	}
	return written(fmt.Sprintf(format, args...))
}

// add adds a fact to a list, unless its text is empty.
func add(list *[]Fact, name string, text written) {
	if text != "" {
		*list = append(*list, Fact{name, string(text)})
	}
}

// maxNames is the greatest number of names in a list.
const maxNames = 20

// list joins n texts.
func list(n int, at func(i int) string) written {
	var texts []string
	shown, others := Visible(n, maxNames)
	for i := range shown {
		texts = append(texts, at(i))
	}
	if others != "" {
		texts = append(texts, others)
	}
	return written(strings.Join(texts, ", "))
}

// names writes a list of names.
func (f *facts) names(names []string) written {
	return list(len(names), func(i int) string { return f.write(names[i]) })
}

// byClass writes a number for each class.
func (f *facts) byClass(numbers []float64) written {
	classes := f.Tree.Label.Classes
	return list(min(len(numbers), len(classes)), func(i int) string { return fmt.Sprintf("%s: %.4g", f.write(classes[i]), numbers[i]) })
}

// describeModel describes the model, and how it was made.
func (f *facts) describeModel() {
	t := f.Tree
	a := &f.Tree.Algorithm
	c := &f.Tree.Complexity
	text := f.say("a tree of %d tests and %d leaves, at most %d tests deep", c.Nodes-c.Leaves, c.Leaves, c.Depth)
	switch {
	case a.BoosterTrees > 0:
		text += "; its leaves have linear models and small regression trees of the values on the path"
	case t.Modelled():
		text += "; its leaves have linear models of the values on the path"
	}
	add(&f.Model, "Model", text)
	add(&f.Model, "Predicts", f.say("%s: one of %d classes, %s", t.Label.Column, len(t.Label.Classes),
		f.names(t.Label.Classes)))
	text = f.say("%s (lambda %v, theta %v), %s tests on %d %s bins, %s leaves", a.Name, a.Lambda, a.Theta, a.Tests, a.Bins,
		a.Binning, a.LeafEstimate.String())
	if a.Prune != "none" {
		text += f.say(", pruned by %s", a.Prune)
	}
	if a.Teacher != "" {
		text += f.say(", taught by %s", a.Teacher)
	}
	if run := f.setting("cuts_from"); run != "" {
		text += f.say(", with the cuts of the run %s", run)
	}
	add(&f.Model, "Made by", text)
	add(&f.Model, "Chosen", f.choice())
	if m := f.Manifest; m != nil {
		const moment = "2006-01-02 15:04 MST"
		add(&f.Model, "Trained", f.say("%s, by Espalier %s", written(m.Started.UTC().Format(moment)), m.Espalier))
		if o := m.Origin; o != nil {
			add(&f.Model, "Promoted", f.say("%s, a person chose the tree from the frontier of the run %s, whose tree has the SHA-256 %s",
				written(o.Promoted.UTC().Format(moment)), o.Run, o.Digest))
		}
	}
	add(&f.Model, "SHA-256 of tree.json", written(tree.Digest(t.Encode())))
}

// choice describes which tree was chosen among how many, and why.
func (f *facts) choice() written {
	if run := f.setting("refit"); run != "" {
		return f.say("The tests are the tests of the tree of %s: nothing was chosen.", run)
	}
	if f.Frontier == nil {
		return "Grew one tree: there was nothing to choose."
	}
	chosen := &f.Frontier.Points[chosenOf(f.Frontier.Points)]
	within := ""
	if limits := f.Frontier.Limits.String(); limits != "" {
		within = " within " + limits
	}
	return f.say("Tree %s, from %s of %s%s: %s.", digits(chosen), written(plural(int64(f.Frontier.Pruned), "pruning")),
		written(plural(int64(f.Frontier.Grown), "tree")), written(within), written(why(f.Frontier, chosen)))
}

// unit returns the unit of costs after a blank; empty if the tree names none.
func (f *facts) unit() written {
	if u := f.Tree.Algorithm.CostUnit; u != "" {
		return f.say(" %s", u)
	}
	return ""
}

// describeUse describes what a prediction requires.
func (f *facts) describeUse() {
	var tested []string
	for _, in := range f.Tree.Scorer().Features() {
		tested = append(tested, in.Name)
	}
	unit := f.unit()
	c := &f.Tree.Complexity
	l := &f.Tree.Label
	expected := c.ExpectedCost
	most := c.MaxCost
	add(&f.Use, "Features", f.say("%d, asked one after the other and only if needed: %s", len(tested), f.names(tested)))
	further := FurtherCosts(&c.Further, "; ", func(x float64) string { return fmt.Sprintf("%.4g", x) }, f.write)
	add(&f.Use, "Cost of a prediction", f.say("%.4g%s on average over the training rows, at most %.4g%s", expected, unit,
		most, unit)+written(further))
	add(&f.Use, "Tests of a prediction", f.say("%.4g on average, at most %d", c.ExpectedTests, c.Depth))
	add(&f.Use, "Decision", f.decision())
	add(&f.Use, "Tests and errors", f.total())
	if l.Priors != nil {
		add(&f.Use, "Probabilities", "for classes as frequent as "+f.byClass(l.Priors))
	}
}

// decision describes the decision rule.
func (f *facts) decision() written {
	l := &f.Tree.Label
	switch {
	case l.Thresholded():
		return written(thresholdText(l.Decision, f.write))
	case l.ErrorCosts != nil:
		return "the class of the least expected error cost"
	default:
		return "the most probable class"
	}
}

// columns lists the columns of a role.
func (f *facts) columns(role string) (list []string) {
	for i := range f.Schema.Columns {
		if c := &f.Schema.Columns[i]; c.Role == role {
			list = append(list, c.Name)
		}
	}
	return list
}

// describeFactors describes how rows were grouped to measure the tree, and lists the columns without tests.
func (f *facts) describeFactors() {
	var sliced []string
	for i := range f.metrics.Slices {
		sliced = append(sliced, f.metrics.Slices[i].Column)
	}
	text := written("all rows and each class; no slices were asked for: `--slice COLUMN` measures groups of rows")
	if len(sliced) > 0 {
		text = f.say("all rows and each class, and each value of %s", f.names(slices.Compact(sliced)))
	}
	add(&f.Factors, "Measured by", text)
	if f.Schema != nil {
		add(&f.Factors, "Read and never tested", f.names(f.columns("forbidden")))
		add(&f.Factors, "Ignored columns", f.names(f.columns("ignored")))
	}
}

// describeEvaluation describes the rows of the quoted part, and the intervals of their figures.
func (f *facts) describeEvaluation() {
	rows := f.say("%s, the training rows themselves", written(humanize.Comma(f.metrics.Rows)))
	if f.part != dataset.Train.String() {
		rows = f.say("%s, the %s part of the same files as the training rows", written(humanize.Comma(f.metrics.Rows)), f.part)
	}
	add(&f.Evaluation, "Rows", rows)
	add(&f.Evaluation, "Parts", f.parts())
	var prevalence []float64
	for k := range f.metrics.PerClass {
		if p := f.metrics.PerClass[k].Prevalence; p != nil {
			prevalence = append(prevalence, *p)
		}
	}
	add(&f.Evaluation, "Shares of the classes", f.byClass(prevalence))
	add(&f.Evaluation, "Intervals", f.intervals())
}

// groups returns the column of groups; version 0.3 names it key.
func (f *facts) groups() string { return cmp.Or(f.setting("group"), f.setting("key")) }

// parts describes how the part of each row was determined; empty if unknown.
func (f *facts) parts() written {
	split := f.setting("split")
	column := f.setting("split_column")
	key := f.groups()
	time := f.setting("split_time")
	shares := f.say("shares %s of train, validation and test", split)
	seed := written(f.setting("seed"))
	switch {
	case f.settings["split"] == nil:
		return ""
	case column != "":
		return f.say("by the column %s", column)
	case !strings.Contains(split, "/"): // as in earlier versions
		return f.say("by the column %s", split)
	case strings.HasSuffix(split, "/0/0"):
		return "all rows are training rows"
	case time != "" && key != "":
		return f.say("%s, by the time in column %s: the oldest rows train, newer rows validate, the newest rows test; rows with a %s "+
			"that an older part has are left out", shares, time, key)
	case time != "":
		return f.say("%s, by the time in column %s: the oldest rows train, newer rows validate, the newest rows test", shares, time)
	case key != "":
		return f.say("%s, drawn by a hash of %s with seed %s: rows with the same value are in the same part", shares, key, seed)
	default:
		return f.say("%s, drawn by a hash of each row's place with seed %s", shares, seed)
	}
}

// intervals describes the intervals of the figures; empty if it is unknown how rows were sampled.
func (f *facts) intervals() written {
	in := f.metrics.Intervals
	key := f.groups()
	weight := f.setting("weight")
	const what = "95 %, for this tree on new rows like these"
	switch {
	case f.settings == nil:
		return ""
	case in == nil || in.AUCOvRMacro == nil && in.Accuracy == nil:
		return "none: they are not known"
	case f.setting("split_time") != "":
		return f.say("%s: by a jackknife over blocks of time (delete-a-group)", written(what))
	case key != "":
		return f.say("%s: by a jackknife over groups of rows (delete-a-group), each the rows with the same %s", written(what), key)
	case weight != "":
		return what + ": DeLong's for AUC, Wilson's for shares, both for Kish's effective number of rows by their weights"
	default:
		return what + ": DeLong's for AUC, Wilson's for shares"
	}
}

// describeTraining describes the training rows.
func (f *facts) describeTraining() {
	t := &f.Tree.Training
	comma := func(n int64) written { return written(humanize.Comma(n)) }
	if f.Manifest != nil && len(f.Manifest.Inputs) > 0 {
		var rows, size int64
		for _, in := range f.Manifest.Inputs {
			rows += in.Rows
			size += in.Size
		}
		add(&f.Training, "Files", f.say("%d with %s rows in all (%s); manifest.json has their names and digests",
			len(f.Manifest.Inputs), comma(rows), written(humanize.Bytes(uint64(max(0, size))))))
	}
	add(&f.Training, "Training rows", f.say("%s, %s of them distinct in what tests can tell apart", comma(t.Rows),
		comma(t.Objects)))
	if f.Schema != nil {
		add(&f.Training, "Columns", f.say("%d features, %d of one value alone, %d ignored",
			len(f.columns("feature"))+len(f.columns("forbidden")), len(f.columns("constant")), len(f.columns("ignored"))))
	}
	if t.DroppedNullLabel > 0 {
		add(&f.Training, "Without a label", comma(t.DroppedNullLabel)+" rows were left out")
	}
	if count := f.setting("count"); count != "" {
		add(&f.Training, "Counts of rows", f.say("column %s says how many rows each line of the files is", count))
	}
	kind := written(" rows")
	if weight := f.setting("weight"); weight != "" {
		add(&f.Training, "Weights of rows", f.say("column %s", weight))
		kind = " rows of the mean weight"
	}
	add(&f.Training, "Weights of classes", f.byClass(t.ClassWeights))
	if soft, _ := f.settings["label_probabilities"].([]any); len(soft) > 0 {
		add(&f.Training, "Probabilities of classes", f.say("trees have also learnt from %s", strings.Trim(fmt.Sprint(soft), "[]")))
	}
	if t.RelabelledRows > 0 {
		add(&f.Training, "Contradictions", comma(t.RelabelledRows)+kind+" are of another class than most rows of the same values")
	}
}

// describeChoice describes how good the tree was where it was chosen, and how far it can be trusted.
func (f *facts) describeChoice() {
	if f.Frontier != nil && f.Frontier.Select != runfolder.SelectNumber {
		chosen := &f.Frontier.Points[chosenOf(f.Frontier.Points)]
		add(&f.Choice, "Merit", f.say("%s %s", written(f.Frontier.Criterion().Value(chosen.Merit)), written(judgedOn(f.Frontier, chosen))))
	}
	if c := f.metrics.Calibration; c != nil {
		of := written("the predicted class")
		if c.Class != "" {
			of = f.say("%s", c.Class)
		}
		add(&f.Choice, "Calibration", f.say("probabilities of %s are %s; observed shares differ from them by %s in the worst of "+
			"%d bins", of, written(OffBy(c, ThreeDecimals)), written(ThreeDecimals(c.MaximumError)), len(c.Bins)))
	}
	if f.Metrics.Folds != nil {
		add(&f.Choice, "Folds", written(Folds(f.Metrics.Folds, f.Tree.Modelled())))
	}
	add(&f.Choice, "Certificate", written(strings.ReplaceAll(Certificate(f.Tree), "\n", " ")))
}

// judgedOn returns the rows on which a tree of a frontier was judged, as in "on validation rows".
func judgedOn(f *runfolder.Frontier, chosen *runfolder.Point) string {
	switch {
	case chosen.Validation.AUC == nil && f.Folds > 0:
		return "on the folds"
	case f.Folds > 0:
		return "on validation rows and folds"
	default:
		return "on validation rows"
	}
}
