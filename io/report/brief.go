package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/textview"
)

// word is a part of a sentence; the figures that matter are strong.
type word struct {
	Text   string
	Strong bool
}

// said is a sentence of the page.
type said []word

// say adds text to a sentence.
func (s said) say(format string, args ...any) said {
	return append(s, word{Text: fmt.Sprintf(format, args...)})
}

// stress adds a figure to a sentence.
func (s said) stress(figure string) said { return append(s, word{figure, true}) }

// brief describes the tree in at most six sentences: how frequent the class of interest is, what the tree finds, misses
// and raises, what it costs, how slices differ, what it asks first, and which absent values nobody ordered.
func (f *facts) brief() []said {
	var list []said
	switch {
	case f.metrics.Weight == 0:
		list = append(list, said{}.say("There are no rows on which the tree was measured."))
	case f.interest >= 0 && f.metrics.PerClass[f.interest].Support == 0:
		list = append(list, f.absent())
	case f.interest >= 0:
		list = append(list, f.prevalence(), f.found())
	default:
		list = append(list, f.frequent(), f.right())
	}
	list = append(list, f.spent())
	if s := f.bySlice(); s != nil {
		list = append(list, s)
	}
	list = append(list, f.first())
	if f.Schema != nil {
		if text := textview.Unordered(f.Run); text != "" {
			list = append(list, said{}.say("%s; a row without the value counts as rows that have it would.", text))
		}
	}
	return list
}

// tally holds the four kinds of rows that a decision about a class makes, as whole numbers whose sum is Of.
type tally struct {
	Of                           int64 // 1,000 or, for a rare class, a greater power of ten
	Found, Missed, Alarms, Other int64
}

// The numbers of rows to which shares are scaled, and the least number of rows of the class of interest among them.
const (
	leastScale = 1000
	mostScale  = 1_000_000
	leastOfIll = 10
)

// scaleOf returns the number of rows to which the share of a class among some measured rows is scaled: hardly more than
// these.
func scaleOf(share float64, rows int64) int64 {
	of := int64(leastScale)
	for share > 0 && float64(share*float64(of)) < leastOfIll && of < min(rows, mostScale) {
		of *= 10
	}
	return of
}

// tallied scales four shares of all rows to whole numbers that add up: the largest remainders are rounded up.
func tallied(of int64, found, missed, alarms float64) tally {
	exact := []float64{found, missed, alarms, max(0, 1-found-missed-alarms)}
	whole := make([]int64, len(exact))
	order := make([]int, len(exact))
	left := of
	for i := range exact {
		exact[i] = float64(exact[i] * float64(of))
		whole[i] = int64(exact[i])
		order[i] = i
		left -= whole[i]
	}
	slices.SortStableFunc(order, func(i, k int) int {
		return cmp.Compare(exact[k]-float64(whole[k]), exact[i]-float64(whole[i]))
	})
	for i := range order {
		if left > int64(i) {
			whole[order[i]]++
		}
	}
	return tally{of, whole[0], whole[1], whole[2], whole[3]}
}

// shares returns the shares in all rows that the tree finds and misses of a class, and calls so wrongly.
func shares(m *metric.Metrics, class int) (found, missed, alarms float64) {
	for actual, row := range m.Confusion {
		for predicted, weight := range row {
			share := float64(weight) / float64(m.Weight)
			switch {
			case actual == class && predicted == class:
				found += share
			case actual == class:
				missed += share
			case predicted == class:
				alarms += share
			}
		}
	}
	return found, missed, alarms
}

// counted writes a number of rows; a share above 0 is never written as 0.
func counted(n int64, share float64) string {
	if n == 0 && share > 0 {
		return "fewer than 1"
	}
	return humanize.Comma(n)
}

// percent writes a share in percent.
func percent(share float64) string {
	return strings.TrimSuffix(textview.Percent(share), "%") + "\u00a0%"
}

// measured names the rows on which the tree was measured.
func (f *facts) measured() string {
	rows := count(f.metrics.Rows, f.part+" row", f.part+" rows")
	switch {
	case f.part == dataset.Train.String():
		return fmt.Sprintf("measured on the %s that grew the tree: expect worse on new rows", count(f.metrics.Rows, "row", "rows"))
	case f.metrics.Weights == metric.WeightsByPriors:
		return "measured on " + rows + ", weighted by the priors"
	case f.metrics.WeightScale != 0:
		return "measured on " + rows + ", weighted"
	case f.part == dataset.Validation.String():
		return "measured on " + rows + ", which also chose the tree"
	default:
		return "measured on " + rows
	}
}

// of returns the name of the class of interest.
func (f *facts) of() string { return textview.Name(f.Tree.Label.Classes[f.interest]) }

func (f *facts) tally() tally {
	found, missed, alarms := shares(f.metrics, f.interest)
	return tallied(scaleOf(found+missed, f.metrics.Rows), found, missed, alarms)
}

