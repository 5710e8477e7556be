package transforms

import (
	"context"
	"fmt"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tallies"
)

var (
	treesMissing    = beam.NewCounter(elements.CounterNamespace, "trees_missing")
	featuresMissing = beam.NewCounter(elements.CounterNamespace, "features_missing")
)

// checkEmpty returns an error if there is no row to train on, or if a feature has no value in any
// row. With AllowEmpty it logs and counts these cases instead.
func (s *trainSpec) checkEmpty(ctx context.Context, sums *tallies.Sums) error {
	if sums.Label == nil {
		fault := &dataset.DataError{
			Column: s.Settings.Label, Problem: fmt.Sprintf("no row can be trained on: %d rows have no label, and no row has both a "+
				"label and a weight above 0", sums.Dropped),
			Hint: "check the source of the rows, or set AllowEmpty to go on without a tree",
		}
		if !s.AllowEmpty {
			return fault
		}
		treesMissing.Inc(ctx, 1)
		log.Warnf(ctx, "transforms.Train makes no tree: %s", fault.Problem)
		return nil
	}
	for _, name := range s.absent(sums) {
		if !s.AllowEmpty {
			return &dataset.DataError{
				Column:  name,
				Problem: fmt.Sprintf("no row of type %s has a value of this feature, expected one in some row", s.Schema.Type),
				Hint:    "correct the name in Features, remove it there, or set AllowEmpty",
			}
		}
	}
	s.warn(ctx, "transforms.Train", sums)
	return nil
}

// absent returns the features without a value in any row. Only rows that are maps have such
// features, because a struct always has its fields.
func (s *trainSpec) absent(sums *tallies.Sums) []string {
	var names []string
	for i, sum := range sums.Columns {
		if s.Schema.Map && (sum == nil || sum.Weight() == 0) {
			names = append(names, s.Columns[i].Name)
		}
	}
	return names
}

// warn logs and counts the absent features. caller is the name in the log.
func (s *trainSpec) warn(ctx context.Context, caller string, sums *tallies.Sums) {
	if names := s.absent(sums); len(names) > 0 {
		featuresMissing.Inc(ctx, int64(len(names)))
		log.Warnf(ctx, "%s: no row of type %s has a value of the features %q: are they misspelled?", caller, s.Schema.Type,
			names)
	}
}
