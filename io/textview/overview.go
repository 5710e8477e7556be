package textview

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/naming"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/runfolder"
)

// Overview is the first screen about a run: the rows, the choice, the tree, its quality and cost,
// and other budgets. It has at most 25 lines unless classes have weights, names are long, or Whole
// is set.
type Overview struct {
	Folder string // the run folder
	Run    *runfolder.Run
	Report bool   // the folder has a report.html
	Guess  string // says which class of interest is guessed, see Interested; empty: none
	Whole  bool   // show the whole tree, whatever its size
}

const (
	screenWidth  = 80 // characters in a line, and
	screenLines  = 25 // lines: what every terminal has
	leastNodes   = 3  // least number of nodes of the tree that are shown, however long the text around it is
	otherBudgets = 4  // trees of the frontier in addition to the chosen tree
)

// Write writes the overview in lines of at most width characters, and of at most 80.
func (o *Overview) Write(w io.Writer, width int) error {
	if width <= 0 || width > screenWidth {
		width = screenWidth
	}
	head := new(strings.Builder)
	drawn := new(strings.Builder)
	tail := new(strings.Builder)
	for _, text := range o.Choice() {
		printf(head, "%s\n", Wrapped(text, width, "  "))
	}
	for _, text := range o.Quality() {
		printf(tail, "%s\n", Wrapped(text, width, "  "))
	}
	if budgets, another := o.Budgets(); budgets != nil {
		printf(tail, "\n")
		_ = budgets.Write(tail, width) // a strings.Builder returns no error
		printf(tail, "Take one: %s\n", another)
	}
	if o.Report {
		printf(tail, "Report: %s/report.html\n", o.Folder) // not wrapped, so that it can be copied from the screen
	}
	printf(tail, "All figures: espalier show %s --figures\n", o.Folder)
	const around = 4 // blank lines before and after the tree, its head, and the line about other nodes
	o.tree(drawn, width, max(leastNodes, screenLines-around-strings.Count(head.String()+tail.String(), "\n")))
	_, err := fmt.Fprintf(w, "%s\n%s\n%s", head, drawn, tail)
	return err
}

// Choice describes in sentences which rows were read, and which tree was chosen.
func (o *Overview) Choice() []string {
	features := o.features()
	if o.Guess != "" {
		features = strings.TrimSuffix(features, ".") + "; " + o.Guess + "."
	}
	list := []string{o.rows(), features, string(newFacts(o.Run, name).choice())}
	if text := About(o.Run.Tree); text != "" {
		list = append(list, text)
	}
	if text := Unordered(o.Run); text != "" {
		list = append(list, text+" (--absent, espalier help unordered).")
	}
	return list
}

