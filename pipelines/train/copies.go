package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/io/textview"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

const (
	someCopies   = 0.01 // share of repeated rows from which copies are counted and warned of
	manyCopies   = 0.05 // share of repeated rows from which equal rows are dealt together: fewer hardly move a figure
	measuredFrom = 32   // codes of a feature that may be a measurement

	// mostOfOne is the share of the weight that an object may have: rows of one content are dealt whole, and a frequent
	// content, such as zeros in all columns, would make up a part of its own.
	mostOfOne = 0.05
)

// copies warns of copied rows, which are rows with equal features where these are measurements. dealt reports whether the
// rows must be dealt again, equal ones together, as the part of a row depended on its place. Otherwise the settings
// decide which rows go together.
func (s *stage) copies(ctx context.Context, o *objects) (dealt bool, err error) {
	if s.config.Count != "" { // the copies are declared
		return false, nil
	}
	train := o.train()
	repeated := float64(train.Rows-train.Objects) / float64(max(1, train.Rows))
	measured := 0
	for _, f := range o.features {
		if f.Kind == dataset.Numeric && f.Codes() >= measuredFrom {
			measured++
		}
	}
	frequent := float64(train.Heaviest) > mostOfOne*float64(train.Weight)
	if repeated < someCopies || frequent || measured == 0 {
		return false, nil
	}
	c, err := s.countCopies(ctx, o)
	if err != nil || c.Repeated() < someCopies || !c.Real() && (measured != 1 || !c.Even()) {
		return false, err
	}
	if !o.spec.Dependent() && o.spec.SplitColumn == "" && c.Repeated() >= manyCopies && !s.readsTexts() {
		known := ""
		if c.Parts[dataset.Test] > 0 {
			known = fmt.Sprintf(", and %s of the test rows would be copies of training rows", textview.Percent(c.TrainedShare(dataset.Test)))
		}
		s.driver.Reporter.Warn(fmt.Sprintf("%s of the rows are copies of other rows in all features%s: copies are dealt together into "+
			"one part and one fold, as a --group is", textview.Percent(c.Repeated()), known))
		return true, nil
	}
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		if share := c.TrainedShare(part); share >= someCopies {
			s.driver.Reporter.Warn(fmt.Sprintf("%s of the %s rows are copies of training rows in all features: the figures on them are "+
				"too good; leave copies out of the input, or name what they have in common by --group", textview.Percent(share), part))
		}
	}
	return false, nil
}

// readsTexts reports whether texts or folders are read as numbers. Later comparisons of such rows read them otherwise, and
// would not find the parts again if contents decided them.
func (s *stage) readsTexts() bool {
	return slices.ContainsFunc(s.input.Tasks, func(t jobs.Task) bool {
		return slices.ContainsFunc(t.Texts, func(c jobs.TextColumn) bool { return c.Order == nil }) ||
			slices.ContainsFunc(t.Path, func(c jobs.PathColumn) bool { return c.Type == dataset.Number })
	})
}

// countCopies counts rows with equal features. A sample by the number of rows has hardly any content if contents are few,
// and would miss that they are neighbours: then rows are counted again, with a sample by the number of contents.
func (s *stage) countCopies(ctx context.Context, o *objects) (*dataset.Copies, error) {
	const few = 1 << 10
	spec := *o.spec.OfLabels()
	spec.Features = s.schema.rows.Features
	config := jobs.CopiesConfig{
		Config: s.driver.JobConfig(s.place.scratch + "/copies"), Rows: spec.Encode(),
	}
	for contents := o.stats.Rows; ; {
		config.Sample(contents, len(spec.Features))
		err := s.driver.RunGroups(ctx, "copies", s.input.Tasks, func(s beam.Scope, tasks beam.PCollection) {
			jobs.Copies(s, tasks, config)
		})
		if err != nil {
			return nil, err
		}
		c, err := jobs.ReadCopies(ctx, &config)
		if err != nil {
			return nil, err
		}
		if err := s.removeAll(ctx, config.Out); err != nil || config.Whole == 0 || c.Contents >= few {
			return c, err
		}
		contents = (c.Contents + 1) << config.Whole
	}
}

// dealTogether makes rows with equal features stay together.
func (s *stage) dealTogether() {
	for i := range s.schema.rows.Features {
		s.schema.rows.Content = append(s.schema.rows.Content, s.schema.rows.Features[i].Name)
	}
	s.schema.rows.Groups = groupsOf(max(s.parsed.Selection.Groups(), selection.MostMeasured))
}