func (f *facts) prevalence() said {
	found, missed, _ := shares(f.metrics, f.interest)
	t := f.tally()
	return said{}.say("Of %s rows, ", humanize.Comma(t.Of)).stress(counted(t.Found+t.Missed, found+missed)).
		say(" have %s = %s (%s).", textview.Name(f.Tree.Label.Column), f.of(), f.measured())
}

// absent says that no measured row is of the class of interest, so that no share of the class can be given.
func (f *facts) absent() said {
	rows := "None of the " + count(f.metrics.Rows, f.part+" row", f.part+" rows")
	return said{}.say("%s has %s = %s, so the share that the tree finds is not known.", rows, textview.Name(f.Tree.Label.Column),
		f.of())
}

func (f *facts) found() said {
	found, missed, alarms := shares(f.metrics, f.interest)
	t := f.tally()
	s := said{}
	switch l := &f.Tree.Label; {
	case l.Thresholded():
		s = s.say("Saying %s from a probability of %s on, the tree finds ", f.of(), percent(l.Decision.Threshold))
	case l.ErrorCosts != nil:
		s = s.say("Deciding by the cost of errors, the tree finds ")
	default:
		s = s.say("The tree finds ")
	}
	return s.stress(counted(t.Found, found)).say(" of them, misses ").stress(counted(t.Missed, missed)).say(" and raises ").
		stress(counted(t.Alarms, alarms)).say(" false %s.", map[bool]string{true: "alarm", false: "alarms"}[t.Alarms == 1 || t.Alarms == 0 && alarms > 0])
}

// frequent says how many classes there are where none is of interest.
func (f *facts) frequent() said {
	classes := f.metrics.PerClass
	most := slices.MaxFunc(classes, func(a, b metric.Class) int { return cmp.Compare(a.Support, b.Support) })
	n := int64(math.Round(float64(leastScale*float64(most.Support)) / float64(f.metrics.Weight)))
	return said{}.say("Of %s rows, ", humanize.Comma(leastScale)).stress(counted(n, float64(most.Support))).
		say(" have %s = %s, the most frequent of %s (%s).", textview.Name(f.Tree.Label.Column), textview.Name(most.Class),
			count(len(classes), "class", "classes"), f.measured())
}

// right says how many rows are called right, and the most frequent mistake.
func (f *facts) right() said {
	m := f.metrics
	var sum, worst int64
	var actual, predicted int
	for a, row := range m.Confusion {
		for p, weight := range row {
			switch {
			case a == p:
				sum += weight
			case weight > worst:
				worst = weight
				actual = a
				predicted = p
			}
		}
	}
	scaled := func(weight int64) int64 {
		return int64(math.Round(float64(leastScale*float64(weight)) / float64(m.Weight)))
	}
	s := said{}.say("The tree calls ").stress(counted(scaled(sum), float64(sum))).say(" of 1,000 rows right and ").
		stress(counted(leastScale-scaled(sum), float64(m.Weight-sum))).say(" wrong")
	if worst == 0 {
		return s.say(".")
	}
	return s.say("; most often it takes %s for %s: ", textview.Name(m.PerClass[actual].Class), textview.Name(m.PerClass[predicted].Class)).
		stress(counted(scaled(worst), float64(worst))).say(".")
}

// spent says what a row costs or, where features have no prices, how many features it is asked for. A feature that is paid
// for at each test counts as often.
func (f *facts) spent() said {
	c := &f.Tree.Complexity
	cost := cmp.Or(f.metrics.ExpectedCost, &c.ExpectedCost)
	s := said{}
	features, all := f.allFeatures()
	further := textview.FurtherCosts(f.furtherCosts(), "; ", short, textview.Name)
	if !f.hasPrices() {
		if f.Tree.Algorithm.RepeatCost != tree.RepeatFree {
			features = 0 // questions are counted
		}
		what := map[bool]string{true: "feature", false: "question"}[features > 0]
		if short(*cost) != "1" {
			what += "s"
		}
		s = s.say("It asks ").stress(short(*cost)).say(" %s per row on average and %s at most", what, short(c.MaxCost))
		if features > 0 {
			s = s.say(", of %s", count(features, "feature", "features"))
		}
		return f.total(s.say("%s", further))
	}
	s = s.say("It costs ").stress(f.cost(*cost)).say(" per row on average and %s at most", f.cost(c.MaxCost))
	if all > 0 {
		many := "all " + count(features, "feature", "features")
		if features == 2 {
			many = "both features"
		}
		s = s.say(", where %s cost ", many).stress(f.cost(all))
	}
	return f.total(s.say("%s", further))
}

// furtherCosts returns the costs in further currencies, of the rows that judge if there are any.
func (f *facts) furtherCosts() *dataset.FurtherCosts {
	if f.metrics.Further != (dataset.FurtherCosts{}) {
		return &f.metrics.Further
	}
	return &f.Tree.Complexity.Further
}

