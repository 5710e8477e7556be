package transforms

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/settings"
	"github.com/espalier-ml/espalier/induce/tallies"
)

// Trained is what Train and WindowedTree return.
type Trained struct {
	Trees       beam.PCollection // from Train: PCollection<[]byte>; from WindowedTree: PCollection<WindowTree>
	Refused     beam.PCollection // from WindowedTree: PCollection<RefusedWindow>, otherwise invalid
	Reports     beam.PCollection // PCollection<Report> with the option Reports, otherwise invalid: one report from Train, one for each pane
	DeadLetters beam.PCollection // PCollection<DeadLetter> with the option DeadLetters, otherwise invalid
}

// Train trains a tree on rows, a bounded PCollection<T> with T as in Score. Trees has a single
// tree.json: the bytes that `espalier train` writes for the same rows and settings, such as --split
// 100/0/0 --select first --certificate none for SingleTrainConfig. The pipeline fails without
// rows: see TrainConfig.AllowEmpty. With the option DeadLetters, rows without a label are dead
// letters unless DropNullLabels is set.
//
// Train is one Beam graph without a driver or side inputs:
//
//	rows -> encode and count equal rows in the bundle -> CombinePerKey: tallies of Shards shards
//	     -> summaries of the bundle by column -> GroupByKey: merged by column -> GroupByKey: fit the bins -> to all shards
//	     -> GroupByKey with the shards -> codes, objects of equal codes -> GroupByKey -> grow
//
// An object represents all rows with equal codes. A single worker gathers all objects, grows the
// trees of the grid and chooses one of them. A code takes one or two bytes, and the worker needs
// three times the bytes of all codes. On Flink the objects, and the tally of each shard, must stay
// below about 100 MiB, because all values of a key from one slot have to fit into one buffer. For
// larger data use `espalier train`, which grows the tree level by level.
//
// Train panics if a setting is out of range, if a column does not fit the names and types of the
// rows' fields, or if the rows are unbounded. The error of the panic names all faults at once.
func Train(s beam.Scope, rows beam.PCollection, c TrainConfig, opts ...Option) Trained {
	o, err := newOptions(trainStep, opts)
	spec, fault := newTrainSpec(rows, &c, o)
	err = errors.Join(err, fault, refuseUnbounded(rows, "use WindowedTree, which grows a tree for each window"), o.checkReports())
	if err != nil {
		panic(fmt.Errorf("%s: %w", trainStep, err))
	}
	s = s.Scope(trainStep)
	encoded := elements.MustJSON(spec)
	// tallyFn emits at the end of its bundle, which is only possible in the global window.
	rows = beam.WindowInto(s, window.NewGlobalWindows(), rows)
	batches, dead := beam.ParDo2(s, &tallyFn{Spec: encoded, Shards: c.Shards, Refusal: o.refusal()}, rows)
	batches = beam.WindowInto(s, window.NewGlobalWindows(), batches)
	merged := beam.CombinePerKey(s, &mergeTalliesFn{}, batches)
	var summaries beam.PCollection
	if spec.Weighted() {
		sums := beam.GroupByKey(s, beam.ParDo(s, &weighTallyFn{Spec: encoded}, merged))
		units := beam.ParDo(s, &unitsFn{Shards: c.Shards}, sums)
		shards := beam.GroupByKey(s, beam.Flatten(s, merged, units))
		summaries = beam.ParDo(s, &summariseWeighedFn{summing{Spec: encoded}}, shards)
	} else {
		summaries = beam.ParDo(s, &summariseTallyFn{summing{Spec: encoded}}, merged)
	}
	summaries = beam.ParDo(s, &mergeColumnFn{Spec: encoded}, beam.GroupByKey(s, summaries))
	// noRowsFn ensures that fitFn is called even if there are no rows.
	summaries = beam.Flatten(s, summaries, beam.ParDo(s, &noRowsFn{}, beam.Impulse(s)))
	plans, plan := beam.ParDo2(s, &fitFn{Spec: encoded, Shards: c.Shards}, beam.GroupByKey(s, summaries))
	shards := beam.GroupByKey(s, beam.Flatten(s, merged, plans))
	objects := beam.Flatten(s, plan, beam.ParDo(s, &codeTallyFn{Spec: encoded}, shards))
	grow := &growObjectsFn{Spec: encoded}
	if o.reports != nil {
		grow.Drafts = c.Shards
		grow.Earlier = *o.reports
	}
	trees, drafts := beam.ParDo2(s, grow, beam.GroupByKey(s, objects))
	trained := Trained{Trees: beam.DropKey(s, trees), DeadLetters: o.limit(s, dead)}
	if o.reports != nil {
		trained.Reports = spec.report(s, merged, drafts)
	}
	return trained
}