// Unordered is a sentence without a full stop on the features that the tree of a run tests and whose absent values nobody
// ordered; empty without such features.
func Unordered(r *runfolder.Run) string {
	const listed = 5
	list := r.Schema.Features()
	t := r.Tree
	rows := max(1, t.Training.Rows)
	tested := make(map[string]bool)
	for i := range t.Nodes {
		if n := &t.Nodes[i]; !n.Leaf() {
			tested[t.Features[n.Test.Feature].Name] = true
		}
	}
	var names []string
	priced := true
	for i := range list {
		if f := &list[i]; f.Unordered && tested[f.Name] {
			share := min(1, float64(f.Missing)/float64(rows))
			names = append(names, fmt.Sprintf("%s (%.0f %%)", name(f.Name), 100*share))
			priced = priced && charged(f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	why := ""
	if priced {
		why = ", as it has a price"
		if len(names) > 1 {
			why = ", as they have prices"
		}
	}
	return fmt.Sprintf("Not ordered where absent: %s of the training rows%s; no test asks whether a value is absent, and each row that a "+
		"test reaches pays for it", naming.First(names, listed), why)
}

// charged reports whether a feature has a price above 0, in any currency.
func charged(f *dataset.Feature) bool {
	above := f.Cost+f.GroupCost > 0
	for _, costs := range []map[string]float64{f.FurtherCosts, f.GroupFurther} {
		for _, cost := range costs {
			above = above || cost > 0
		}
	}
	return above
}

// Quality describes in sentences how good the tree is, and what it costs.
func (o *Overview) Quality() []string {
	part, m := o.Run.Metrics.Best()
	if f := o.Run.Metrics.Folds; f != nil && part == dataset.Train.String() {
		return []string{outOfFold(f, m, o.Run.Tree.Modelled()), o.cost(m)}
	}
	list := []string{quality(part, m)}
	if text := decided(o.Run.Tree, m); text != "" {
		list = append(list, text)
	}
	return append(list, o.cost(m))
}

// rows describes which rows were read, and how they were split.
func (o *Overview) rows() string {
	uses := map[string]string{
		dataset.Train.String(): "to train", dataset.Validation.String(): "to select a tree", dataset.Test.String(): "to test it",
	}
	var parts []string
	total := int64(0)
	for _, p := range o.Run.Metrics.Parts() {
		total += p.Metrics.Rows
		parts = append(parts, fmt.Sprintf("%d %s", p.Metrics.Rows, uses[p.Name]))
	}
	text := plural(total, "row")
	if len(parts) > 1 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + "."
}

// features describes the features, and the cost of testing them.
func (o *Overview) features() string {
	list := o.Run.Schema.Features()
	least := math.Inf(1)
	most := 0.0
	for i := range list {
		least = min(least, list[i].Cost)
		most = max(most, list[i].Cost)
	}
	unit := ""
	if u := o.Run.Tree.Algorithm.CostUnit; u != "" {
		unit = " " + name(u)
	}
	text := plural(int64(len(list)), "feature")
	test := " test"
	if o.Run.Tree.Algorithm.RepeatCost == tree.RepeatFree {
		test = "" // the feature is paid, and then has all its tests
	}
	if least >= most {
		return text + ", each" + test + " costs " + number(most) + unit + "."
	}
	if test == "" {
		test = " feature"
	}
	return text + ", a" + test + " costs " + number(least) + " to " + number(most) + unit + "."
}

// why returns a clause that explains why a tree of a frontier was chosen, with the association that decided whether the
// rows have a signal.
func why(f *runfolder.Frontier, chosen *runfolder.Point) string {
	text := whyAmong(f, chosen)
	switch a := f.Association; {
	case a == nil || f.Select != frontier.Best.String() && f.Select != frontier.Total.String():
		return text
	case a.Believed():
		return text + fmt.Sprintf("; the class depends on %s (p = %.2g)", name(a.Feature), a.P)
	default:
		return text + fmt.Sprintf("; no feature is associated with the class beyond chance (least p = %.2g)", a.P)
	}
}

// whyAmong returns a clause that explains why a tree was chosen among the trees of a frontier.
func whyAmong(f *runfolder.Frontier, chosen *runfolder.Point) string {
	on := judgedOn(f, chosen)
	highest := marked(f.Points, func(p *runfolder.Point) bool { return p.Highest })
	switch rule, _ := frontier.ParseRule(f.Select); {
	case f.Select == runfolder.SelectNumber:
		return "named by a person"
	case f.ByDemand:
		return "chosen among the trees that keep the demand"
	case rule == frontier.Total && (chosen.LeastTotal || chosen.Leaves > 1):
		return "the least total cost of tests and errors"
	case rule == frontier.Paper:
		return "chosen by the rule of the paper"
	case chosen.Leaves == 1 && len(f.Points) > 1 && f.Association.Believed():
		return "no larger tree is better by more than chance or --tolerance"
	case chosen.Leaves == 1 && len(f.Points) > 1:
		return "no larger tree is better than chance"
	case highest == chosen:
		if f.Merit != "" {
			on = "by " + f.Criterion().Figure() + " " + on
		}
		return "the best " + on
	case rule == frontier.Best && (f.Limits.PathsAlone() && f.Tolerance == 0 ||
		highest != nil && highest.ExpectedCost <= chosen.ExpectedCost && highest.Merit > chosen.Merit):
		return "the highest score, of AUC and log loss less an allowance for the leaves, " + on
	case highest == nil || highest.Merit <= chosen.Merit:
		return "the cheapest of the trees that are as good"
	default:
		return fmt.Sprintf("%s would %s %s, within chance or --tolerance", size(highest),
			f.Criterion().Gain(highest.Merit-chosen.Merit), on)
	}
}

// tree draws the tree, or as many levels of it as fit into a number of nodes.
func (o *Overview) tree(w io.Writer, width, nodes int) {
	all := len(o.Run.Tree.Nodes)
	if o.Whole {
		nodes = all
	}
	if shown := Outline(w, o.Run.Tree, width, nodes); shown < all {
		printf(w, "%d of %d nodes; the whole tree: espalier show %s\n", shown, all, o.Folder)
	}
}

// Outline draws the levels of a tree that fit into a number of nodes, in lines of at most width
// characters. It returns how many nodes it has drawn.
func Outline(w io.Writer, t *tree.Tree, width, nodes int) int {
	v := &View{Tree: t, Depth: FittingDepth, Width: width, brief: nodes}
	if nodes >= len(t.Nodes) {
		v.Depth = WholeDepth
	}
	d := &sketch{part: v.newPart()}
	d.write(w)
	return len(d.lines)
}

// quality describes how good the tree is, compared with always predicting the most frequent class.
func quality(part string, m *metric.Metrics) string {
	text := fmt.Sprintf("%s: AUC %s", plural(m.Rows, part+" row"), rounded(m.AUCOvRMacro))
	if m.Intervals != nil && m.Intervals.AUCOvRMacro != nil {
		text += " (" + areaInterval(m.Intervals) + ")"
	}
	return text + accuracy(m.Accuracy, m) + "."
}

// outOfFold describes how good trees like the tree are on rows that did not grow them: on the training rows, by
// cross-validation. m are the metrics of the training rows. modelled means that the tree has leaf models, which
// the trees of the folds do not have.
func outOfFold(f *runfolder.Folds, m *metric.Metrics, modelled bool) string {
	text := fmt.Sprintf("%s in %s%s: AUC %s", plural(m.Rows, "training row"), plural(int64(f.Count), "fold"), withoutModels(modelled),
		rounded(f.Expected()))
	if f.Interval != nil {
		text += fmt.Sprintf(" (%.3f-%.3f)", f.Interval.Low, f.Interval.High)
	}
	return text + accuracy(f.ExpectedAccuracy(), m) + "."
}

// accuracy compares an accuracy on the rows of metrics with always predicting the most frequent class; empty if the
// accuracy is nil.
func accuracy(share *float64, m *metric.Metrics) string {
	if share == nil || len(m.PerClass) == 0 {
		return ""
	}
	most := mostFrequent(m)
	text := ", accuracy " + Percent(*share)
	if most.Prevalence != nil {
		text += fmt.Sprintf(" (always %s: %s)", name(most.Class), Percent(*most.Prevalence))
	}
	return text
}

// cost describes what the tree costs.
func (o *Overview) cost(m *metric.Metrics) string {
	t := o.Run.Tree
	counted := o.countedIn()
	unit := counted
	if t.Algorithm.CostUnit != "" {
		unit = " " + name(t.Algorithm.CostUnit)
	}
	most := t.Complexity.MaxCost
	paid := m.ExpectedCost
	text := "Cost per row: "
	if paid != nil {
		if figureOf(*paid) == "1" && counted != "" {
			unit = strings.TrimSuffix(counted, "s")
		}
		text += figureOf(*paid) + unit + " on average, "
	}
	text += figureOf(most) + " at most"
	if counted != unitTests && m.ExpectedTests != nil {
		text += fmt.Sprintf(" (%s tests)", figureOf(*m.ExpectedTests))
	}
	text += FurtherCosts(&m.Further, "; ", figureOf, name)
	if m.ExpectedErrorCost != nil {
		mistakes := *m.ExpectedErrorCost
		on := ""
		if p := onFolds(o.Run); p != nil {
			mistakes = *p.ErrorsBeside(p)
			on = " on the folds"
		} else if part, _ := o.Run.Metrics.Best(); part == dataset.Train.String() {
			on = " in training"
		}
		text += "; errors cost " + figureOf(mistakes)
		if t.Algorithm.CostUnit != "" {
			text += unit
		}
		text += " per row" + on
	}
	text += ". " + leaves(t.Complexity.Leaves) + "."
	if total := Total(o.Run); total != "" {
		text += " " + strings.ToUpper(total[:1]) + total[1:] + "."
	}
	if f := o.Run.Frontier; f != nil && paid != nil && f.Limits.ExpectedCost != 0 && *paid > f.Limits.ExpectedCost {
		text += fmt.Sprintf(" The limit holds on the training rows, which cost %s.", figureOf(t.Complexity.ExpectedCost))
	}
	if f := o.Run.Frontier; f != nil {
		var passed strings.Builder
		for _, limit := range f.Limits.Further.List() {
			if on := t.Complexity.Further.Of(limit.Unit); limit.ExpectedCost != 0 && m.Further.Of(limit.Unit).ExpectedCost > limit.ExpectedCost {
				fmt.Fprintf(&passed, " The limit in %s holds on the training rows, which cost %s.", name(limit.Unit), figureOf(on.ExpectedCost))
			}
		}
		text += passed.String()
	}
	if once := o.onceEach(); most > once {
		text += fmt.Sprintf(" All features cost %s once: further tests of a feature are billed again, unless "+
			"--repeat_cost free.", figureOf(once))
	}
	return text
}

// onceEach returns the cost of testing each feature once. It is infinite if further tests of a feature
// are free, or if the costs are not the prices of features alone.
func (o *Overview) onceEach() float64 {
	t := o.Run.Tree
	if o.countedIn() == unitTests || t.BillsApart() || o.Run.Schema == nil {
		return math.Inf(1)
	}
	sum := 0.0
	list := o.Run.Schema.Features()
	for i := range list {
		sum += list[i].Cost
	}
	return sum
}

// unitTests is the unit of costs if each test costs 1.
const unitTests = " tests"

// countedIn returns what the cost of a row is a number of, after a space: tests, or features if each is paid once. It is
// empty if features of the run have prices.
func (o *Overview) countedIn() string {
	t := o.Run.Tree
	features := t.Features
	if o.Run.Schema != nil {
		features = o.Run.Schema.Features()
	}
	priced := func(f dataset.Feature) bool { return f.Cost != 1 || f.Group != "" || len(f.ValueCosts) > 0 }
	switch {
	case t.Algorithm.CostUnit != "" || slices.ContainsFunc(features, priced):
		return ""
	case t.Algorithm.RepeatCost == tree.RepeatFree:
		return " features"
	default:
		return unitTests
	}
}

// Priced reports whether features of the run have prices, or costs a unit. Otherwise costs are numbers of tests or features.
func (o *Overview) Priced() bool { return o.countedIn() == "" }

// Budgets lists other trees of the frontier, among them the trees of nextTo, and returns a command
// that takes the next cheaper one. The table is nil if there are no other trees.
func (o *Overview) Budgets() (t *Table, another string) {
	f := o.Run.Frontier
	if f == nil || len(f.Points) < 2 {
		return nil, ""
	}
	points := onFront(f.Points)
	chosen := chosenOf(points)
	head := areaHead(points)
	figure := func(p *runfolder.Point) *float64 { return p.AUCBeside(&points[chosen]) }
	if f.Merit != "" {
		head = f.Criterion().Figure() + strings.TrimPrefix(head, "AUC")
		figure = func(p *runfolder.Point) *float64 { return p.MeritBeside(&points[chosen]) }
	}
	t = NewTable(Column{Head: "Other budgets", Left: true}, Column{Head: "cost"}, Column{Head: head}, Column{Head: "change"},
		Column{Head: "leaves", Rank: 1})
	cheaper, dearer := nextTo(points, chosen)
	shown := Outlined(points, otherBudgets+1, cheaper, dearer)
	for most := otherBudgets + 2; len(shown) <= otherBudgets && most < 3*otherBudgets; most++ {
		if more := Outlined(points, most, cheaper, dearer); len(more) <= otherBudgets+1 { // an outline may have fewer points than requested
			shown = more
		}
	}
	for _, i := range shown {
		p := &points[i]
		if i == chosen {
			continue
		}
		now := figure(p)
		before := figure(&points[chosen])
		change := "-"
		if now != nil && before != nil {
			change = fmt.Sprintf("%+.3f", *now-*before)
		}
		t.Add("tree "+digits(p), figureOf(p.ExpectedCost), rounded(now), change, strconv.Itoa(p.Leaves))
	}
	other := cheaper
	if other == chosen {
		other = dearer
	}
	number := digits(&points[other])
	return t, fmt.Sprintf("espalier frontier %s --promote %s --output %[1]s-%[2]s", o.Folder, number)
}

// digits returns the number of a point's tree, as --promote takes it.
func digits(p *runfolder.Point) string { return cmp.Or(strings.TrimLeft(Number(p.Tree), "0"), "0") }

// areaHead names the area of ExpectedAUC.
func areaHead(points []runfolder.Point) string {
	validated := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Validation.AUC != nil })
	folded := slices.ContainsFunc(points, func(p runfolder.Point) bool { return p.Folds != nil })
	switch {
	case validated && folded:
		return "AUC (validation, folds)"
	case validated:
		return "AUC (validation)"
	default:
		return "AUC (folds)"
	}
}

func leaves(n int) string {
	if n == 1 {
		return "1 leaf"
	}
	return strconv.Itoa(n) + " leaves"
}

// figureOf writes a cost for reading: with three significant digits, or as a whole number.
func figureOf(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