// total ends a sentence with the total of tests and errors, if errors have costs.
func (f *facts) total(s said) said {
	total := textview.Total(f.Run)
	if total == "" {
		return s.say(".")
	}
	s = s.say("; %s.", total)
	if classes := f.Tree.Label.Classes; len(classes) == 2 {
		costs := f.Tree.Label.ErrorCosts
		s = s.say(" Predicting %q for a row of class %q costs %s, and predicting %q for a row of class %q costs %s.", classes[1],
			classes[0], f.cost(costs[0][1]), classes[0], classes[1], f.cost(costs[1][0]))
	}
	return s
}

// hasPrices reports whether features have prices.
func (f *facts) hasPrices() bool {
	o := &textview.Overview{Run: f.Run}
	return o.Priced()
}

// allFeatures returns how many features the run has, and what they cost if all of them are bought, each with its group once; 0 if
// that is not known, or depends on the values.
func (f *facts) allFeatures() (features int, cost float64) {
	if f.Schema == nil {
		return 0, 0
	}
	list := f.Schema.Features()
	groups := make(map[string]bool)
	for i := range list {
		if len(list[i].ValueCosts) > 0 {
			return len(list), 0
		}
		cost += list[i].Cost
		if g := list[i].Group; g != "" && !groups[g] {
			groups[g] = true
			cost += list[i].GroupCost
		}
	}
	return len(list), cost
}

// leastOfSlice is how many rows a slice has at least, of the class of interest if there is one, to be compared.
const leastOfSlice = 10

// bySlice compares the slices of the first column of --slice; nil without slices that can be compared.
func (f *facts) bySlice() said {
	if len(f.metrics.Slices) == 0 {
		return nil
	}
	column := f.metrics.Slices[0].Column
	figure := func(s *metric.Slice) *float64 { return s.Accuracy }
	does := "it calls "
	of := " of the rows right"
	if f.interest >= 0 {
		figure = func(s *metric.Slice) *float64 { return s.Classes[f.interest].Recall }
		does = "it finds "
		of = " of them"
	}
	var list []*metric.Slice
	for i := range f.metrics.Slices {
		s := &f.metrics.Slices[i]
		if s.Column != column || len(s.Classes) <= f.interest || figure(s) == nil {
			continue
		}
		of := float64(s.Rows)
		if f.interest >= 0 && s.Classes[f.interest].Prevalence != nil {
			of *= *s.Classes[f.interest].Prevalence
		}
		if of >= leastOfSlice {
			list = append(list, s)
		}
	}
	if len(list) < 2 {
		return nil
	}
	named := func(s *metric.Slice) string {
		name := textview.SliceName(&s.SliceRows)
		if s.Of == metric.SliceOfValue {
			name = textview.Name(*s.Value)
		}
		if m := f.metrics; f.interest >= 0 && m.WeightScale == 0 && m.Weights == "" {
			name += fmt.Sprintf(", of %.0f", *s.Classes[f.interest].Prevalence*float64(s.Rows))
		}
		return name
	}
	by := func(a, b *metric.Slice) int { return cmp.Compare(*figure(a), *figure(b)) }
	low := slices.MinFunc(list, by)
	high := slices.MaxFunc(list, by)
	s := said{}.say("By %s, %s", textview.Name(column), does).stress(percent(*figure(low)))
	if *figure(low) < *figure(high) {
		return s.say(" (%s) to ", named(low)).stress(percent(*figure(high))).say(" (%s)%s.", named(high), of)
	}
	return s.say("%s in each of %s.", of, count(len(list), "slice", "slices"))
}

// first says what the tree asks first, and why.
func (f *facts) first() said {
	n := f.root()
	if n == nil {
		return said{}.say("It asks nothing: every row is called %s.", textview.Name(f.Tree.Label.Classes[f.Tree.Nodes[0].Class]))
	}
	t := f.Tree
	s := said{}.say("First it asks for ").stress(textview.Name(t.Features[n.Test.Feature].Name))
	if f.hasPrices() {
		s = s.say(" (%s)", f.cost(n.Test.Paid()))
	}
	s = s.say(", %s", f.because(n))
	if r := n.Test.RunnerUp; r != nil && n.Test.Score.Total > 0 && !t.Algorithm.ByTotal() {
		s = s.say("; the best question about another feature, %s, scores %s less", textview.RunnerUp(t, r), percent(1-r.Total/n.Test.Score.Total))
	}
	return s.say(".")
}

// because is a clause that says why a tree asks its first question: the short form of facts.reason.
func (f *facts) because(n *tree.Node) string {
	t := f.Tree
	a, _ := split.ParseAlgorithm(t.Algorithm.Name)
	switch {
	case len(t.Algorithm.First) > 0 && t.Algorithm.First[0] == t.Features[n.Test.Feature].Name:
		return "because the setting --first asks for it"
	case t.Algorithm.ByTotal():
		return "because the expected cost of questions and errors is the lowest with it"
	case t.Algorithm.RootByCodes:
		return "because its values together tell the most about the class"
	case a.ByPrice() && f.hasPrices():
		return "because this question tells the most about the class for its price"
	default:
		return "because this question tells the most about the class"
	}
}