const trainStep = "transforms.Train"

// trainSpec is a checked configuration together with the columns of the rows.
type trainSpec struct {
	tallies.Spec

	AllowEmpty bool `json:"allow_empty"`
	Workers    int  `json:"workers"`
}

// newTrainSpec binds a configuration to the type of rows, and checks both.
func newTrainSpec(rows beam.PCollection, c *TrainConfig, o *options) (*trainSpec, error) {
	schema, err := schemaOf(rows)
	if err != nil {
		return nil, err
	}
	s := &trainSpec{
		Spec:       tallies.Spec{Settings: c.Settings, Features: c.Features, Strict: c.Strict, Schema: schema},
		AllowEmpty: c.AllowEmpty, Workers: c.Workers,
	}
	s.Spell = o.letters != nil
	s.Measures = o.reports != nil
	faults := []error{s.Bind(), o.checkTypes(s.Columns, c.Ordered)}
	within := func(name string, x, low, high int) {
		if r := settings.Between(float64(low), float64(high)); !r.Has(float64(x)) {
			faults = append(faults, fmt.Errorf("%s %v: want a whole number %s", name, x, r))
		}
	}
	within("Shards", c.Shards, 1, 1<<16)
	within("Workers", c.Workers, 0, 1024)
	return s, errors.Join(faults...)
}

// openSpec decodes a trainSpec.
func openSpec(b []byte) (*trainSpec, error) {
	s := new(trainSpec)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	return s, s.Open()
}

// summariseTallyFn summarises each column over the rows of the shards of a bundle.
type summariseTallyFn struct{ summing }

func (f *summariseTallyFn) ProcessElement(_ context.Context, _ int64, tally []byte, _ func(int64, []byte)) error {
	return f.add(tally, nil)
}

// weighTallyFn adds up the weights of the rows of a shard.
type weighTallyFn struct{ Spec []byte }

func (f *weighTallyFn) ProcessElement(_ context.Context, _ int64, tally []byte, emit func(int64, []byte)) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	sums, err := spec.SumWeights(tally)
	if err != nil {
		return elements.Carry(err)
	}
	emit(0, elements.MustJSON(sums))
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
	for _, b := range elements.Collect(values) {
		var shard [dataset.Parts]*dataset.WeightSums
		if err := json.Unmarshal(b, &shard); err != nil {
			return err
		}
		for part, s := range shard {
			sums[part].Merge(s)
		}
	}
	b := elements.MustJSON(dataset.WeightUnits(&sums))
	for shard := range f.Shards {
		emit(int64(shard), b)
	}
	return nil
}

// summariseWeighedFn is summariseTallyFn for weighted rows whose units are known.
type summariseWeighedFn struct{ summing }

func (f *summariseWeighedFn) ProcessElement(_ context.Context, _ int64, values func(*[]byte) bool, _ func(int64, []byte)) error {
	encoded, tally := cutTally(values)
	if tally == nil || encoded == nil {
		return nil // this shard has no rows
	}
	var units [dataset.Parts]dataset.WeightUnit
	if err := json.Unmarshal(encoded, &units); err != nil {
		return err
	}
	return f.add(tally, &units)
}

// noRowsFn emits empty summaries, like a shard without rows.
type noRowsFn struct{}

func (*noRowsFn) ProcessElement(_ context.Context, _ []byte, emit func(int64, []byte)) {
	emit(0, nil)
}

// fitFn fits the plan to the summaries of all columns, and sends it to all shards and to growObjectsFn.
type fitFn struct {
	Spec   []byte
	Shards int
}

