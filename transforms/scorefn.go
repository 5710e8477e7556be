package transforms

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/binding"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
	"github.com/espalier-ml/espalier/induce/tree"
)

// scorer is a tree bound to the columns of rows.
type scorer struct {
	*binding.Binding

	fault error // why the tree cannot score the rows; nil if it can

	id      string
	classes []string
	usage   *scorerUsage
}

// misfit returns the error of a row for a tree that cannot score it, because the rows lack a column that the tree tests, or
// have it as another type, for instance after an update of the pipeline.
func misfit(err error) error {
	return &dataset.DataError{
		Problem: fmt.Sprintf("the tree for the row cannot score it: %v", err),
		Hint:    "a tree that is grown from rows of the present columns scores the rows after it",
	}
}

// newScorer decodes a tree.json and finds the columns of its tests.
func newScorer(encoded []byte, schema *rowtype.Schema) (*scorer, error) {
	model, err := tree.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("the model: %w", err)
	}
	b, err := binding.New(model, schema)
	return &scorer{Binding: b, id: tree.ID(encoded), classes: model.Label.Classes, usage: newScorerUsage(model)}, err
}

// usable reports whether a tree can score the rows; false for nil.
func (s *scorer) usable() bool { return s != nil && s.fault == nil }

// boundTree returns the scorer of a tree of the same pipeline. A tree that cannot score the rows is counted and logged: the
// scorer has its fault.
func boundTree(ctx context.Context, encoded []byte, schema *rowtype.Schema) *scorer {
	s, err := newScorer(encoded, schema)
	if err == nil {
		return s
	}
	modelsRefused.Inc(ctx, 1)
	log.Errorf(ctx, "transforms.Score cannot use the tree %s: %v", tree.ID(encoded), err)
	return &scorer{fault: misfit(err)}
}

// scoring holds the fields of all DoFns that score rows.
type scoring struct {
	Schema  []byte // encoded rowtype.Schema
	Refusal refusal
	Strict  bool // whether maps must have the keys of all tested columns

	schema *rowtype.Schema
	cells  []rowtype.Cell
	values []tree.Value
	usage  columnUsage
}

// Setup decodes the schema.
func (f *scoring) Setup() error {
	f.schema = new(rowtype.Schema)
	return json.Unmarshal(f.Schema, f.schema)
}

// predict returns the prediction for a row. It leaves the cells of the row in f.cells.
func (f *scoring) predict(s *scorer, row any) (p *tree.Prediction, err error) {
	if f.cells, err = s.Read(row, f.cells[:0]); err != nil {
		return nil, err
	}
	if f.Strict {
		if err := s.CheckKeys(row, f.cells); err != nil {
			return nil, err
		}
	}
	f.values = binding.AppendValues(f.values[:0], f.cells)
	return s.Scorer.Predict(f.values)
}

// score scores a row. scored is false if the row cannot be used.
func (f *scoring) score(
	ctx context.Context, s *scorer, l letter, refuse func(DeadLetter),
) (p Prediction, scored bool, err error) {
	found, err := f.predict(s, l.row)
	if err != nil {
		return p, false, f.Refusal.of(ctx, l, err, refuse)
	}
	f.usage.count(ctx, s, f.cells, found, f.schema)
	return Prediction{
		Class: found.Class, Classes: s.classes, Probabilities: found.Probabilities, Leaf: int64(found.Leaf), Tests: int64(found.Tests),
		Cost: found.Cost, Billed: found.Cost, Model: s.id,
	}, true, nil
}

// scoreBy scores a row by the model of a source. scored is false if the row cannot be used.
func (f *scoring) scoreBy(
	ctx context.Context, source *modelSource, l letter, refuse func(DeadLetter),
) (p Prediction, scored bool, err error) {
	s, err := source.scorer(ctx, f.schema)
	if err != nil {
		return p, false, elements.Carry(err)
	}
	return f.score(ctx, s, l, refuse)
}

// scoreFn scores rows by a given model.
type scoreFn struct {
	scoring

	Source modelSource
}

func (f *scoreFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row beam.T, emit func(beam.T, Prediction), refuse func(DeadLetter),
) error {
	p, scored, err := f.scoreBy(ctx, &f.Source, letter{row: row, at: at}, refuse)
	if scored {
		emit(row, p)
	}
	return err
}

func (f *scoreFn) FinishBundle(ctx context.Context, _ func(beam.T, Prediction), _ func(DeadLetter)) {
	f.usage.flush(ctx)
}

// scoreKeyedFn scores rows with keys by a given model.
type scoreKeyedFn struct {
	scoring

	Source modelSource
}

func (f *scoreKeyedFn) ProcessElement(
	ctx context.Context, at beam.EventTime, key beam.X, row beam.T, emit func(beam.X, Prediction), refuse func(DeadLetter),
) error {
	p, scored, err := f.scoreBy(ctx, &f.Source, letter{row: row, key: key, at: at}, refuse)
	if scored {
		emit(key, p)
	}
	return err
}

func (f *scoreKeyedFn) FinishBundle(ctx context.Context, _ func(beam.X, Prediction), _ func(DeadLetter)) {
	f.usage.flush(ctx)
}

// byTrees finds the trees of windows in a side input.
type byTrees struct {
	Side window.Fn // windows of the side input

	windows map[beam.Window]windowScorer
	model   []byte // the latest tree
	bound   *scorer
}

// windowScorer is the scorer of a window, valid for some time.
type windowScorer struct {
	scorer *scorer // nil if the window has no tree
	until  time.Time
}

// A side input is read again after keepTree, because a later pane may have come, and is kept for at
// most keepWindows windows.
const (
	keepTree    = time.Second
	keepWindows = 1000
)

// noTree returns the error for the rows of a window without a tree.
func noTree() error {
	return &dataset.DataError{
		Problem: "no tree has come for the window of the row", Hint: "the window may need rows with labels",
	}
}

// of returns the scorer of a window; nil if it has no tree.
func (b *byTrees) of(ctx context.Context, w beam.Window, schema *rowtype.Schema, trees func(*[]byte) bool) *scorer {
	now := time.Now()
	if s, ok := b.windows[w]; ok && now.Before(s.until) {
		return s.scorer
	}
	if b.windows == nil || len(b.windows) >= keepWindows {
		b.windows = make(map[beam.Window]windowScorer)
	}
	model := latestTree(trees, sideTime(&b.Side, w))
	if model != nil && !bytes.Equal(model, b.model) {
		b.model = model
		b.bound = boundTree(ctx, model, schema)
	}
	s := windowScorer{until: now.Add(keepTree)}
	if model != nil {
		s.scorer = b.bound
	}
	b.windows[w] = s
	return s.scorer
}
