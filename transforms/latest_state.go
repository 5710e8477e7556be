package transforms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/wire"
)

// treeID identifies a tree.json: the beginning of its SHA-256.
type treeID [16]byte

// identified returns a tree.json after its treeID.
func identified(encoded []byte) []byte {
	sum := sha256.Sum256(encoded)
	return append(sum[:len(treeID{})], encoded...)
}

// identity divides an identified tree.
func identity(b []byte) (id treeID, encoded []byte, err error) {
	if len(b) < len(id) {
		return id, nil, elements.ErrValue
	}
	n := copy(id[:], b)
	return id, b[n:], nil
}

// keptTrees says which trees rows may still need.
type keptTrees struct {
	Trees   []windowEnd // by the end of their windows
	Stored  int         // trees that are stored, with those that are not needed any more
	Forgot  bool        // whether earlier trees were forgotten
	Reached int64       // the watermark has reached this time, in ms since 1970
	Waits   bool        // whether values wait

	encoded []byte // encoded Trees, while they are not in Trees
	changed bool   // since it was read from the state
}

// windowEnd names the tree of the latest pane of a window.
type windowEnd struct {
	End, Pane int64
	ID        treeID
}

// keptVersion opens encoded keptTrees.
const keptVersion = 1

// An encoded tree has a fixed length, so that one is found without decoding them all.
const keptBytes = 8 + 8 + len(treeID{})

// encode encodes keptTrees.
func (k *keptTrees) encode() []byte {
	k.load()
	flags := byte(0)
	if k.Forgot {
		flags |= 1
	}
	if k.Waits {
		flags |= 2
	}
	w := wire.Writer(nil).Byte(keptVersion).Byte(flags).Varint(k.Reached).Length(k.Stored)
	for i := range k.Trees {
		t := &k.Trees[i]
		w = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w, uint64(t.End)), uint64(t.Pane))
		w = append(w, t.ID[:]...)
	}
	return w
}

// decode decodes keptTrees. It returns false for another version.
func (k *keptTrees) decode(b []byte) bool {
	r := wire.Reader{Rest: b}
	if r.Byte() != keptVersion {
		return false
	}
	flags := r.Byte()
	k.Forgot = flags&1 > 0
	k.Waits = flags&2 > 0
	k.Reached = r.Varint()
	k.Stored = int(r.AtMost(1 << 31))
	if r.Bad || len(r.Rest)%keptBytes > 0 {
		return false
	}
	k.encoded = r.Rest
	return true
}

// load decodes the trees.
func (k *keptTrees) load() {
	for b := k.encoded; len(b) > 0; b = b[keptBytes:] {
		k.Trees = append(k.Trees, windowEnd{
			End: int64(binary.BigEndian.Uint64(b)), Pane: int64(binary.BigEndian.Uint64(b[8:])), ID: treeID(b[16:keptBytes]),
		})
	}
	k.encoded = nil
}

// readTree decodes a numbered tree.
func readTree(b []byte) (t windowEnd, stored []byte, err error) {
	if len(b) < numberBytes {
		return t, nil, elements.ErrValue
	}
	t.End = int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	t.Pane = int64(binary.BigEndian.Uint64(b[8:]))
	stored = b[numberBytes:]
	t.ID, _, err = identity(stored)
	return t, stored, err
}

// add adds a tree. It takes the place of the tree of an earlier pane; the tree of an earlier pane is not added.
func (k *keptTrees) add(t windowEnd) (added bool) {
	k.load()
	at, found := slices.BinarySearchFunc(k.Trees, t.End, func(t windowEnd, end int64) int { return int(min(max(t.End-end, -1), 1)) })
	if found && t.Pane < k.Trees[at].Pane {
		return false
	}
	k.changed = true
	if !found {
		k.Trees = slices.Insert(k.Trees, at, t)
	}
	k.Trees[at] = t
	return true
}

// before returns the number of trees of windows that ended at or before a time.
func (k *keptTrees) before(at int64) int {
	if len(k.encoded) > 0 {
		return sort.Search(len(k.encoded)/keptBytes, func(i int) bool {
			return int64(binary.BigEndian.Uint64(k.encoded[i*keptBytes:])) > at
		})
	}
	return sort.Search(len(k.Trees), func(i int) bool { return k.Trees[i].End > at })
}

// id returns the tree at a position, counted from 0.
func (k *keptTrees) id(at int) treeID {
	if len(k.encoded) > 0 {
		return treeID(k.encoded[at*keptBytes+16:][:len(treeID{})])
	}
	return k.Trees[at].ID
}

// forget drops the trees before the latest tree of a time.
func (k *keptTrees) forget(at int64) {
	k.load()
	if n := k.before(at) - 1; n > 0 {
		k.Trees = slices.Delete(k.Trees, 0, n)
		k.Forgot = true
	}
}

// stretched finds the trees of packs whose rows are in one stretch of time.
type stretched struct {
	Length int64  // length of a stretch in ms
	First  []byte // identified tree for rows before the first tree; empty: such rows have no tree
	Form   []byte // opens packs in streams, after their kind: see formOf
}

