package train

import (
	"context"
	"fmt"
	"math/bits"
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

// copies warns of copied rows, which are rows with equal features where these are measurements, or with equal features
// but one. dealt reports whether the rows must be dealt again, equal ones together, as the part of a row depended on its
// place. Otherwise the settings decide which rows go together.
func (s *stage) copies(ctx context.Context, o *objects) (dealt bool, err error) {
	if s.config.Count != "" { // the copies are declared
		return false, nil
	}
	but, err := s.alone(ctx, o)
	if err != nil {
		return false, err
	}
	if but != "" {
		if found, dealt, err := s.copiesBut(ctx, o, but); err != nil || found {
			return dealt, err
		}
	}
	train := o.train()
	repeated := float64(train.Rows-train.Objects) / float64(max(1, train.Rows))
	if repeated < someCopies || float64(train.Heaviest) > mostOfOne*float64(train.Weight) {
		return false, nil
	}
	_, dealt, err = s.copiesBut(ctx, o, "")
	return dealt, err
}

// alone returns the feature without which many more rows are equal than without any other one; empty if absent, or if a
// content without it is frequent. The rows of large inputs are read only if their codes are such.
func (s *stage) alone(ctx context.Context, o *objects) (string, error) {
	const (
		few  = 1 << 23 // values to be read
		most = 1 << 22 // objects, whose hashes fit into memory
		kept = 10      // bits: about a thousand hashes of a feature are kept
	)
	train := o.train()
	each := func(f func(*dataset.Objects)) error {
		return o.eachBlock(ctx, dataset.Train, func(b []byte) error {
			block := o.newObjects(0)
			if err := block.AppendFrom(b, o.layout()); err != nil {
				return err
			}
			f(block)
			return nil
		})
	}
	if train.Objects > most || o.measuredBut("") == 0 {
		return "", nil
	}
	if o.stats.Rows*int64(len(s.schema.rows.Features)) > few {
		rests := make(dataset.Rests, len(o.features))
		zeros := bits.Len64(uint64(train.Objects)) - kept
		if err := each(func(block *dataset.Objects) { rests.Add(block, zeros) }); err != nil {
			return "", err
		}
		if _, share := rests.Alone(); share*float64(train.Objects) < manyCopies*float64(train.Rows) {
			return "", nil
		}
	}
	c, err := s.countCopies(ctx, o, "")
	if err != nil {
		return "", err
	}
	column, share := c.Rests.Alone()
	if share*float64(c.Contents) < manyCopies*float64(c.Rows) {
		return "", nil
	}
	name := s.schema.rows.Features[column].Name
	feature := slices.IndexFunc(o.features, func(f dataset.Feature) bool { return f.Name == name })
	weights := make(map[uint64]int64)
	heaviest := int64(0)
	err = each(func(block *dataset.Objects) {
		for i, hash := range block.Without(feature) {
			weights[hash] += block.Weight[i]
			heaviest = max(heaviest, weights[hash])
		}
	})
	if float64(heaviest) > mostOfOne*float64(train.Weight) {
		return "", err
	}
	return name, err
}

// measuredBut returns how many features may be measurements, without the one of this name.
func (o *objects) measuredBut(name string) (n int) {
	for i := range o.features {
		if f := &o.features[i]; f.Name != name && f.Kind == dataset.Numeric && f.Codes() >= measuredFrom {
			n++
		}
	}
	return n
}

// copiesBut looks for rows with equal features, but for the one of this name. found reports whether it said so.
func (s *stage) copiesBut(ctx context.Context, o *objects, but string) (found, dealt bool, err error) {
	measured := o.measuredBut(but)
	if measured == 0 {
		return false, false, nil
	}
	c, err := s.countCopies(ctx, o, but)
	if err != nil || c.Repeated() < someCopies || !c.Real() && (measured != 1 || !c.Even()) {
		return false, false, err
	}
	where := "in all features"
	if but != "" {
		where += fmt.Sprintf(" but %q", but)
	}
	if !o.spec.Dependent() && o.spec.SplitColumn == "" && c.Repeated() >= manyCopies && !s.readsTexts() {
		known := ""
		if c.Parts[dataset.Test] > 0 {
			known = fmt.Sprintf(", and %s of the test rows would be copies of training rows", textview.Percent(c.TrainedShare(dataset.Test)))
		}
		s.driver.Reporter.Warn(fmt.Sprintf("%s of the rows are copies of other rows %s%s: copies are dealt together into "+
			"one part and one fold, as a --group is", textview.Percent(c.Repeated()), where, known))
		s.dealTogether(but)
		return true, true, nil
	}
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		if share := c.TrainedShare(part); share >= someCopies {
			s.driver.Reporter.Warn(fmt.Sprintf("%s of the %s rows are copies of training rows %s: the figures on them are "+
				"too good; leave copies out of the input, or name what they have in common by --group", textview.Percent(share), part, where))
			found = true
		}
	}
	return found, false, nil
}

// readsTexts reports whether texts or folders are read as numbers. Later comparisons of such rows read them otherwise, and
// would not find the parts again if contents decided them.
func (s *stage) readsTexts() bool {
	return slices.ContainsFunc(s.input.Tasks, func(t jobs.Task) bool {
		return slices.ContainsFunc(t.Texts, func(c jobs.TextColumn) bool { return c.Order == nil }) ||
			slices.ContainsFunc(t.Path, func(c jobs.PathColumn) bool { return c.Type == dataset.Number })
	})
}

// countCopies counts rows with equal features, but for the one of this name. A sample by the number of rows has hardly any content if contents are few,
// and would miss that they are neighbours: then rows are counted again, with a sample by the number of contents.
func (s *stage) countCopies(ctx context.Context, o *objects, but string) (*dataset.Copies, error) {
	const few = 1 << 10
	spec := *o.spec.OfLabels()
	spec.Features = slices.DeleteFunc(slices.Clone(s.schema.rows.Features), func(c dataset.FeatureColumn) bool { return c.Name == but })
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

// dealTogether makes rows with equal features stay together; the feature of this name may differ.
func (s *stage) dealTogether(but string) {
	s.schema.copiesBut = but
	for i := range s.schema.rows.Features {
		if name := s.schema.rows.Features[i].Name; name != but {
			s.schema.rows.Content = append(s.schema.rows.Content, name)
		}
	}
	s.schema.rows.Groups = groupsOf(max(s.parsed.Selection.Groups(), selection.MostMeasured))
}
