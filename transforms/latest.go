package transforms

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
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
	stretched := stretched{Length: length.Milliseconds(), First: first}
	pack := &packFn{packing: newPacking(rows), Stretch: stretched.Length}
	packs, err := pack.pack(s, beam.WindowInto(s, window.NewGlobalWindows(), rows))
	if err != nil {
		return nil, err
	}
	stream := unbounded(rows) || unbounded(m.Trees)
	shards := int64(shardsBounded)
	if stream {
		shards = shardsUnbounded
	}
	trees := beam.ParDo(s, &copyTreesFn{shards}, beam.WindowInto(s, window.NewGlobalWindows(), m.Trees))
	packs = beam.ParDo(s, &shardPacksFn{shards}, packs)
	var found beam.PCollection
	if stream {
		find := &findTreesStreamFn{
			stretched: stretched, Lateness: int64(windows.AllowedLateness),
			Kept: state.MakeValueState[[]byte]("kept"), Waiting: state.MakeBagState[[]byte]("waiting"), Due: timers.InEventTime("due"),
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
	b := append([]byte{kindTree}, appendTree(t.End, t.Pane, t.JSON)...)
	for shard := range f.Shards {
		emit(shard, b)
	}
}

// shardPacksFn sends packs to shards by their hash.
type shardPacksFn struct{ Shards int64 }

func (f *shardPacksFn) ProcessElement(pack []byte) (shard int64, value []byte) {
	return int64(dataset.HashKey(pack)>>32) % f.Shards, append([]byte{kindPack}, pack...)
}

// keptTrees are the trees that rows may still need.
type keptTrees struct {
	Trees   []windowEnd // by the end of their windows
	Forgot  bool        // whether earlier trees were forgotten
	Reached int64       // the watermark has reached this time, in ms since 1970
	Waits   bool        // whether values wait

	changed bool // since it was read from the state
}

// windowEnd is the tree of the latest pane of a window.
type windowEnd struct {
	End, Pane int64
	JSON      []byte
}

// readTree decodes a numbered tree.
func readTree(b []byte) (windowEnd, error) {
	if len(b) < numberBytes {
		return windowEnd{}, jobs.ErrValue
	}
	return windowEnd{
		End: int64(binary.BigEndian.Uint64(b) ^ 1<<63), Pane: int64(binary.BigEndian.Uint64(b[8:])), JSON: b[numberBytes:],
	}, nil
}

// add adds a tree. It takes the place of the tree of an earlier pane.
func (k *keptTrees) add(t windowEnd) {
	k.changed = true
	at, found := slices.BinarySearchFunc(k.Trees, t.End, func(t windowEnd, end int64) int { return int(min(max(t.End-end, -1), 1)) })
	switch {
	case !found:
		k.Trees = slices.Insert(k.Trees, at, t)
	case t.Pane >= k.Trees[at].Pane:
		k.Trees[at] = t
	}
}

// before returns the number of trees of windows that ended at or before a time.
func (k *keptTrees) before(at int64) int {
	n, _ := slices.BinarySearchFunc(k.Trees, at, func(t windowEnd, at int64) int {
		if t.End <= at {
			return -1
		}
		return 1
	})
	return n
}

// forget drops the trees before the latest tree of a time.
func (k *keptTrees) forget(at int64) {
	if n := k.before(at) - 1; n > 0 {
		k.Trees = slices.Delete(k.Trees, 0, n)
		k.Forgot = true
	}
}

// stretched finds the trees of packs whose rows are in one stretch of time.
type stretched struct {
	Length int64  // length of a stretch in ms
	First  []byte // tree.json for rows before the first tree; empty: such rows have no tree
}

// start returns the start of the stretch of time t.
func (f *stretched) start(t int64) int64 {
	return max(dataset.FloorDiv(t, f.Length)*f.Length, int64(mtime.MinTimestamp)) // rows may have no time
}

// startOf returns the start of the stretch of a pack, given as shardPacksFn encodes it.
func (f *stretched) startOf(value []byte) (int64, error) {
	first, n := binary.Varint(value[min(1, len(value)):])
	if n <= 0 {
		return 0, jobs.ErrValue
	}
	return f.start(first), nil
}

// emit emits a pack with its tree, which is empty if it has none.
func (f *stretched) emit(k *keptTrees, value []byte, emit func(beam.EventTime, []byte, []byte)) error {
	start, err := f.startOf(value)
	if err != nil {
		return err
	}
	var encoded []byte
	if n := k.before(start); n > 0 {
		encoded = k.Trees[n-1].JSON
	} else if !k.Forgot {
		encoded = f.First
	}
	emit(beam.EventTime(start), encoded, value[1:])
	return nil
}

// findTreesFn finds the trees of packs in bounded collections.
type findTreesFn struct{ stretched }

func (f *findTreesFn) ProcessElement(
	_ int64, trees, packs func(*[]byte) bool, emit func(beam.EventTime, []byte, []byte),
) error {
	var k keptTrees
	for _, b := range jobs.Collect(trees) {
		t, err := readTree(b[min(1, len(b)):])
		if err != nil {
			return err
		}
		k.add(t)
	}
	var b []byte
	for packs(&b) {
		if err := f.emit(&k, b, emit); err != nil {
			return err
		}
		b = nil
	}
	return nil
}

// findTreesStreamFn finds the trees of packs in streams. A pack waits until the watermark has reached the start
// of its stretch: then the trees of all windows that ended by then have come. Trees are forgotten once rows that
// need them would be later than the allowed lateness.
type findTreesStreamFn struct {
	stretched

	Lateness int64 // allowed lateness of the trees in ms

	Kept    state.Value[[]byte] // encoded keptTrees
	Waiting state.Bag[[]byte]   // packs
	Due     timers.EventTime
}

func (f *findTreesStreamFn) ProcessElement(
	sp state.Provider, tp timers.Provider, _ int64, value []byte, emit func(beam.EventTime, []byte, []byte),
) error {
	k, err := f.read(sp)
	if err != nil {
		return err
	}
	var at int64
	if len(value) > 0 && value[0] == kindTree {
		t, err := readTree(value[1:])
		if err != nil {
			return err
		}
		at = t.End
		k.add(t)
	} else if at, err = f.take(sp, k, value, emit); err != nil {
		return err
	}
	if !k.changed {
		return nil
	}
	if at > k.Reached { // each time has a timer of its own, so that timers do not wait for another
		f.Due.Set(tp, time.UnixMilli(at), timers.WithTag(strconv.FormatInt(at, 10)))
	}
	return f.Kept.Write(sp, jobs.MustJSON(k))
}

func (f *findTreesStreamFn) OnTimer(
	_ context.Context, reached beam.EventTime, sp state.Provider, _ timers.Provider, _ int64, _ timers.Context,
	emit func(beam.EventTime, []byte, []byte),
) error {
	k, err := f.read(sp)
	if err != nil {
		return err
	}
	k.Reached = max(k.Reached, int64(reached))
	if k.Waits {
		if err := f.takeWaiting(sp, k, emit); err != nil {
			return err
		}
	}
	k.forget(f.start(k.Reached - f.Lateness))
	return f.Kept.Write(sp, jobs.MustJSON(k))
}

// take emits a pack with its tree, or lets it wait. It returns the start of its stretch.
func (f *findTreesStreamFn) take(
	sp state.Provider, k *keptTrees, pack []byte, emit func(beam.EventTime, []byte, []byte),
) (at int64, err error) {
	if at, err = f.startOf(pack); err != nil {
		return at, err
	}
	if at <= k.Reached {
		return at, f.emit(k, pack, emit)
	}
	k.Waits = true
	k.changed = true
	return at, f.Waiting.Add(sp, pack)
}

// takeWaiting takes the waiting packs again, in the order of their bytes.
func (f *findTreesStreamFn) takeWaiting(sp state.Provider, k *keptTrees, emit func(beam.EventTime, []byte, []byte)) error {
	waiting, _, err := f.Waiting.Read(sp)
	if err != nil {
		return err
	}
	if err := f.Waiting.Clear(sp); err != nil {
		return err
	}
	slices.SortFunc(waiting, bytes.Compare)
	k.Waits = false
	for _, b := range waiting {
		if _, err := f.take(sp, k, b, emit); err != nil {
			return err
		}
	}
	return nil
}

func (f *findTreesStreamFn) read(sp state.Provider) (*keptTrees, error) {
	k := &keptTrees{Reached: int64(mtime.MinTimestamp)}
	b, ok, err := f.Kept.Read(sp)
	if err == nil && ok {
		err = json.Unmarshal(b, k)
	}
	return k, err
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

	scorers map[string]*scorer // by tree.json
}

// mostScorers is the number of trees from which a worker decodes trees again.
const mostScorers = 100

// scorer returns the scorer of a tree.json; nil if it is empty.
func (f *scoreFoundFn) scorer(encoded []byte) (*scorer, error) {
	if s, ok := f.scorers[string(encoded)]; ok || len(encoded) == 0 {
		return s, nil
	}
	if f.scorers == nil || len(f.scorers) >= mostScorers {
		f.scorers = make(map[string]*scorer)
	}
	s, err := newScorer(encoded, f.schema)
	f.scorers[string(encoded)] = s
	return s, err
}

func (f *scoreFoundFn) ProcessElement(
	ctx context.Context, encoded, pack []byte, emit func(beam.EventTime, beam.T, Prediction), refuse func(beam.EventTime, DeadLetter),
	unscored func([]byte),
) error {
	s, err := f.scorer(encoded)
	switch {
	case err != nil:
		return jobs.Carry(err)
	case s == nil && f.Unscored:
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
