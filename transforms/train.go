package transforms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/internal/rowtype"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// Trained is what Train and WindowedTree return.
type Trained struct {
	Trees       beam.PCollection // of Train: PCollection<[]byte>; of WindowedTree: PCollection<WindowTree>
	DeadLetters beam.PCollection // PCollection<DeadLetter> with the option DeadLetters, else not valid
}

// Train trains a tree on rows, a bounded PCollection<T> with T as in Score. Trees has one
// tree.json: the bytes that `espalier train` writes for the same rows and settings, such as
// --split 100/0/0 --select first --certificate none by DefaultTrainConfig. Without rows the
// pipeline fails: see TrainConfig.AllowEmpty. With the option DeadLetters, rows without a label are
// dead letters unless DropNullLabels is set.
//
// Train is one Beam graph without a driver or side inputs:
//
//	rows -> encode and count equal rows in the bundle -> CombinePerKey: tallies of Shards shards
//	     -> summaries of each column -> CombinePerKey -> fit the bins -> to all shards
//	     -> GroupByKey with the shards -> codes, objects of equal codes -> GroupByKey -> grow
//
// An object stands for all rows of equal codes. One worker gathers all objects, grows the
// trees of the grid and chooses one of them. A code takes one or two bytes, and the worker needs three times the
// bytes of all codes. On Flink the objects, and each shard's tally, must stay below
// about 100 MiB, because all values of a key from one slot have to fit into one buffer.
// For larger data use `espalier train`, which grows the tree level by level.
//
// Train panics if a setting is out of its range, or if a column does not fit the names and types
// of the rows' fields. The panic's error names all faults at once.
func Train(s beam.Scope, rows beam.PCollection, c TrainConfig, opts ...Option) Trained {
	const step = "transforms.Train"
	o, err := newOptions(step, opts)
	spec, fault := newTrainSpec(rows, &c)
	if err = errors.Join(err, fault); err != nil {
		panic(fmt.Errorf("%s: %w", step, err))
	}
	s = s.Scope(step)
	encoded := jobs.MustJSON(spec)
	// tallyFn emits when its bundle ends, which is possible in the global window only.
	rows = beam.WindowInto(s, window.NewGlobalWindows(), rows)
	batches, dead := beam.ParDo2(s, &tallyFn{Spec: encoded, Shards: spec.Config.Shards, Refusal: o.refusal()}, rows)
	batches = beam.WindowInto(s, window.NewGlobalWindows(), batches)
	tallies := beam.CombinePerKey(s, &mergeTalliesFn{}, batches)
	var summaries beam.PCollection
	if spec.weighted() {
		sums := beam.GroupByKey(s, beam.ParDo(s, &weighTallyFn{Spec: encoded}, tallies))
		units := beam.ParDo(s, &unitsFn{Shards: spec.Config.Shards}, sums)
		shards := beam.GroupByKey(s, beam.Flatten(s, beam.ParDo(s, &tagFn{}, tallies), units))
		summaries = beam.ParDo(s, &summariseWeighedFn{Spec: encoded}, shards)
	} else {
		summaries = beam.ParDo(s, &summariseTallyFn{Spec: encoded}, tallies)
	}
	// noRowsFn makes sure that fitFn is called even without a row.
	summaries = beam.Flatten(s, summaries, beam.ParDo(s, &noRowsFn{}, beam.Impulse(s)))
	plans := beam.ParDo(s, &fitFn{Spec: encoded, Shards: spec.Config.Shards}, beam.GroupByKey(s, summaries))
	shards := beam.GroupByKey(s, beam.Flatten(s, beam.ParDo(s, &tagFn{}, tallies), plans))
	objects := beam.ParDo(s, &codeTallyFn{Spec: encoded}, shards)
	trees := beam.DropKey(s, beam.ParDo(s, &growObjectsFn{Spec: encoded}, beam.GroupByKey(s, objects)))
	return Trained{Trees: trees, DeadLetters: o.limit(s, dead)}
}

// trainSpec is a checked configuration together with the columns of the rows.
type trainSpec struct {
	Config  TrainConfig             `json:"config"`
	Schema  *rowtype.Schema         `json:"schema"`
	Columns []dataset.FeatureColumn `json:"columns"` // the features

	Part string `json:"part"` // column that decides on the part of a row; empty: all rows train

	label, weight *rowtype.Column
}

