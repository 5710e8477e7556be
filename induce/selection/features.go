package selection

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/induce"
	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
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
	selectingObjects = 10_000 // greatest number of objects that features are selected by
	selectingTrees   = 10     // regression trees that a feature adds
	// mostSelectable is the number of features that compete after the first: the ones that tell the most alone.
	mostSelectable = 25
	// nearlyFree is the share of the limit that counts as the price of a free feature.
	nearlyFree = 1e-9
)

// growConfined selects features that the limits on what a path costs allow to test together, and
// grows members of the grid again with tests of these features only. A tree finds its features one by one, by what each
// tells in a node; the selected features tell the most together. With leaf models, one more tree tests each of them once
// on each path, unless no test has a gain, so that leaves may share a model of all their rows: see complete. The result is empty if a path
// has no such limit, if a feature is paid for more than once, or if nodes have to test given features.
func (c *Chooser) growConfined(ctx context.Context, members []grid.Member, o inmemory.Options) (*Regrown, error) {
	once := func(f split.Column) bool { return f.FreeRepeats && f.Costs == nil && f.First == 0 }
	limits := &members[0].Params
	if !limits.Limited() || c.Classes < 2 || c.Training.Objects > mostTaught || !c.Settings.Undecided(2) ||
		slices.ContainsFunc(c.Columns, func(f split.Column) bool { return !once(f) }) {
		return new(Regrown), nil
	}
	return compute(ctx, c.Host, "features", 0, "features", func(s *parallel.Steps) (*Regrown, error) {
		objects, err := c.Objects(ctx)
		if err != nil {
			return nil, err
		}
		t := new(Regrown)
		stop := func() bool { return ctx.Err() != nil || o.Stop != nil && o.Stop() }
		selected := c.selectFeatures(objects, limits, stop, s)
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
			t.Members = append(t.Members, members[0].Confined(selected, c.Features).Once())
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
// model, 1978). If stop returns true, it returns early, and the result must not be used.
func (c *Chooser) selectFeatures(
	objects *dataset.Objects, limits *induce.Params, stop func() bool, s *parallel.Steps,
) (selected []int) {
	sample := leafmodel.Sorted(objects, selectingObjects)
	chance := float64(c.Training.Scale * 0.5 * portable.Log(float64(sample.Len())))
	now := boost.NewForward(sample, c.Features, boost.Options{
		Trees: selectingTrees, Gain: boost.ChanceGain, Scale: c.Training.Scale, Stop: stop,
	})
	competing := make([]int, len(c.Columns))
	for f := range competing {
		competing[f] = f
	}
	limit := limits.MostCost()
	for spent := (induce.Bill{}); ; {
		competing = slices.DeleteFunc(competing, func(f int) bool {
			return slices.Contains(selected, f) || !limits.Allow(c.due(f, selected), &spent)
		})
		steps := make([]judgedStep, len(c.Columns))
		s.Total.Add(int64(len(competing)))
		parallel.Each(len(competing), runtime.GOMAXPROCS(0), func(i int) {
			if !stop() {
				steps[competing[i]] = c.judgeStep(now.With(competing[i]))
			}
			s.Done.Add(1)
		})
		if len(selected) == 0 && len(competing) > mostSelectable {
			slices.SortStableFunc(competing, func(f, g int) int { return cmp.Compare(steps[f].loss, steps[g].loss) })
			competing = competing[:mostSelectable]
		}
		before := c.judgeStep(now.With()) // as many trees
		best := -1
		most := 0.0
		for _, f := range competing {
			price := c.due(f, selected).Cost
			switch {
			case !math.IsInf(limit, 1):
				price = max(price, float64(limit*nearlyFree))
			case price > 0:
				price = 1
			default:
				price = nearlyFree
			}
			gain := before.loss - steps[f].loss - chance
			if gain > 0 && c.Settings.Criterion(c.Classes) == frontier.AUC {
				gain = steps[f].area - before.area
			}
			if gain > float64(most*price) {
				best = f
				most = gain / price
			}
		}
		if best < 0 || stop() {
			return selected
		}
		spent.Add(c.due(best, selected))
		selected = append(selected, best)
		now = now.With(best)
	}
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