func (f *fitFn) ProcessElement(
	ctx context.Context, _ int64, values func(*[]byte) bool, emit, grow func(int64, []byte),
) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(elements.Collect(values), func(b []byte) bool { return len(b) == 0 })
	sums, err := spec.openSums(list)
	if err == nil {
		err = spec.checkEmpty(ctx, sums)
	}
	if err != nil || sums.Label == nil {
		return elements.Carry(err)
	}
	p, err := spec.Fit(sums)
	if err != nil {
		return elements.Carry(err)
	}
	b := elements.MustJSON(p)
	for shard := range f.Shards {
		emit(int64(shard), b)
	}
	grow(0, b)
	return nil
}

// cutTally returns the values that a shard receives: its tally, and the plan or the units in JSON,
// which no tally begins like.
func cutTally(values func(*[]byte) bool) (encoded, tally []byte) {
	for _, b := range elements.Collect(values) {
		if _, err := dataset.ReadTally(b); err == nil {
			tally = b
		} else {
			encoded = b
		}
	}
	return encoded, tally
}

// codeTallyFn turns the rows of a shard into objects, by the plan.
type codeTallyFn struct {
	background

	Spec []byte
}

func (f *codeTallyFn) ProcessElement(
	_ context.Context, _ int64, values func(*[]byte) bool, emit func(int64, []byte),
) error {
	encoded, tally := cutTally(values)
	if tally == nil || encoded == nil {
		return nil // this shard has no rows, or no row can be trained on, so there is no plan
	}
	return f.do(func(emit func(int64, []byte)) error { return f.code(encoded, tally, emit) }, emit)
}

// code emits the objects of a shard: packets with a part and its objects.
func (f *codeTallyFn) code(encoded, tally []byte, emit func(int64, []byte)) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	p, err := tallies.OpenPlan(encoded)
	if err != nil {
		return err
	}
	tables, err := spec.Code(tally, p)
	if err != nil {
		return elements.Carry(err)
	}
	for part, t := range tables {
		for _, block := range elements.Blocks(t, p.Stride()) {
			emit(0, elements.AppendPacket(nil, part, block))
		}
	}
	return nil
}

// growObjectsFn merges the objects of all shards and grows the tree.
type growObjectsFn struct {
	Spec    []byte
	Drafts  int // shards that a draft of the report is sent to; 0: there is no report
	Earlier Reports
}

var (
	treesGrown  = beam.NewCounter(elements.CounterNamespace, "trees_grown")
	rowsTrained = beam.NewCounter(elements.CounterNamespace, "rows_trained")
)

func (f *growObjectsFn) ProcessElement(
	ctx context.Context, _ int64, values func(*[]byte) bool, emit, report func(int64, []byte),
) error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	list := elements.Collect(values)
	// The plan is in JSON, which no packet begins like, as a part is a small number.
	at := slices.IndexFunc(list, func(b []byte) bool { return len(b) > 0 && b[0] == '{' })
	if at < 0 {
		return elements.ErrValue
	}
	p, err := tallies.OpenPlan(list[at])
	if err != nil {
		return err
	}
	tables := spec.NewTables(p)
	for _, value := range slices.Delete(list, at, at+1) {
		part, block, _, err := elements.NextPacket(value)
		if err != nil || part >= dataset.Parts {
			return elements.ErrValue
		}
		if err := tables[part].AddBlock(block, len(p.Classes)); err != nil {
			return err
		}
	}
	var notes []string
	g, err := spec.grow(ctx, &tables, p, &notes)
	if err != nil {
		return elements.Carry(err)
	}
	countGrown(ctx, g)
	emit(0, g.Tree.Encode())
	if f.Drafts == 0 {
		return nil
	}
	d, err := spec.newDraft(p, g, notes, f.Earlier)
	if err != nil {
		return err
	}
	b := elements.MustJSON(d)
	for shard := range f.Drafts {
		report(int64(shard), b)
	}
	return nil
}

// countGrown counts a tree that is emitted.
func countGrown(ctx context.Context, g *tallies.Grown) {
	treesGrown.Inc(ctx, 1)
	rowsTrained.Inc(ctx, g.Rows[dataset.Train])
}

// grow grows the tree from objects, and logs it. notes receives the notes of the choice.
func (s *trainSpec) grow(ctx context.Context, tables *tallies.Tables, p *tallies.Plan, notes *[]string) (*tallies.Grown, error) {
	workers := cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
	return s.Grow(ctx, tables, p, workers, func(text string) {
		log.Infof(ctx, "%s: %s", trainStep, text)
		*notes = append(*notes, text)
	})
}