// start returns the start of the stretch of time t.
func (f *stretched) start(t int64) int64 {
	return max(dataset.FloorDiv(t, f.Length)*f.Length, int64(mtime.MinTimestamp)) // rows may have no time
}

// startOf returns the start of the stretch of a pack, given as shardPacksFn encodes it.
func (f *stretched) startOf(value []byte) (int64, error) {
	first, n := binary.Varint(value[min(1+len(f.Form), len(value)):])
	if n <= 0 {
		return 0, elements.ErrValue
	}
	return f.start(first), nil
}

// emit emits a pack with its identified tree, which is empty if it has none. stored returns a tree.
func (f *stretched) emit(
	k *keptTrees, value []byte, stored func(treeID) ([]byte, error), emit func(beam.EventTime, []byte, []byte),
) error {
	start, err := f.startOf(value)
	if err != nil {
		return err
	}
	var encoded []byte
	if n := k.before(start); n > 0 {
		encoded, err = stored(k.id(n - 1))
	} else if !k.Forgot {
		encoded = f.First
	}
	emit(beam.EventTime(start), encoded, value[1+len(f.Form):])
	return err
}

// findTreesFn finds the trees of packs in bounded collections.
type findTreesFn struct{ stretched }

func (f *findTreesFn) ProcessElement(
	_ int64, trees, packs func(*[]byte) bool, emit func(beam.EventTime, []byte, []byte),
) error {
	var k keptTrees
	stored := make(map[treeID][]byte)
	for _, b := range elements.Collect(trees) {
		t, tree, err := readTree(b[min(1, len(b)):])
		if err != nil {
			return err
		}
		k.add(t)
		stored[t.ID] = tree
	}
	find := func(id treeID) ([]byte, error) { return stored[id], nil }
	var b []byte
	for packs(&b) {
		if err := f.emit(&k, b, find, emit); err != nil {
			return err
		}
		b = nil
	}
	return nil
}

// findTreesStreamFn finds the trees of packs in streams. A pack waits until the watermark has reached the start
// of its stretch: then the trees of all windows that ended by then have come. Trees are forgotten once rows that
// need them would be later than the allowed lateness.
//
// The trees are in a state of their own, which is read for a tree that the worker has not seen. So a pack
// costs the same, however many trees are kept.
type findTreesStreamFn struct {
	stretched

	Lateness int64 // allowed lateness of the trees in ms

	Kept    state.Value[[]byte] // encoded keptTrees
	Trees   state.Bag[[]byte]   // identified trees
	Waiting state.Bag[[]byte]   // packs, as shardPacksFn encodes them
	Due     timers.EventTime

	seen treeCache[[]byte] // identified trees of all keys
}

var (
	statesDropped  = beam.NewCounter(elements.CounterNamespace, "states_dropped")
	waitingDropped = beam.NewCounter(elements.CounterNamespace, "waiting_dropped")
)

func (f *findTreesStreamFn) ProcessElement(
	ctx context.Context, sp state.Provider, tp timers.Provider, _ int64, value []byte, emit func(beam.EventTime, []byte, []byte),
) error {
	k, err := f.read(ctx, sp)
	if err != nil {
		return err
	}
	var at int64
	if len(value) > 0 && value[0] == kindTree {
		at, err = f.keep(sp, k, value[1:])
	} else {
		at, err = f.take(ctx, sp, k, value, emit)
	}
	if err != nil {
		return err
	}
	if !k.changed {
		return nil
	}
	if at > k.Reached { // each time has a timer of its own, so that timers do not wait for another
		f.Due.Set(tp, time.UnixMilli(at), timers.WithTag(strconv.FormatInt(at, 10)))
	}
	return f.Kept.Write(sp, k.encode())
}

// keep keeps a numbered tree, unless its pane is earlier than the one kept. It returns the end of its window.
func (f *findTreesStreamFn) keep(sp state.Provider, k *keptTrees, numbered []byte) (at int64, err error) {
	t, stored, err := readTree(numbered)
	if err != nil || !k.add(t) {
		return t.End, err
	}
	k.Stored++
	if err := f.Trees.Add(sp, stored); err != nil {
		return t.End, err
	}
	f.seen.put(t.ID, stored, len(stored))
	return t.End, f.prune(sp, k)
}

func (f *findTreesStreamFn) OnTimer(
	ctx context.Context, reached beam.EventTime, sp state.Provider, _ timers.Provider, _ int64, _ timers.Context,
	emit func(beam.EventTime, []byte, []byte),
) error {
	k, err := f.read(ctx, sp)
	if err != nil {
		return err
	}
	k.Reached = max(k.Reached, int64(reached))
	if k.Waits {
		if err := f.takeWaiting(ctx, sp, k, emit); err != nil {
			return err
		}
	}
	k.forget(f.start(k.Reached - f.Lateness))
	if err := f.prune(sp, k); err != nil {
		return err
	}
	return f.Kept.Write(sp, k.encode())
}

