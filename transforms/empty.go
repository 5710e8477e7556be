package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

var (
	treesMissing    = beam.NewCounter(jobs.CounterNamespace, "trees_missing")
	featuresMissing = beam.NewCounter(jobs.CounterNamespace, "features_missing")
)

// empty looks for rows and features of which there are none: a fault unless
// AllowEmpty is set, else logged and counted.
func (s *trainSpec) empty(ctx context.Context, sums *rowSums) error {
	c := &s.Config
	if sums.Label == nil {
		fault := &dataset.DataError{
			Column: c.Label, Problem: fmt.Sprintf("no row can be trained on: %d came without a label, and none with a label "+
				"and a weight above 0", sums.Dropped),
			Hint: "look at the rows' source, or set AllowEmpty to have no tree",
		}
		if !c.AllowEmpty {
			return fault
		}
		treesMissing.Inc(ctx, 1)
		log.Warnf(ctx, "transforms.Train makes no tree: %s", fault.Problem)
		return nil
	}
	for _, name := range s.unseen(sums) {
		if !c.AllowEmpty {
			return &dataset.DataError{
				Column:  name,
				Problem: fmt.Sprintf("no row of type %s has a value of this feature, expected one in some row", s.Schema.Type),
				Hint:    "mend the name in Features, leave it out there, or set AllowEmpty",
			}
		}
	}
	s.warn(ctx, "transforms.Train", sums)
	return nil
}

// unseen returns the features of maps that no row has a value of.
func (s *trainSpec) unseen(sums *rowSums) []string {
	var names []string
	for i, sum := range sums.Columns {
		if s.Schema.Map && (sum == nil || sum.Weight() == 0) {
			names = append(names, s.Columns[i].Name)
		}
	}
	return names
}

// warn logs and counts the features of maps that no row has a value of.
func (s *trainSpec) warn(ctx context.Context, who string, sums *rowSums) {
	if names := s.unseen(sums); len(names) > 0 {
		featuresMissing.Inc(ctx, int64(len(names)))
		log.Warnf(ctx, "%s: no row of type %s has a value of the features %q: are they misspelled?", who, s.Schema.Type,
			names)
	}
}