// newTrainSpec binds a configuration to the type of rows, and checks both.
func newTrainSpec(rows beam.PCollection, c *TrainConfig) (*trainSpec, error) {
	schema, err := schemaOf(rows)
	if err != nil {
		return nil, err
	}
	s := &trainSpec{Config: *c, Schema: schema}
	return s, errors.Join(s.check(), s.checkSplit(), s.bind())
}

// check checks the settings.
func (s *trainSpec) check() error {
	c := &s.Config
	faults := c.Faults(settings.FieldName)
	faults = append(faults, settings.CheckMembers(s.members(), "", settings.FieldName))
	within := func(name string, x, high int) {
		if r := settings.Between(1, float64(high)); !r.Has(float64(x)) {
			faults = append(faults, fmt.Errorf("%s %v: want a whole number %s", name, x, r))
		}
	}
	within("Shards", c.Shards, 1<<16)
	within("Workers", c.Workers, 1024)
	return errors.Join(faults...)
}

// bind finds the columns of the configuration among the columns of the rows.
func (s *trainSpec) bind() error {
	c := &s.Config
	faults := []error{s.bindLabel(), s.checkIgnore()}
	names := s.names()
	switch {
	case len(names) > 0:
	case s.Schema.Map:
		faults = append(faults,
			fmt.Errorf("rows are of type %s, whose columns are unknown here: name the Features", s.Schema.Type))
	default:
		faults = append(faults, fmt.Errorf("rows of type %s have no field that may be tested: there must be one "+
			"besides Label, Weight and Ignore", s.Schema.Type))
	}
	for _, name := range names {
		f, err := s.feature(name)
		faults = append(faults, err)
		s.Columns = append(s.Columns, f)
	}
	faults = append(faults, repeated("Features", c.Features), s.checkAreFeatures("Categorical", c.Categorical, names),
		s.checkAreFeatures("Numeric", c.Numeric, names),
		s.checkAreFeatures("First", slices.DeleteFunc(slices.Clone(c.First), func(f string) bool { return f == "" }), names),
		s.checkAreFeatures("Monotone", slices.Sorted(maps.Keys(c.Monotone)), names),
		s.checkAreFeatures("Costs", slices.Sorted(maps.Keys(c.Costs)), names),
		s.checkAreFeatures("ValueCosts", slices.Sorted(maps.Keys(c.ValueCosts)), names))
	for i := range c.Groups {
		faults = append(faults, s.checkAreFeatures("Groups", c.Groups[i].Features, names))
	}
	return errors.Join(faults...)
}

// names returns the names of the features.
func (s *trainSpec) names() []string {
	if len(s.Config.Features) > 0 {
		return s.Config.Features
	}
	return s.defaultFeatures()
}

