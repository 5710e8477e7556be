package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/espalier-ml/espalier/induce/boost"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/distill"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/leafmodel"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/prune"
	"github.com/espalier-ml/espalier/induce/split"
	"github.com/espalier-ml/espalier/induce/tree"
)

// mute is a host that shows nothing.
type mute struct{}

func (mute) Phase(_ context.Context, _ string, _ int64, _ string, work func(s *parallel.Steps) error) error {
	return work(new(parallel.Steps))
}
func (mute) Note(string)                {}
func (mute) Warn(string)                {}
func (mute) Setting(name string) string { return name }

// contest is a choice among trees of synthetic rows: three numeric features at different prices, whose sum decides the
// class together with chance.
func contest(seed uint64, rows int, s Settings) *InMemory {
	r := rand.New(rand.NewPCG(seed, 57))
	features := make([]dataset.Feature, 3)
	const cuts = 7
	for f := range features {
		features[f] = dataset.Feature{Name: fmt.Sprint("x", f), Kind: dataset.Numeric, Cost: float64(1 + f)}
		for k := range cuts {
			features[f].Cuts = append(features[f].Cuts, float64(k)+.5)
		}
	}
	s.Currencies, s.Seed, s.Folds = []prune.Currency{prune.Leaves, prune.Cost}, seed, crossvalidate.Setting{Number: 4}
	m := &InMemory{
		Host: mute{}, Columns: split.Columns(features), Settings: s,
		Members: (&grid.Axes{
			Algorithms: []split.Algorithm{split.EC45, split.C45}, Lambdas: []float64{10}, Thetas: []float64{.005},
			Families: []split.Family{split.Thresholds}, Record: tree.Algorithm{LeafEstimate: tree.Smoothed},
		}).Members(),
	}
	for part := range m.Parts {
		m.Parts[part] = dataset.NewObjects(dataset.NewLayout(features), 2, false, rows)
	}
	for i := range rows {
		codes := []int{r.IntN(cuts + 1), r.IntN(cuts + 1), r.IntN(cuts + 1)}
		class := uint16(0)
		if codes[0]+codes[1]+codes[2]+r.IntN(2*cuts) > 5*cuts/2 {
			class = 1
		}
		part := dataset.Train
		if i%10 >= 7 {
			part = dataset.Part(1 + i%2)
		}
		m.Parts[part].Append(codes, []dataset.ClassWeight{{Class: class, Weight: 1}}, 1)
	}
	n := int64(m.Parts[dataset.Train].Len())
	m.Modeller = &grid.Modeller{
		Label: tree.Label{Column: "class", Classes: []string{"0", "1"}}, Features: features, Scale: 1,
		Training: tree.Training{Rows: n, Objects: n, Weight: n},
	}
	return m
}

// chooser returns the chooser of a contest whose trees have no teacher.
func (m *InMemory) chooser() *Chooser {
	t := &m.Modeller.Training
	return &Chooser{
		Host: m.Host, Settings: &m.Settings, Features: m.Modeller.Features, Columns: m.Columns, Classes: 2,
		Training: Training{Objects: t.Objects, Rows: t.Rows, Weight: t.Weight, Scale: 1},
		Objects:  func(context.Context) (*dataset.Objects, error) { return m.Parts[dataset.Train], nil },
		Sample: func(_ context.Context, part dataset.Part) (*dataset.Objects, error) {
			return leafmodel.Sorted(m.Parts[part], Most(part)), nil
		},
		Model: func(nodes []tree.Node, at int) *tree.Tree { return m.Modeller.Model(nodes, m.Members[at]) },
	}
}

