package transforms

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// The rows of Model.Latest are divided among these numbers of keys, each with its own copy of the trees. Engines hold
// all values of a key of bounded collections in memory.
const (
	shardsBounded   = 16
	shardsUnbounded = 4
)

// latest adds the DoFns of Model.Latest. It returns the predictions, the dead letters and, if they are wanted, the
// unscored rows.
//
//	rows  -> packs of the rows of a bundle and a stretch of time -+-> the tree of each pack -> predictions
//	trees -> a copy for each shard -------------------------------+
//
// All rows of a stretch have the same latest tree, as no window ends within it. Bounded collections are joined by
// CoGroupByKey, which every runner has. In streams, a DoFn with state holds the trees, and packs wait there
// until the watermark has reached the start of their stretch.
func (m *Model) latest(s beam.Scope, rows beam.PCollection, fn scoring) ([]beam.PCollection, error) {
	first, err := m.read(context.Background()) // empty if there is no first model
	if err != nil {
		return nil, err
	}
	windows := m.Trees.WindowingStrategy()
	length, _ := stretch(windows.Fn)
	stretched := stretched{Length: length.Milliseconds()}
	if len(first) > 0 {
		stretched.First = identified(first)
	}
	pack := &packFn{packing: newPacking(rows), Stretch: stretched.Length}
	packs, err := pack.pack(s, beam.WindowInto(s, window.NewGlobalWindows(), rows))
	if err != nil {
		return nil, err
	}
	stream := unbounded(rows) || unbounded(m.Trees)
	shards := int64(shardsBounded)
	if stream {
		shards = shardsUnbounded
		stretched.Form = formOf(pack.Types)
	}
	shards = cmp.Or(m.Shards, shards)
	trees := beam.ParDo(s, &copyTreesFn{shards}, beam.WindowInto(s, window.NewGlobalWindows(), m.Trees))
	packs = beam.ParDo(s, &shardPacksFn{shards, stretched.Form}, packs)
	var found beam.PCollection
	if stream {
		find := &findTreesStreamFn{
			stretched: stretched, Lateness: int64(windows.AllowedLateness),
			Kept: state.MakeValueState[[]byte]("kept"), Trees: state.MakeBagState[[]byte]("trees"),
			Waiting: state.MakeBagState[[]byte]("waiting"), Due: timers.InEventTime("due"),
		}
		found = beam.ParDo(s, find, beam.Flatten(s, trees, packs))
	} else {
		found = beam.ParDo(s, &findTreesFn{stretched}, beam.CoGroupByKey(s, trees, packs))
	}
	score := &scoreFoundFn{packScoring: packScoring{scoring: fn, Packing: pack.packing}, Unscored: m.Unscored}
	out, err := beam.TryParDo(s, score, found, beam.TypeDefinition{Var: beam.TType, T: pack.Types[0].T})
	if err != nil {
		return nil, err
	}
	if m.Unscored {
		out[2], err = pack.unpack(s, out[2])
	}
	for i := range out {
		out[i] = inWindowsOf(s, rows, out[i])
	}
	return out, err
}

// refuseUnbounded returns an error for an unbounded collection, whose transform would never answer.
func refuseUnbounded(rows beam.PCollection, hint string) error {
	if !unbounded(rows) {
		return nil
	}
	return fmt.Errorf("the rows are unbounded, and there is no answer before the last one: %s", hint)
}

// unbounded reports whether a collection is unbounded. Only the text of a collection shows this.
func unbounded(c beam.PCollection) bool { return strings.HasSuffix(c.String(), ":unbounded}") }

// inWindowsOf puts elements into the windows of another collection, by their times.
func inWindowsOf(s beam.Scope, like, c beam.PCollection) beam.PCollection {
	w := like.WindowingStrategy()
	options := []beam.WindowIntoOption{
		beam.Trigger(w.Trigger), beam.AllowedLateness(time.Duration(w.AllowedLateness) * time.Millisecond),
	}
	if w.AccumulationMode == window.Accumulating {
		options = append(options, beam.PanesAccumulate())
	}
	return beam.WindowInto(s, w.Fn, c, options...)
}

// The kinds of values of findTreesStreamFn, in their first byte.
const (
	kindTree byte = iota
	kindPack
)

// copyTreesFn sends a copy of each tree to every shard.
type copyTreesFn struct{ Shards int64 }

func (f *copyTreesFn) ProcessElement(t WindowTree, emit func(int64, []byte)) {
	b := append([]byte{kindTree}, appendTree(t.End, t.Pane, identified(t.JSON))...)
	for shard := range f.Shards {
		emit(shard, b)
	}
}

// shardPacksFn sends packs to shards by their hash.
type shardPacksFn struct {
	Shards int64
	Form   []byte // see stretched
}

func (f *shardPacksFn) ProcessElement(pack []byte) (shard int64, value []byte) {
	return int64(dataset.HashKey(pack)>>32) % f.Shards, slices.Concat([]byte{kindPack}, f.Form, pack)
}

// noLatestTree returns the error for a row without a tree.
func noLatestTree() error {
	return &dataset.DataError{
		Problem: "no window with a tree ended before the row, or the row is later than the AllowedLateness of the trees",
		Hint:    "give a first model, or set Unscored",
	}
}

// scoreFoundFn scores packs by the trees that were found for them.
type scoreFoundFn struct {
	packScoring

	Unscored bool // whether packs without a tree are emitted as they are

	scorers treeCache[*scorer]
}

// scorer returns the scorer of an identified tree, possibly with a fault; nil if the tree is empty.
func (f *scoreFoundFn) scorer(ctx context.Context, encoded []byte) (*scorer, error) {
	if len(encoded) == 0 {
		return nil, nil //nolint:nilnil // a row without a tree
	}
	id, encoded, err := identity(encoded)
	if err != nil {
		return nil, err
	}
	if s, ok := f.scorers.get(id); ok {
		return s, nil
	}
	s := boundTree(ctx, encoded, f.schema)
	f.scorers.put(id, s, len(encoded))
	return s, nil
}

func (f *scoreFoundFn) ProcessElement(
	ctx context.Context, encoded, pack []byte, emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
	unscored func([]byte),
) error {
	s, err := f.scorer(ctx, encoded)
	switch {
	case err != nil:
		return elements.Carry(err)
	case f.Unscored && !s.usable():
		unscored(pack)
		return nil
	default:
		return f.scorePack(ctx, s, pack, noLatestTree, emit, refuse)
	}
}

func (f *scoreFoundFn) FinishBundle(
	ctx context.Context, _ func(beam.EventTime, beam.T, Prediction), _ func(beam.EventTime, DeadLetter), _ func([]byte),
) {
	f.usage.flush(ctx)
}
