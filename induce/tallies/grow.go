package tallies

import (
	"context"
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/grow/inmemory"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tree"
)

// FitTally fits the bins to the rows of a tally. It returns nil if the tally has no training rows.
func (s *Spec) FitTally(tally []byte) (*Plan, *Sums, error) {
	units, err := s.unitsIn(tally)
	if err != nil {
		return nil, nil, err
	}
	sums, err := s.Summarise(tally, units)
	if err != nil || sums.TrainRows == 0 {
		return nil, nil, err
	}
	p, err := s.Fit(sums)
	return p, sums, err
}

// Grown is a grown tree.
type Grown struct {
	Tree     *tree.Tree
	Rows     [dataset.Parts]int64
	Classes  int                // number of classes of the training rows
	Codes    dataset.CodeCounts // training rows by feature of the plan and code
	Frontier []frontier.Listed  // trees among which it was chosen; empty if there was no choice
}

// Grow grows the trees of the grid from objects, and chooses one. note receives the notes of the
// choice.
func (s *Spec) Grow(ctx context.Context, tables *Tables, p *Plan, workers int, note func(text string)) (*Grown, error) {
	g := new(Grown)
	m := &selection.InMemory{Host: host{note}, Keyed: s.Settings.Group != "", Options: inmemory.Options{
		Workers: workers, Stop: func() bool { return ctx.Err() != nil },
	}}
	for part, t := range tables {
		m.Parts[part] = t.Objects(len(p.Classes))
		for i := range m.Parts[part].Len() {
			g.Rows[part] += m.Parts[part].RowsOf(i)
		}
	}
	if train := m.Parts[dataset.Train]; s.weightClasses(p) && train.Grouped() {
		m.Parts[dataset.Train] = train.ByRow(dataset.Buckets, s.Settings.Seed)
	}
	stats := dataset.NewObjectCounts(dataset.Train, len(p.Classes), p.features)
	stats.Count(m.Parts[dataset.Train])
	if stats.Objects == 0 {
		return nil, s.NoTrainingRows()
	}
	g.Codes = stats.Codes
	for _, weight := range stats.RawWeight {
		if weight > 0 {
			g.Classes++
		}
	}
	m.Modeller = &grid.Modeller{
		Features: p.features, Scale: p.ScaleOf(dataset.Train), Training: p.Training(stats, p.TrainRows, p.Dropped),
	}
	m.WeightEffect = p.WeightEffect()
	// The features' own counts may be of weights.
	stats.SetRare(p.features)
	var err error
	if m.Modeller.Label, err = s.describeLabel(p.Classes); err != nil {
		return nil, err
	}
	m.Members = s.Settings.Deepened(grid.SettleTests(s.members(), p.features), len(p.Classes))
	m.Settings = s.Settings.Selection()
	grid.Settle(m.Members, p.Bins, float64(m.Modeller.Scale*max(1, m.WeightEffect)))
	m.Columns = s.Settings.SplitColumns(p.features)
	model, competition, err := m.Train(ctx)
	if err != nil {
		return nil, s.choiceFault(err)
	}
	if g.Tree = model; competition != nil {
		g.Frontier = competition.Choice.Listed
	}
	return g, nil
}

// describeLabel describes the class column of the tree, with priors, error costs and the class of interest.
func (s *Spec) describeLabel(classes []string) (tree.Label, error) {
	c := &s.Settings
	l := tree.Label{Column: c.Label, Classes: classes}
	if len(c.Monotone) > 0 && len(classes) != 2 {
		return l, s.classFault(fmt.Errorf("the label has %d classes, and Monotone wants two", len(classes)))
	}
	var err error
	if l.Priors, err = c.PriorsOf(classes); err != nil {
		return l, s.classFault(err)
	}
	if l.ErrorCosts, err = c.ErrorCostsOf(classes); err != nil {
		return l, s.classFault(err)
	}
	if l.Decision, err = c.DecisionOf(classes); err != nil {
		return l, s.classFault(err)
	}
	return l, nil
}

// classFault returns the error of settings that do not fit the classes of the rows.
func (s *Spec) classFault(err error) error {
	problem := err.Error()
	if fault := new(settings.ClassError); errors.As(err, &fault) {
		problem = settings.FieldName(fault.Setting) + ": " + problem
	}
	return &dataset.DataError{Column: s.Settings.Label, Problem: problem, Hint: "correct the configuration of the training"}
}

// choiceFault names the settings by which no tree can be chosen.
func (s *Spec) choiceFault(err error) error {
	rule := new(selection.RuleError)
	if !errors.As(err, &rule) {
		return err
	}
	return &dataset.DataError{Column: s.Settings.Label, Problem: err.Error(), Hint: "change the Choice"}
}

// NoTrainingRows returns the error of rows that are all in other parts, or have no label or weight.
func (s *Spec) NoTrainingRows() error {
	return &dataset.DataError{
		Column: s.Part, Problem: "no row is left for training", Hint: "check the labels and weights of the rows, the Split and the ClassWeights",
	}
}

// host is the host of a choice in memory.
type host struct{ note func(text string) }

// Phase implements selection.Host.
func (host) Phase(ctx context.Context, _ string, _ int64, _ string, work func(s *parallel.Steps) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return work(new(parallel.Steps))
}

// Note implements selection.Host.
func (h host) Note(text string) { h.note(text) }

// Warn implements selection.Host.
func (h host) Warn(text string) { h.note(text) }

// Setting implements selection.Host.
func (host) Setting(name string) string { return settings.FieldName(name) }
