package transforms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// EvaluateConfig describes how rows are compared with the predictions of a tree.
type EvaluateConfig struct {
	Label          string // class column; empty: the label of the tree. Trees of the same pipeline require it.
	Weight         string // column of row weights; empty: each row has weight 1
	DropNullLabels bool   // leave out rows without a label instead of failing
}

// Evaluated is what Evaluate returns.
type Evaluated struct {
	Metrics     beam.PCollection // PCollection<metric.Metrics> with a single element
	DeadLetters beam.PCollection // PCollection<DeadLetter> with the option DeadLetters, otherwise invalid
}

// Evaluate measures a tree on labelled rows, a bounded PCollection<T> with T as in Score. The
// metrics are those that `espalier evaluate` writes for the part "test". A model at a URL is read
// when the pipeline is built. The model may be the Trees of Train in the same pipeline, which are a
// side input. The pipeline fails if no row has a label. With the option DeadLetters, rows without a
// label are dead letters unless DropNullLabels is set.
//
// Evaluate panics in the same cases as Score, if the rows have no column for the label or the
// weight, and if they are unbounded.
func Evaluate(s beam.Scope, rows beam.PCollection, m Model, c EvaluateConfig, opts ...Option) Evaluated {
	const step = "transforms.Evaluate"
	o, err := newOptions(step, opts)
	if err != nil {
		panic(fmt.Errorf("%s: %w", step, err))
	}
	fn, err := newCounting(rows, &m, &c)
	if err = errors.Join(err, refuseUnbounded(rows, "measure files of a day, or a bounded part of the stream")); err != nil {
		panic(fmt.Errorf("%s: %w", step, err))
	}
	fn.Refusal = o.refusal()
	s = s.Scope(step)
	// countFn emits at the end of its bundle, which is only possible in the global window.
	rows = beam.WindowInto(s, window.NewGlobalWindows(), rows)
	var counts, dead beam.PCollection
	var trees beam.SideInput
	if m.Trees.IsValid() {
		trees.Input = numberedTrees(s, m.Trees)
		pack := &packFn{packing: newPacking(rows)}
		packs, err := pack.pack(s, rows)
		if err != nil {
			panic(fmt.Errorf("%s: %w", step, err))
		}
		counts, dead = beam.ParDo2(s, &countPacksFn{counting: *fn, Packing: pack.packing}, packs, trees)
	} else {
		counts, dead = beam.ParDo2(s, &countFn{*fn}, rows)
	}
	// noRowsFn ensures that metricsFn is called even if there are no rows.
	counts = beam.Flatten(s, counts, beam.ParDo(s, &noRowsFn{}, beam.Impulse(s)))
	if c.Weight != "" {
		counts = beam.CombinePerKey(s, &mergeTalliesFn{}, counts)
	} else {
		counts = beam.CombinePerKey(s, &mergeCountsFn{}, counts)
	}
	measure := &metricsFn{JSON: fn.JSON, Weight: c.Weight}
	var metrics beam.PCollection
	if m.Trees.IsValid() {
		metrics = beam.ParDo(s, &metricsByTreesFn{*measure}, counts, trees)
	} else {
		metrics = beam.ParDo(s, measure, counts)
	}
	return Evaluated{Metrics: metrics, DeadLetters: o.limit(s, dead)}
}

// newCounting binds the model and the columns to the rows.
func newCounting(rows beam.PCollection, m *Model, c *EvaluateConfig) (*counting, error) {
	schema, err := schemaOf(rows)
	if err != nil {
		return nil, err
	}
	if m.Later || m.Every != 0 || m.Latest {
		return nil, errors.New("want a model that is there when the pipeline is built, or the Trees of Train: set JSON, Tree, " +
			"URL or Trees alone")
	}
	if err := m.validate(schema); err != nil {
		return nil, err
	}
	fn := &counting{Config: *c, Schema: elements.MustJSON(schema), Strict: m.Strict}
	if m.Trees.IsValid() {
		if m.Trees.Type().Type() != reflect.TypeFor[[]byte]() || c.Label == "" {
			return nil, errors.New("the Trees are of the same pipeline: want the output of Train, and the Label")
		}
	} else {
		if fn.JSON, err = m.read(context.Background()); err != nil {
			return nil, err
		}
		t, err := tree.Decode(fn.JSON)
		if err != nil {
			return nil, err
		}
		fn.Config.Label = cmp.Or(c.Label, t.Label.Column)
	}
	names := []string{fn.Config.Label}
	if c.Weight != "" {
		names = append(names, c.Weight)
	}
	_, err = schema.Reader(names)
	return fn, err
}