// defaultFeatures returns all columns except the label, the weight and the ignored
// ones.
func (s *trainSpec) defaultFeatures() []string {
	c := &s.Config
	var names []string
	for i := range s.Schema.Columns {
		name := s.Schema.Columns[i].Name
		if name != c.Label && name != c.Weight && name != s.Part && !slices.Contains(c.Ignore, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkIgnore checks that the columns of Ignore exist and are no features. They may be
// columns that Train cannot read. The keys of maps are unknown here.
func (s *trainSpec) checkIgnore() error {
	c := &s.Config
	faults := []error{repeated("Ignore", c.Ignore)}
	for _, name := range c.Ignore {
		switch {
		case slices.Contains(c.Features, name):
			faults = append(faults,
				fmt.Errorf("the Ignore: column %q is named in Features, too: remove it from one of them", name))
		case !s.Schema.Map && !s.Schema.Has(name):
			faults = append(faults, fmt.Errorf("the Ignore: rows of type %s have no field for column %q, only for %q",
				s.Schema.Type, name, s.Schema.Names()))
		}
	}
	return errors.Join(faults...)
}

// checkAreFeatures checks that all names of a list are features.
func (s *trainSpec) checkAreFeatures(list string, names, features []string) error {
	faults := []error{repeated(list, names)}
	for _, name := range names {
		if !slices.Contains(features, name) {
			faults = append(faults, fmt.Errorf("the %s: %q is no feature, want one of %q", list, name, features))
		}
	}
	return errors.Join(faults...)
}

// repeated returns an error for each name that a list has twice.
func repeated(list string, names []string) error {
	var faults []error
	for i, name := range names {
		if at := slices.Index(names, name); at < i && !slices.Contains(names[at+1:i], name) {
			faults = append(faults, fmt.Errorf("the %s: %q stands there twice, want it once", list, name))
		}
	}
	return errors.Join(faults...)
}

// bindLabel finds the columns of the label and of the weights.
func (s *trainSpec) bindLabel() error {
	c := &s.Config
	if c.Label == "" {
		return errors.New("no Label: want the column of classes")
	}
	var err, err2 error
	s.label, err = s.Schema.Column(c.Label)
	if c.Weight != "" {
		if s.weight, err2 = s.Schema.Column(c.Weight); err2 == nil {
			if s.weight.Type == dataset.Text || c.Weight == c.Label {
				err2 = fmt.Errorf("rows of type %s: the weights in column %q are texts or the label, want numbers in a column "+
					"of their own", s.Schema.Type, c.Weight)
			}
		}
	}
	return errors.Join(err, err2)
}

// feature returns how the column of a feature is read.
func (s *trainSpec) feature(name string) (dataset.FeatureColumn, error) {
	c := &s.Config
	column, err := s.Schema.Column(name)
	if err != nil {
		return dataset.FeatureColumn{}, err
	}
	if name == c.Label || name == c.Weight || name == s.Part {
		return dataset.FeatureColumn{}, fmt.Errorf("column %q is the label, the weight or decides on the part of a row, want "+
			"a feature", name)
	}
	f := dataset.FeatureColumn{Name: name, Kind: dataset.Numeric, Type: column.Type, Unit: column.Unit}
	numeric := slices.Contains(c.Numeric, name)
	switch {
	case numeric:
		f.Type = dataset.Number
	case column.Type == dataset.Text || slices.Contains(c.Categorical, name):
		f.Kind = dataset.Categorical
	case column.Type == 0: // the rows decide
		f.Kind = 0
	}
	return f, nil
}

// openSpec decodes a trainSpec.
func openSpec(b []byte) (*trainSpec, error) {
	s := new(trainSpec)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	return s, errors.Join(s.bindLabel())
}

// weighted reports whether rows have weights of their own.
func (s *trainSpec) weighted() bool { return s.Config.Weight != "" }

// weighs reports whether classes have weights.
func (s *trainSpec) weighs() bool { return s.Config.Weighs() }

// summariseTallyFn summarises each column over the rows of a shard.
type summariseTallyFn struct{ Spec []byte }

func (f *summariseTallyFn) ProcessElement(_ context.Context, _ int64, tally []byte, emit func(int64, []byte)) error {
	return summariseShard(f.Spec, tally, nil, emit)
}

// summariseShard summarises the rows of a shard.
func summariseShard(encoded, tally []byte, units kindUnits, emit func(int64, []byte)) error {
	spec, err := openSpec(encoded)
	if err != nil {
		return err
	}
	sums, err := spec.summariseOwn(tally, units)
	if err != nil {
		return jobs.Carry(err)
	}
	b, err := appendSums(nil, sums)
	if err != nil {
		return err
	}
	emit(0, b)
	return nil
}

// weighTallyFn adds up the weights of the rows of a shard.
type weighTallyFn struct{ Spec []byte }

func (f *weighTallyFn) ProcessElement(_ context.Context, _ int64, tally []byte, emit func(int64, []byte)) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	sums, err := spec.sumWeights(tally, ownRows)
	if err != nil {
		return jobs.Carry(err)
	}
	emit(0, jobs.MustJSON(sums))
	return nil
}

// unitsFn finds the units of the weights of all shards, and sends them to each shard.
type unitsFn struct{ Shards int }

func (f *unitsFn) ProcessElement(
	_ context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	var sums [dataset.Parts]*dataset.WeightSums
	for part := range sums {
		sums[part] = new(dataset.WeightSums)
	}
	for _, b := range jobs.Collect(values) {
		var shard [dataset.Parts]*dataset.WeightSums
		if err := json.Unmarshal(b, &shard); err != nil {
			return err
		}
		for part, s := range shard {
			sums[part].Merge(s)
		}
	}
	b := append(jobs.MustJSON(dataset.WeightUnits(&sums)), valuePlan)
	for shard := range f.Shards {
		emit(int64(shard), b)
	}
	return nil
}

// summariseWeighedFn is summariseTallyFn for rows with weights, whose units are known.
type summariseWeighedFn struct{ Spec []byte }

func (f *summariseWeighedFn) ProcessElement(
	_ context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	encoded, tally, err := cutTagged(values)
	if err != nil || tally == nil || encoded == nil {
		return err // nil: this shard has no rows
	}
	var units [dataset.Parts]dataset.WeightUnit
	if err := json.Unmarshal(encoded, &units); err != nil {
		return err
	}
	return summariseShard(f.Spec, tally, &units, emit)
}

// noRowsFn emits empty summaries, as of a shard without rows.
type noRowsFn struct{}

func (*noRowsFn) ProcessElement(_ context.Context, _ []byte, emit func(int64, []byte)) {
	emit(0, nil)
}

// fitFn merges the summaries of all shards, fits the plan and sends it to all shards.
type fitFn struct {
	Spec   []byte
	Shards int
}

func (f *fitFn) ProcessElement(
	ctx context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(jobs.Collect(values), func(b []byte) bool { return len(b) == 0 })
	sums, err := spec.mergeSums(list)
	if err == nil {
		err = spec.checkEmpty(ctx, sums)
	}
	if err != nil || sums.Label == nil {
		return jobs.Carry(err)
	}
	p, err := spec.fit(sums)
	if err != nil {
		return jobs.Carry(err)
	}
	b := append(jobs.MustJSON(p), valuePlan)
	for shard := range f.Shards {
		emit(int64(shard), b)
	}
	return nil
}

// The kinds of values that shards receive beside their tally, in the last byte of each: the units
// of the weights, then the plan.
const (
	valueTally = iota
	valuePlan
)

// tagFn appends valueTally to tallies.
type tagFn struct{}

func (f *tagFn) ProcessElement(_ context.Context, shard int64, tally []byte, emit func(int64, []byte)) error {
	emit(shard, append(slices.Clip(tally), valueTally))
	return nil
}

// cutTagged returns what a shard receives: its tally, and the plan or the units.
func cutTagged(values func(*[]byte) bool) (encoded, tally []byte, err error) {
	for _, b := range jobs.Collect(values) {
		if len(b) == 0 {
			return nil, nil, jobs.ErrValue
		}
		switch last := len(b) - 1; b[last] {
		case valuePlan:
			encoded = b[:last]
		case valueTally:
			tally = b[:last]
		}
	}
	return encoded, tally, nil
}

// codeTallyFn turns the rows of a shard into objects, by the plan.
type codeTallyFn struct{ Spec []byte }

func (f *codeTallyFn) ProcessElement(
	_ context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	encoded, tally, err := cutTagged(values)
	if err != nil || tally == nil || encoded == nil {
		return err // nil: this shard has no rows, or there is no plan as no row can be trained on
	}
	p, err := openPlan(encoded)
	if err != nil {
		return err
	}
	tables, err := spec.code(tally, p)
	if err != nil {
		return jobs.Carry(err)
	}
	for part, t := range tables {
		for _, block := range jobs.Blocks(t, p.layout.Stride) {
			emit(0, jobs.AppendPacket(nil, len(encoded), append(append(slices.Clip(encoded), byte(part)), block...)))
		}
	}
	return nil
}

// growObjectsFn merges the objects of all shards and grows the tree.
type growObjectsFn struct{ Spec []byte }

func (f *growObjectsFn) ProcessElement(
	ctx context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	var p *plan
	var tables partTables
	for _, value := range jobs.Collect(values) {
		n, b, _, err := jobs.NextPacket(value)
		if err != nil || n >= len(b) || b[n] >= byte(dataset.Parts) {
			return jobs.ErrValue
		}
		if p == nil {
			if p, err = openPlan(b[:n]); err != nil {
				return err
			}
			tables = spec.newTables(p)
		}
		if err := tables[b[n]].AddBlock(b[n+1:], len(p.Classes)); err != nil {
			return err
		}
	}
	encoded, _, err := spec.grow(ctx, &tables, p)
	if err != nil {
		return jobs.Carry(err)
	}
	emit(0, encoded)
	return nil
}