// everything compares a stage without a race and without drafts: all models are fitted, on all folds.
func (c *Chooser) everything(t *testing.T, w *Competition, m *modelled) *frontier.Choice {
	t.Helper()
	var at []int
	for i := range m.points {
		m.trees = append(m.trees, w.Pool.Tree(&m.points[i]))
	}
	if err := c.fitModels(t.Context(), m, false); err != nil {
		t.Fatal(err)
	}
	for i := range m.points {
		if m.changed[i] {
			at = append(at, i)
		}
	}
	g, err := c.growth(t.Context(), w.Number)
	if err != nil {
		t.Fatal(err)
	}
	gained := crossvalidate.NewGained(len(m.variants), len(m.points))
	fit := func(f *distill.Fitting) ([][]*leafmodel.Model, [][][]*leafmodel.Model) { return m.refit(f, at) }
	if err := g.Gains(t.Context(), w.Pool, w.Folds, m.points, at, c.fitOptions(), fit, gained, new(atomic.Int64)); err != nil {
		t.Fatal(err)
	}
	choice, err := w.Pool.ChooseAmong(m.candidates(gained, c.always(m)), &c.Settings.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return choice
}

// naive returns the point that is chosen if no models drop out of the race.
func (c *Chooser) naive(t *testing.T, w *Competition) *frontier.Point {
	t.Helper()
	choice, err := w.Pool.Choose(&c.Settings.Settings)
	if err != nil {
		t.Fatal(err)
	}
	linear := &modelled{variants: c.linear()}
	linear.points, linear.others = c.worthwhile(w.Pool, choice.Listed)
	choice = c.everything(t, w, linear)
	if c.wantsBoosters(&w.Pool.Candidates[0]) {
		boosted := &modelled{variants: boosters(), base: linear}
		for i := range choice.Listed {
			boosted.points = append(boosted.points, choice.Listed[i].Point)
		}
		choice = c.everything(t, w, boosted)
	}
	return &choice.Chosen
}

// TestRace: the race chooses what a comparison of all models on all folds chooses, for each rule, limit and kind of
// models, though some models drop out. In one of the 15 contests the best models have dropped out by chance; the merit
// of the chosen tree is lower by less than a quarter of its standard error. The chosen tree keeps the limits, and has the models of its point.
func TestRace(t *testing.T) {
	eliminated, others := 0, 0
	query := func(rule frontier.Rule, l frontier.Limits) frontier.Settings {
		return frontier.Settings{Query: frontier.Query{Rule: rule, Limits: l, Tolerance: .001}}
	}
	for i, s := range []Settings{
		{Settings: query(frontier.Best, frontier.Limits{}), LeafModel: Auto},
		{Settings: query(frontier.Highest, frontier.Limits{}), LeafModel: Auto},
		{Settings: query(frontier.Best, frontier.Limits{ExpectedCost: 2.5}), LeafModel: Auto},
		{Settings: query(frontier.Best, frontier.Limits{Leaves: 3}), LeafModel: Linear},
		{Settings: query(frontier.Highest, frontier.Limits{MaxCost: 4}), LeafModel: Boosted},
	} {
		s.Teacher.Kind = distill.None
		for seed := range uint64(3) {
			m := contest(10*uint64(i)+seed, 300+400*int(seed), s)
			chosen, w, err := m.Train(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := w.Choice.Chosen
			for _, stage := range w.stages {
				for v := range stage.eliminated {
					for p, out := range stage.eliminated[v] {
						if out && stage.changed[p] {
							eliminated++
						}
					}
				}
			}
			if c := chosen.Complexity; !s.Limits.Allow(&c, chosen.PaidTests()) || c != got.Complexity ||
				chosen.Algorithm.Ridge != got.Ridge || chosen.Algorithm.BoosterTrees != got.Boosted {
				t.Errorf("%+v, seed %d: the tree has %+v, %+v, the point %+v", s.Query, seed, c, chosen.Algorithm, got)
			}
			want := m.chooser().naive(t, w)
			if got.Same(want) {
				continue
			}
			if others++; others > 1 || math.Abs(got.Merit-want.Merit) > metric.AreaError(got.Merit, got.Score.Rows)/4 {
				t.Errorf("%+v, seed %d: chosen tree %d, step %d, ridge %v, %d booster trees, merit %v; of all models tree %d, step %d, ridge %v, %d, merit %v",
					s.Query, seed, got.Tree, got.Step, got.Ridge, got.Boosted, got.Merit,
					want.Tree, want.Step, want.Ridge, want.Boosted, want.Merit)
			}
		}
	}
	if eliminated < 20 {
		t.Errorf("only %d models dropped out", eliminated)
	}
}

// TestComplete: under a limit on each path, a tree whose leaves know all features that the limit allows together competes
// to the end, with a booster that all its leaves share; without leaf models there is no such tree.
func TestComplete(t *testing.T) {
	for _, kind := range []Kind{Auto, None} {
		s := Settings{
			Settings:  frontier.Settings{Query: frontier.Query{Rule: frontier.Best, Limits: frontier.Limits{MaxCost: 3}}},
			LeafModel: kind, Teacher: Teacher{Kind: distill.None},
		}
		m := contest(5, 2400, s)
		for f := range m.Columns {
			m.Columns[f].FreeRepeats = true
		}
		for i := range m.Members {
			m.Members[i].Params.PathCost = 3
		}
		chosen, w, err := m.Train(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var complete []frontier.Point
		for _, stage := range w.stages {
			for i, p := range stage.points {
				if !stage.complete[i] {
					continue
				}
				complete = append(complete, stage.bestOf(i))
				boosters := make(map[*boost.Booster]bool)
				for v := range stage.variants {
					if stage.models[v][i] == nil {
						t.Errorf("%s: the models of variant %d have dropped out", stage.what(), v)
						continue
					}
					if stage.base == nil {
						continue
					}
					for node, l := range stage.models[v][i] {
						if n := &stage.trees[i].Nodes[node]; n.Leaf() && v == 0 {
							boosters[l.Leaf.Booster] = true
						}
					}
				}
				if p.ExpectedCost != 3 || stage.base != nil && len(boosters) != 1 {
					t.Errorf("%s: the tree costs %v, its leaves have %d boosters: want 3 and 1", stage.what(), p.ExpectedCost, len(boosters))
				}
			}
		}
		if kind == None {
			if len(complete) > 0 || slices.ContainsFunc(w.Pool.Candidates, func(c frontier.Candidate) bool { return c.Params.Once }) {
				t.Errorf("leaf model %s: %d complete trees", kind, len(complete))
			}
			continue
		}
		if len(complete) != 2 { // one in each stage
			t.Fatalf("%d complete trees", len(complete))
		}
		if got := w.Choice.Chosen; got.Merit < complete[1].Merit-metric.AreaError(got.Merit, got.Score.Rows)/2 {
			t.Errorf("merit %v of %d leaves, a complete tree has %v", got.Merit, chosen.Complexity.Leaves, complete[1].Merit)
		}
	}
}

// TestTaughtTrees: taught trees come after the trees of the grid, and are chosen under the same limits.
func TestTaughtTrees(t *testing.T) {
	for seed := range uint64(3) {
		s := Settings{
			Settings:  frontier.Settings{Query: frontier.Query{Rule: frontier.Highest, Limits: frontier.Limits{Leaves: 5}}},
			LeafModel: None, Teacher: Teacher{Kind: distill.Boosted, Weight: .5, MadeUp: new(int64(200))},
		}
		m := contest(seed, 400, s)
		chosen, w, err := m.Train(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.Pool.Candidates {
			if taught := w.Pool.Candidates[i].Tree.Algorithm.Teacher != ""; taught != (i >= len(m.Members)) {
				t.Errorf("seed %d: tree %d of %d is taught: %v", seed, i, len(w.Pool.Candidates), taught)
			}
		}
		highest := 0.0
		for i := range w.Pool.Points {
			if p := &w.Pool.Points[i]; p.Leaves <= 5 {
				highest = max(highest, p.Merit)
			}
		}
		if c := chosen.Complexity; c.Leaves > 5 || w.Choice.Chosen.Merit != highest {
			t.Errorf("seed %d: %d leaves, merit %v, the highest is %v", seed, c.Leaves, w.Choice.Chosen.Merit, highest)
		}
	}
}

// TestSetTotal: by hand. The tests cost 5 - 3 with and without models.
func TestSetTotal(t *testing.T) {
	without := metric.Judgement{ErrorCost: new(3.), TotalCost: new(5.)}
	with := metric.Judgement{ErrorCost: new(1.)}
	if setTotal(&with, &without); *with.TotalCost != 3 {
		t.Errorf("total cost %v, want 3", *with.TotalCost)
	}
	if setTotal(&with, &metric.Judgement{}); *with.TotalCost != 3 {
		t.Errorf("total cost %v without error costs", *with.TotalCost)
	}
}
