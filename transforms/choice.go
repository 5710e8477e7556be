package transforms

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/grid"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tree"
)

// This file has what the trees of a TrainConfig have in common, and the choice among them.

// members returns the trees of the grid, without their bins.
func (s *trainSpec) members() []grid.Member {
	c := &s.Config
	return c.WithPricing(c.Members(false), c.Select, s.names())
}

// checkSplit finds the column that decides on a row's part.
func (s *trainSpec) checkSplit() error {
	c := &s.Config
	_, whole := c.Split.Whole()
	switch s.Part = cmp.Or(c.SplitColumn, c.Key); {
	case c.SplitColumn != "" && c.Key != "":
		return fmt.Errorf("the Key %q: the column %q names each row's part already, leave out one of the two", c.Key, c.SplitColumn)
	case s.Part == "" && !whole:
		return fmt.Errorf("the Split %s has no Key: rows of a PCollection have no order, want a column whose value decides "+
			"on the part of a row", c.Split)
	case s.Part == "":
		return nil
	case s.Part == c.Label || s.Part == c.Weight:
		return fmt.Errorf("the Split: column %q is the label or the weight, want another one", s.Part)
	}
	_, err := s.Schema.Column(s.Part)
	return err
}

// describeLabel describes the class column of the tree, with priors and error costs.
func (s *trainSpec) describeLabel(classes []string) (tree.Label, error) {
	c := &s.Config
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
	return l, nil
}

// classFault returns the error of settings that do not fit the classes of the rows.
func (s *trainSpec) classFault(err error) error {
	problem := err.Error()
	if fault := new(settings.ClassError); errors.As(err, &fault) {
		problem = settings.FieldName(fault.Setting) + ": " + problem
	}
	return &dataset.DataError{Column: s.Config.Label, Problem: problem, Hint: "correct the configuration of the training"}
}

// choiceFault names the settings by which no tree can be chosen.
func (s *trainSpec) choiceFault(err error) error {
	rule := new(selection.RuleError)
	if !errors.As(err, &rule) {
		return err
	}
	return &dataset.DataError{Column: s.Config.Label, Problem: err.Error(), Hint: "change the Choice"}
}

// noTrainingRows returns the error of rows that all lie in other parts.
func (s *trainSpec) noTrainingRows() error {
	return &dataset.DataError{
		Column: s.Part, Problem: "no row is left for training", Hint: "change the Split, or the ClassWeights",
	}
}

// trainHost logs what the choice of a tree tells.
type trainHost struct{ ctx context.Context }

// Phase implements selection.Host.
func (h trainHost) Phase(
	ctx context.Context, _ string, _ int64, _ string, work func(s *parallel.Steps) error,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return work(new(parallel.Steps))
}

// Note implements selection.Host.
func (h trainHost) Note(text string) { log.Infof(h.ctx, "transforms.Train: %s", text) }

// Setting implements selection.Host.
func (h trainHost) Setting(name string) string { return settings.FieldName(name) }
