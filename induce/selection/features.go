package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/split"
)

// Settings of the forward selection.
const (
	selectingObjects = 20_000 // greatest number of objects that features are selected by
	selectingTrees   = 10     // regression trees that a feature adds
	// mostFinalists is the greatest number of features that compete with more trees at once; as many sets result.
	mostFinalists = 6
	// mostSelectable is the number of features that compete after the first: the ones that tell the most alone.
	mostSelectable = 25
	// nearlyFree is the share of the limit that counts as the price of a free feature.
	nearlyFree = 1e-9
)

// growConfined selects features that the limits on what a path costs allow to test together, and
// grows members of the grid again with tests of these features only. A tree finds its features one by one, by what each
// tells in a node; the selected features tell the most together. With leaf models, one more tree for each selected set
// tests each of its features once on each path, unless no test has a gain, so that leaves may share a model of all their
// rows: see complete. The result is empty if a path has no such limit, if a feature is paid for more than once, if nodes
// have to test given features, or if the objects do not fit into memory.
func (c *Chooser) growConfined(ctx context.Context, members []grid.Member, o inmemory.Options) (*Regrown, error) {
	once := func(f split.Column) bool { return f.FreeRepeats && f.Costs == nil && f.First == 0 }
	limits := &members[0].Params
	if !limits.Limited() || c.Classes < 2 || !c.Settings.Undecided(2) ||
		slices.ContainsFunc(c.Columns, func(f split.Column) bool { return !once(f) }) {
		return new(Regrown), nil
	}
	if bytes := c.objectBytes(); bytes > crossvalidate.MaxBytes {
		c.Host.Note(fmt.Sprintf("no trees test only the features that tell the most together, as this takes all training objects in "+
			"memory, %d MiB, and at most %d MiB are allowed", bytes>>20, int64(crossvalidate.MaxBytes)>>20))
		return new(Regrown), nil
	}
	return compute(ctx, c.Host, "features", 0, "features", func(s *parallel.Steps) (*Regrown, error) {
		objects, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		t := new(Regrown)
		stop := func() bool { return ctx.Err() != nil || o.Stop != nil && o.Stop() }
		selected, others := c.selectFeatures(objects, limits, stop, s)
		if len(selected) == 0 || stop() {
			return t, context.Cause(ctx)
		}
		if len(selected) < len(c.Columns) {
			for _, m := range c.distinct(members) {
				if m.Params.PathFeatures == 0 {
					t.Members = append(t.Members, m.Confined(selected, c.Features))
				}
			}
		}
		if c.wantsModels() {
			for _, set := range append([][]int{selected}, others...) {
				t.Members = append(t.Members, members[0].Confined(set, c.Features).Once())
			}
		}
		params := make([]induce.Params, len(t.Members))
		for i := range params {
			params[i] = t.Members[i].Params
		}
		t.Trees = inmemory.GrowEach(objects, c.Columns, params, c.Training.Weight, o)
		return t, context.Cause(ctx)
	})
}

// selectFeatures selects features by forward selection, within limits on their cost and number: each time the feature
// that gains the most for its price (where the cost has no limit, all prices above 0 count as 1), together with the
// features before it. The gain is in the area under the ROC curve if trees compete by it, otherwise in the log loss. A
// feature must lower the log loss by more than a parameter without an effect may (Schwarz: Estimating the dimension of a
// model, 1978). The features that gain the most compete again with more trees, as few trees hardly show what features
// tell only together. others are sets in which a runner-up stands in the place of the last feature. If stop returns
// true, it returns early, and the result must not be used.
func (c *Chooser) selectFeatures(
	objects *dataset.Objects, limits *induce.Params, stop func() bool, s *parallel.Steps,
) (selected []int, others [][]int) {
	sample := leafmodel.Sorted(objects, selectingObjects)
	now := &selecting{
		Chooser: c, limit: limits.MostCost(), stop: stop, progress: s,
		chance: float64(c.Training.Scale * 0.5 * portable.Log(float64(sample.Len()))),
		step: boost.NewForward(sample, c.Features, boost.Options{
			Trees: selectingTrees, Gain: boost.ChanceGain, Scale: c.Training.Scale, Stop: stop,
		}),
	}
	competing := make([]int, len(c.Columns))
	for f := range competing {
		competing[f] = f
	}
	for spent := (induce.Bill{}); ; {
		competing = slices.DeleteFunc(competing, func(f int) bool {
			return slices.Contains(now.selected, f) || !limits.Allow(c.due(f, now.selected), &spent)
		})
		steps := now.judge(competing, 1)
		if len(now.selected) == 0 && len(competing) > mostSelectable {
			slices.SortStableFunc(competing, func(f, g int) int { return cmp.Compare(steps[f].loss, steps[g].loss) })
			competing = competing[:mostSelectable]
		}
		var finalists []int
		for rest := now.gaining(competing, steps); len(finalists) == 0 && len(rest) > 0 && !stop(); {
			next := rest[:min(len(rest), mostFinalists)]
			rest = rest[len(next):]
			finalists = now.gaining(next, now.judge(next, 2))
		}
		if len(finalists) == 0 || stop() {
			return now.selected, others
		}
		others = others[:0]
		if c.Training.Objects > fewObjects { // fewer rows hardly tell six trees apart
			for _, f := range finalists[1:] {
				others = append(others, append(slices.Clone(now.selected), f))
			}
		}
		spent.Add(c.due(finalists[0], now.selected))
		now.step = now.step.With(finalists[0])
		now.selected = append(now.selected, finalists[0])
	}
}