// counting counts rows by prediction and class. Rows with weights are tallied by
// prediction, class and weight instead, because the unit of the weights depends on all rows.
type counting struct {
	Config  EvaluateConfig
	Schema  []byte // encoded rowtype.Schema
	JSON    []byte // the tree.json
	Strict  bool   // see Model
	Refusal refusal

	scoring scoring
	scorer  *scorer
	tree    *tree.Tree
	classes *dataset.ClassCodes
	own     *rowtype.Reader // reader of the label and the weight
	cells   []rowtype.Cell
	counts  *tree.ScoreCounts // nil before the first row
	tally   dataset.Tally     // tally of rows with weights
	key     []byte
}

// Setup reads the schema and binds the model.
func (f *counting) Setup() error {
	f.scoring.Schema = f.Schema
	f.scoring.Strict = f.Strict
	if err := f.scoring.Setup(); err != nil || len(f.JSON) == 0 {
		return err
	}
	return f.bind()
}

// bind binds the model.
func (f *counting) bind() (err error) {
	if f.scorer, err = newScorer(f.JSON, f.scoring.schema); err != nil {
		return err
	}
	if f.tree, err = tree.Decode(f.JSON); err != nil {
		return err
	}
	f.classes = dataset.NewClassCodes(f.tree.Label.Classes)
	names := []string{f.Config.Label}
	if f.Config.Weight != "" {
		names = append(names, f.Config.Weight)
	}
	f.own, err = f.scoring.schema.Reader(names)
	return err
}

// countFn counts the rows of a bundle.
type countFn struct{ counting }

func (f *countFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row beam.T, emit func(int64, []byte), refuse func(DeadLetter),
) error {
	if f.tally.Bytes() > tallyBytes {
		f.flush(emit)
	}
	if err := f.count(row); err != nil {
		return f.Refusal.of(ctx, letter{row: row, at: at}, err, refuse)
	}
	return nil
}

// count counts a row.
func (f *counting) count(row any) (err error) {
	if f.cells, err = f.own.Read(row, f.cells[:0]); err != nil {
		return err
	}
	if f.cells[0].Type == 0 {
		if f.Config.DropNullLabels {
			return nil
		}
		return tallies.NullLabel(f.Config.Label)
	}
	class, err := tallies.ClassCode(f.classes, f.cells[0].Spell(), f.Config.Label)
	if err != nil {
		return err
	}
	weight := 1.0
	if f.Config.Weight != "" {
		if weight, err = tallies.Weigh(&f.cells[1], f.Config.Weight); err != nil {
			return err
		}
	}
	p, err := f.scoring.predict(f.scorer, row)
	if err != nil || weight == 0 {
		return err
	}
	if f.counts == nil {
		f.counts = f.tree.NewScoreCounts()
	}
	code, _ := f.classes.Code(p.Class)
	predicted := int(code)
	if f.Config.Weight == "" {
		f.counts.Add(p.Leaf, predicted, p.Probabilities, int(class), 1, 1)
		return nil
	}
	f.key = wire.Writer(f.key[:0]).Length(p.Leaf).Length(predicted).Length(int(class)).Floats(p.Probabilities)
	f.tally.Add(tallies.AppendWeight(f.key, f.cells[1].Number))
	return nil
}

func (f *countFn) FinishBundle(_ context.Context, emit func(int64, []byte), _ func(DeadLetter)) {
	f.flush(emit)
}

// flush emits the counts.
func (f *counting) flush(emit func(int64, []byte)) {
	switch {
	case f.counts == nil:
	case f.Config.Weight != "":
		emit(0, f.tally.AppendBinary(nil))
		f.tally = dataset.Tally{}
	default:
		emit(0, f.counts.Encode())
	}
	f.counts = nil
}

// countPacksFn counts packed rows by the tree of a side input.
type countPacksFn struct {
	counting

	Packing packing
}

// Setup reads the schema and makes the coders.
func (f *countPacksFn) Setup() error {
	f.Packing.Setup()
	return f.counting.Setup()
}