// take emits a pack with its tree, or lets it wait. It returns the start of its stretch. It drops a pack of rows of another
// type: it waited when the pipeline was updated, or was on its way.
func (f *findTreesStreamFn) take(
	ctx context.Context, sp state.Provider, k *keptTrees, pack []byte, emit func(beam.EventTime, []byte, []byte),
) (at int64, err error) {
	if len(pack) == 0 || !bytes.HasPrefix(pack[1:], f.Form) {
		rows := rowsOfPack(pack)
		waitingDropped.Inc(ctx, rows)
		log.Warnf(ctx, "transforms.Score drops %d rows of another type, which waited or were on their way when the pipeline was updated", rows)
		return k.Reached, nil
	}
	if at, err = f.startOf(pack); err != nil {
		return at, err
	}
	if at <= k.Reached {
		return at, f.emit(k, pack, func(id treeID) ([]byte, error) { return f.stored(sp, id) }, emit)
	}
	k.Waits = true
	k.changed = true
	return at, f.Waiting.Add(sp, pack)
}

// takeWaiting takes the waiting packs again, in the order of their bytes.
func (f *findTreesStreamFn) takeWaiting(
	ctx context.Context, sp state.Provider, k *keptTrees, emit func(beam.EventTime, []byte, []byte),
) error {
	waiting, _, err := f.Waiting.Read(sp)
	if err != nil {
		return err
	}
	if err := f.Waiting.Clear(sp); err != nil {
		return err
	}
	slices.SortFunc(waiting, bytes.Compare)
	k.Waits = false
	for _, pack := range waiting {
		if _, err := f.take(ctx, sp, k, pack, emit); err != nil {
			return err
		}
	}
	return nil
}

// read reads which trees are kept. State of another version of Espalier, before an update of the pipeline, is dropped.
func (f *findTreesStreamFn) read(ctx context.Context, sp state.Provider) (*keptTrees, error) {
	k := &keptTrees{Reached: int64(mtime.MinTimestamp)}
	b, ok, err := f.Kept.Read(sp)
	if err != nil || !ok || k.decode(b) {
		return k, err
	}
	statesDropped.Inc(ctx, 1)
	log.Warn(ctx, "transforms.Score drops the trees that another version of Espalier has kept: rows have no tree until a window ends")
	return &keptTrees{Reached: int64(mtime.MinTimestamp), Forgot: true, changed: true}, f.Trees.Clear(sp)
}

// stored returns a tree that is kept.
func (f *findTreesStreamFn) stored(sp state.Provider, id treeID) ([]byte, error) {
	if stored, ok := f.seen.get(id); ok {
		return stored, nil
	}
	list, _, err := f.Trees.Read(sp)
	if err != nil {
		return nil, err
	}
	var found []byte
	for left := treeCacheBytes; len(list) > 0; list = list[1:] {
		other, _, err := identity(list[0])
		if err != nil {
			return nil, err
		}
		if left -= len(list[0]); left > 0 { // more would be forgotten at once
			f.seen.put(other, list[0], len(list[0]))
		}
		if other == id {
			found = list[0]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the state lacks the tree %x, which it names: %w", id, elements.ErrValue)
	}
	f.seen.put(id, found, len(found))
	return found, nil
}

// prune removes the stored trees that no row needs, once they are more than half of them.
func (f *findTreesStreamFn) prune(sp state.Provider, k *keptTrees) error {
	const few = 8
	if k.Stored <= 2*len(k.Trees)+few {
		return nil
	}
	list, _, err := f.Trees.Read(sp)
	if err != nil {
		return err
	}
	if err := f.Trees.Clear(sp); err != nil {
		return err
	}
	needed := make(map[treeID]bool, len(k.Trees))
	for i := range k.Trees {
		needed[k.Trees[i].ID] = true
	}
	k.Stored = 0
	for _, stored := range list {
		id, _, err := identity(stored)
		if err != nil {
			return err
		}
		if !needed[id] {
			continue
		}
		needed[id] = false // once is enough
		k.Stored++
		if err := f.Trees.Add(sp, stored); err != nil {
			return err
		}
	}
	return nil
}

// formOf identifies the form of packed values of the given types, in 8 bytes: names and types of all fields.
func formOf(types []beam.EncodedType) []byte {
	var form []byte
	for _, t := range types {
		form = appendForm(form, t.T, 0)
	}
	return binary.BigEndian.AppendUint64(nil, dataset.HashContent(form))
}

// appendForm appends the form of a type. A type may contain itself, at some depth.
func appendForm(form []byte, t reflect.Type, depth int) []byte {
	const deepest = 8
	form = fmt.Appendf(form, "%s;", t.Kind())
	if depth == deepest {
		return form
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			form = appendForm(fmt.Appendf(form, "%s %q ", field.Name, field.Tag), field.Type, depth+1) // tags name columns and units
		}
		return append(form, '}')
	case reflect.Map:
		return appendForm(appendForm(form, t.Key(), depth+1), t.Elem(), depth+1)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return appendForm(form, t.Elem(), depth+1)
	default:
		return form
	}
}