// selecting is the state of a forward selection.
type selecting struct {
	*Chooser

	step     *boost.Forward // with the selected features
	selected []int
	limit    float64 // on the cost of a path
	chance   float64 // the log loss that a feature without an effect may lower
	stop     func() bool
	progress *parallel.Steps
}

// nothing is the key of the step without a further feature.
const nothing = -1

// judge returns, by feature, the step that selects it, after a number of rounds of trees, and the step with as many trees
// that selects nothing.
func (s *selecting) judge(features []int, rounds int) map[int]judgedStep {
	steps := make(map[int]judgedStep, len(features)+1)
	if len(features) == 0 {
		return steps
	}
	rounded := func(step *boost.Forward) judgedStep {
		for range rounds - 1 {
			step = step.With()
		}
		return s.judgeStep(step)
	}
	list := make([]judgedStep, len(features))
	s.progress.Total.Add(int64(len(features)))
	parallel.Each(len(features), runtime.GOMAXPROCS(0), func(i int) {
		if !s.stop() {
			list[i] = rounded(s.step.With(features[i]))
		}
		s.progress.Done.Add(1)
	})
	for i, f := range features {
		steps[f] = list[i]
	}
	steps[nothing] = rounded(s.step.With())
	return steps
}

// gaining returns the features that gain, the one that gains the most for its price first.
func (s *selecting) gaining(features []int, steps map[int]judgedStep) []int {
	before := steps[nothing]
	gains := make(map[int]float64, len(features))
	var list []int
	for _, f := range features {
		price := s.due(f, s.selected).Cost
		switch {
		case !math.IsInf(s.limit, 1):
			price = max(price, float64(s.limit*nearlyFree))
		case price > 0:
			price = 1
		default:
			price = nearlyFree
		}
		gain := before.loss - steps[f].loss - s.chance
		if gain > 0 && s.Settings.Criterion(s.Classes) == frontier.AUC {
			gain = steps[f].area - before.area
		}
		if gain > 0 {
			gains[f] = gain / price
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(f, g int) int { return cmp.Compare(gains[g], gains[f]) })
	return list
}

// judgedStep has the figures of a step of the forward selection.
type judgedStep struct {
	loss float64 // log loss, in nats times weight
	area float64 // mean area under the ROC curve
}

func (c *Chooser) judgeStep(step *boost.Forward) judgedStep {
	var leaves []metric.Leaf
	step.Each(func(probabilities []float64, weights []dataset.ClassWeight) {
		leaf := metric.Leaf{Probabilities: slices.Clone(probabilities), Weights: make([]int64, c.Classes)}
		for _, w := range weights {
			leaf.Weights[w.Class] = w.Weight
		}
		leaves = append(leaves, leaf)
	})
	judged := judgedStep{loss: step.Loss()}
	if area := metric.MeanArea(leaves); area != nil { // a single class has none
		judged.area = *area
	}
	return judged
}

// due returns what a test of a feature costs after tests of the selected features.
func (c *Chooser) due(feature int, selected []int) induce.Due {
	paid := split.Paid{SetUp: slices.ContainsFunc(selected, func(f int) bool { return c.Columns[f].Group == c.Columns[feature].Group })}
	return induce.Due{Cost: c.Columns[feature].LeastDue(paid), Further: c.Columns[feature].FurtherDue(paid)}
}