func (f *countPacksFn) ProcessElement(
	ctx context.Context, pack []byte, trees func(*[]byte) bool, emit func(int64, []byte), refuse func(beam.EventTime, DeadLetter),
) error {
	model := latestTree(trees, mtime.EndOfGlobalWindowTime)
	if model != nil && !bytes.Equal(model, f.JSON) {
		f.JSON = model
		if err := f.bind(); err != nil {
			return elements.Carry(err)
		}
	}
	err := f.Packing.each(pack, func(l *letter) error {
		err := noTree()
		if model != nil {
			err = f.count(l.row)
		}
		if err != nil {
			return f.Refusal.of(ctx, *l, err, func(d DeadLetter) { refuse(l.at, d) })
		}
		return nil
	})
	f.flush(emit) // a FinishBundle of a DoFn with a side input would have to read it
	return err
}

// countTally counts the rows that countFn has tallied. It returns how many units make the average
// weight of a row.
func countTally(tally []byte, counts *tree.ScoreCounts, classes int, column string) (scale float64, err error) {
	var sums [dataset.Parts]*dataset.WeightSums
	sums[dataset.Test] = new(dataset.WeightSums)
	r, err := dataset.ReadTally(tally)
	if err != nil {
		return 0, err
	}
	for r.Next() {
		x, _, err := tallies.CutWeight(r.Key)
		if err != nil {
			return 0, err
		}
		sums[dataset.Test].Add(x, r.Rows)
	}
	if err := r.Err(); err != nil {
		return 0, err
	}
	unit := dataset.WeightUnits(&sums)[dataset.Test]
	if r, err = dataset.ReadTally(tally); err != nil {
		return 0, err
	}
	if unit.Effect > 1 {
		counts.KeepGroups(false)
	}
	for r.Next() {
		x, key, err := tallies.CutWeight(r.Key)
		if err != nil {
			return 0, err
		}
		weight := unit.Of(x)
		if weight == 0 {
			return 0, tallies.TooSmall(column, x, &unit)
		}
		numbers := wire.Reader{Rest: key}
		leaf := int(numbers.Uvarint())
		predicted := int(numbers.Uvarint())
		class := int(numbers.Uvarint())
		probabilities := numbers.Floats()
		if numbers.Bad || len(numbers.Rest) > 0 || len(probabilities) != classes {
			return 0, tallies.ErrRow
		}
		counts.Add(leaf, predicted, probabilities, class, r.Rows*weight, r.Rows)
		if unit.Effect > 1 {
			counts.CountGroup(dataset.WeightClass(weight, unit.Scale), leaf, class, r.Rows*weight, r.Rows)
		}
	}
	return unit.Scale, r.Err()
}

// mergeCountsFn adds up encoded counts of one tree.
type mergeCountsFn struct{}

func (*mergeCountsFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	switch {
	case len(a) == 0:
		return b, nil
	case len(b) == 0:
		return a, nil
	default:
		return tree.MergeScoreCounts([][]byte{a, b})
	}
}

// metricsFn computes the metrics of a tree from its counts.
type metricsFn struct {
	JSON   []byte
	Weight string // column of row weights, whose counts are a tally; empty: each row has weight 1
}

func (f *metricsFn) ProcessElement(_ int64, encoded []byte) (metric.Metrics, error) {
	t, err := tree.Decode(f.JSON)
	if err != nil {
		return metric.Metrics{}, err
	}
	counts := t.NewScoreCounts()
	scale := 1.0
	switch {
	case len(encoded) == 0:
	case f.Weight != "":
		scale, err = countTally(encoded, counts, len(t.Label.Classes), f.Weight)
	default:
		err = counts.Merge(encoded)
	}
	if err != nil {
		return metric.Metrics{}, elements.Carry(err)
	}
	m := metric.OfScores(t, counts, metric.FactorsOf(t, counts), cmp.Or(scale, 1))
	if m.Rows == 0 {
		return *m, elements.Carry(&dataset.DataError{
			Column: t.Label.Column, Problem: "no row has a label, and a weight above 0", Hint: "check the source of the rows",
		})
	}
	return *m, nil
}

// metricsByTreesFn is metricsFn for the tree of a side input.
type metricsByTreesFn struct{ metricsFn }

func (f *metricsByTreesFn) ProcessElement(key int64, encoded []byte, trees func(*[]byte) bool) (metric.Metrics, error) {
	if f.JSON = latestTree(trees, mtime.EndOfGlobalWindowTime); f.JSON == nil {
		return metric.Metrics{}, elements.Carry(noTree())
	}
	return f.metricsFn.ProcessElement(key, encoded)
}

// Beam's own coder of structs drops values that have no field.
func encodeMetrics(m metric.Metrics) ([]byte, error) { return json.Marshal(m) }

func decodeMetrics(b []byte) (m metric.Metrics, err error) {
	err = json.Unmarshal(b, &m)
	return m, err
}
