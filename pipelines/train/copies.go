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

// copies warns of copied rows, which have equal features, or equal features but one, and mostly equal labels. dealt reports
// whether the rows must be dealt again, equal ones together, as the part of a row depended on its place. Otherwise the
// settings decide which rows go together.
func (s *stage) copies(ctx context.Context, o *objects) (dealt bool, err error) {
	train := o.train()
	repeated := float64(train.Rows-train.Objects) / float64(max(1, train.Rows))
	equal := repeated >= someCopies && float64(train.Heaviest) <= mostOfOne*float64(train.Weight)
	nearly, err := o.nearlyEqual(ctx)
	if err != nil || !equal && !nearly {
		return false, err
	}
	c, err := s.countCopies(ctx, o, "")
	if err != nil {
		return false, err
	}
	if nearly {
		if found, dealt, err := s.nearCopies(ctx, o, c); err != nil || found {
			return dealt, err
		}
	}
	if equal {
		_, dealt = s.judgeCopies(o, c, "")
	}
	return dealt, nil
}

// nearCopies looks for rows that are equal but for one feature, given the counts of equal rows.
func (s *stage) nearCopies(ctx context.Context, o *objects, c *dataset.Copies) (found, dealt bool, err error) {
	but, err := s.alone(ctx, o, c)
	if err != nil || but == "" {
		return false, false, err
	}
	if c, err = s.countCopies(ctx, o, but); err != nil {
		return false, false, err
	}
	found, dealt = s.judgeCopies(o, c, but)
	return found, dealt, nil
}

// far is how many times the share without any other feature the share of rows is that are equal without one, if they are
// copies of each other.
const far = 10

// nearlyEqual reports whether many training objects are equal without one feature, and far fewer without any other one.
// Where few features are measured, many objects are equal without one of these, so that codes say little.
func (o *objects) nearlyEqual(ctx context.Context) (bool, error) {
	const (
		few        = 3       // measured features
		most       = 1 << 22 // objects, whose hashes fit into memory
		mostValues = 1 << 28 // codes, each of which is hashed
		kept       = 10      // bits: about a thousand hashes of a feature are kept
	)
	train := o.train()
	measured := o.measuredBut("")
	if train.Objects > most || train.Objects*int64(len(o.features)) > mostValues {
		return false, nil
	}
	rests := make(dataset.Rests, len(o.features))
	zeros := bits.Len64(uint64(train.Objects)) - kept
	if err := o.eachObjects(ctx, func(block *dataset.Objects) { rests.Add(block, zeros) }); err != nil {
		return false, err
	}
	_, share := rests.Alone(map[bool]float64{false: far}[0 < measured && measured <= few])
	return share*float64(train.Objects) >= manyCopies*float64(train.Rows), nil
}

// eachObjects calls f with the training objects of each block.
func (o *objects) eachObjects(ctx context.Context, f func(*dataset.Objects)) error {
	return o.eachBlock(ctx, dataset.Train, func(b []byte) error {
		block := o.newObjects(0)
		if err := block.AppendFrom(b, o.layout()); err != nil {
			return err
		}
		f(block)
		return nil
	})
}

// alone returns the feature without which many more rows are equal than without any other one; empty if absent, or if a
// content without it is frequent.
func (s *stage) alone(ctx context.Context, o *objects, c *dataset.Copies) (string, error) {
	column, share := c.Rests.Alone(far)
	if share*float64(c.Contents) < manyCopies*float64(c.Rows) {
		return "", nil
	}
	name := o.features[column].Name
	weights := make(map[uint64]int64)
	heaviest := int64(0)
	err := o.eachObjects(ctx, func(block *dataset.Objects) {
		for i, hash := range block.Without(column) {
			weights[hash] += block.Weight[i]
			heaviest = max(heaviest, weights[hash])
		}
	})
	if float64(heaviest) > mostOfOne*float64(o.train().Weight) {
		name = ""
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

// judgeCopies warns if rows with equal features are copies; the feature with the name but may differ. found reports whether
// it did.
func (s *stage) judgeCopies(o *objects, c *dataset.Copies, but string) (found, dealt bool) {
	if c.Repeated() < someCopies || !c.Real() && (!c.Agree() || o.measuredBut(but) != 1 || !c.Even()) {
		return false, false
	}
	if !c.Agree() {
		if share := c.TrainedShare(dataset.Test); but == "" && share >= manyCopies && !o.spec.Dependent() {
			s.driver.Reporter.Warn(fmt.Sprintf("%s of the test rows equal training rows in all features, and have labels of their own, as "+
				"cases of the same objects have: the figures hold for objects that training has seen; if others will come, name the "+
				"object by --group", textview.Percent(share)))
		}
		return false, false
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
		var names []string
		for _, c := range o.content(but) {
			names = append(names, c.Name)
		}
		s.dealTogether(names)
		return true, true
	}
	for _, part := range []dataset.Part{dataset.Validation, dataset.Test} {
		if share := c.TrainedShare(part); share >= someCopies {
			s.driver.Reporter.Warn(fmt.Sprintf("%s of the %s rows are copies of training rows %s: the figures on them are "+
				"too good; leave copies out of the input, or name what they have in common by --group", textview.Percent(share), part, where))
			found = true
		}
	}
	return found, false
}

// readsTexts reports whether texts or folders are read as numbers. Later comparisons of such rows read them otherwise, and
// would not find the parts again if contents decided them.
func (s *stage) readsTexts() bool {
	return slices.ContainsFunc(s.input.Tasks, func(t jobs.Task) bool {
		return slices.ContainsFunc(t.Texts, func(c jobs.TextColumn) bool { return c.Order == nil }) ||
			slices.ContainsFunc(t.Path, func(c jobs.PathColumn) bool { return c.Type == dataset.Number })
	})
}

// countCopies counts rows with equal features, but for the one of this name. A sample by the number of rows has hardly any
// content if contents are few, and would miss that they are neighbours: then rows are counted again, with a sample by the
// number of contents.
func (s *stage) countCopies(ctx context.Context, o *objects, but string) (*dataset.Copies, error) {
	const few = 1 << 10
	spec := *o.spec.OfLabels()
	spec.Features = o.content(but)
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

// content returns the features in which copies are equal: those that are tested, but for the one of this name.
func (o *objects) content(but string) (columns []dataset.FeatureColumn) {
	for _, c := range o.spec.Features {
		if c.Name != but {
			columns = append(columns, c)
		}
	}
	return columns
}

// dealTogether makes rows stay together that are equal in these features.
func (s *stage) dealTogether(features []string) {
	s.schema.rows.Content = features
	s.schema.rows.Groups = groupsOf(max(s.parsed.Selection.Groups(), selection.MostMeasured))
}
