package transforms

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tallies"
)

// tallyBytes is the memory of the tallies of a bundle at which the bundle emits them early. On Flink a slot emits at most 100
// messages of at most 4 MB in a step: with 64, 32 or 16 shards of equal size, elements of 0.94 MB, 1.9 MB or 3.75 MB fill
// them.
const tallyBytes = 60e6

// tallyFn counts the equal rows of a bundle, separately for each shard and each stretch of time.
// Its rows must be in the global window, because FinishBundle cannot emit in any other.
type tallyFn struct {
	Spec    []byte        // trainSpec
	Shards  int           // rows go to shards by their hash
	Stretch time.Duration // windows consist of stretches of this length; 0: there is a single stretch
	Alone   bool          // emit each row separately, because its windows depend on it (sessions)
	Refusal refusal
	Digest  []byte // opens each tally; empty: tallies are not kept in a state

	encoder *tallies.Encoder
	open    map[tallyKey]*timedTally
	held    int // bytes of open

	next   *tallyRows // rows that are encoded but not counted yet
	spare  *tallyRows
	counts parallel.Group // counts earlier rows in the background
}

// tallyKey identifies a tally of a bundle.
type tallyKey struct{ shard, stretch int64 }

// timedTally is a tally with the time at which it is emitted.
type timedTally struct {
	dataset.Tally

	at beam.EventTime // time of the latest row
}

// tallyRows are encoded rows.
type tallyRows struct {
	rows []tallyRow
	keys []byte
}

// tallyRow is a row whose key ends at this place in the keys. A row without a key adds nothing.
type tallyRow struct {
	to      tallyKey
	at      beam.EventTime
	dropped bool
	end     int
}

// rowsTogether is the number of rows that are counted, or decoded, while other rows are read.
const rowsTogether = 256

// Setup reads the specification.
func (f *tallyFn) Setup() error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	f.encoder, err = tallies.NewEncoder(&spec.Spec)
	return err
}

func (f *tallyFn) StartBundle(context.Context, func(beam.EventTime, int64, []byte), func(DeadLetter)) {
	f.counts.Wait() // rows of a bundle that has failed
	f.open = make(map[tallyKey]*timedTally)
	f.held = 0
	f.next = new(tallyRows)
	f.spare = new(tallyRows)
}

func (f *tallyFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row beam.T, emit func(beam.EventTime, int64, []byte), refuse func(DeadLetter),
) error {
	weight, labelEnd, err := f.encoder.Encode(row, 0)
	if err != nil {
		return f.Refusal.of(ctx, letter{row: row, at: at}, err, refuse)
	}
	r := tallyRow{at: at, dropped: labelEnd == 0}
	if f.Shards > 1 && labelEnd > 0 {
		r.to.shard = int64(dataset.HashKey(f.encoder.Key[labelEnd:]) >> 32 % uint64(f.Shards))
	}
	if f.Stretch > 0 {
		r.to.stretch = dataset.FloorDiv(int64(at), f.Stretch.Milliseconds())
	}
	if labelEnd > 0 && weight > 0 {
		f.next.keys = append(f.next.keys, f.encoder.Key...)
	}
	r.end = len(f.next.keys)
	f.next.rows = append(f.next.rows, r)
	if f.Alone || len(f.next.rows) == rowsTogether {
		f.counts.Wait()
		if f.Alone || f.held > tallyBytes {
			f.flush(emit)
		} else {
			f.count()
		}
	}
	return nil
}

func (f *tallyFn) FinishBundle(_ context.Context, emit func(beam.EventTime, int64, []byte), _ func(DeadLetter)) {
	f.flush(emit)
}

// count waits for the count of earlier rows, and begins to count the next ones.
func (f *tallyFn) count() {
	f.counts.Wait()
	rows := f.next
	f.next, f.spare = f.spare, f.next
	f.next.rows = f.next.rows[:0]
	f.next.keys = f.next.keys[:0]
	f.counts.Go(func() { f.add(rows) })
}

// add counts rows.
func (f *tallyFn) add(list *tallyRows) {
	from := 0
	for i := range list.rows {
		r := &list.rows[i]
		t := f.open[r.to]
		if t == nil {
			t = &timedTally{at: r.at}
			f.open[r.to] = t
		}
		t.at = max(t.at, r.at)
		before := t.Bytes()
		if r.dropped {
			t.Dropped++
		} else if r.end > from {
			t.Add(list.keys[from:r.end])
		}
		f.held += t.Bytes() - before
		from = r.end
	}
}

// flush emits the open tallies. Their order does not matter, because merging them in any order
// gives the same bytes.
func (f *tallyFn) flush(emit func(beam.EventTime, int64, []byte)) {
	f.count()
	f.counts.Wait()
	processors := runtime.GOMAXPROCS(0)
	for some := range slices.Chunk(slices.Collect(maps.Keys(f.open)), processors) {
		encoded := make([][]byte, len(some))
		parallel.Each(len(some), processors, func(i int) {
			if t := f.open[some[i]]; !t.Empty() {
				encoded[i] = t.AppendBinary(slices.Clone(f.Digest))
			}
		})
		for i, b := range encoded {
			if b != nil {
				emit(f.open[some[i]].at, some[i].shard, b)
			}
		}
	}
	clear(f.open)
	f.held = 0
}

// mergeTalliesFn merges the tallies of a key.
type mergeTalliesFn struct{}

// tallyMerger has encoded tallies. They are merged once the new ones take as many bytes as the merged
// tally, so that no row is merged more than a few times.
type tallyMerger struct {
	list   [][]byte // the merged tally, then new tallies
	merged int      // bytes of the merged tally
	bytes  int      // bytes of the new tallies
}

func (t *tallyMerger) add(b []byte) error {
	t.list = append(t.list, b)
	if t.bytes += len(b); t.bytes < max(t.merged, 1<<20) {
		return nil
	}
	return t.merge()
}

func (t *tallyMerger) merge() error {
	if len(t.list) < 2 {
		return nil
	}
	b, err := dataset.MergeTallies(t.list...)
	*t = tallyMerger{list: [][]byte{b}, merged: len(b)}
	return err
}

func encodeTallies(t tallyMerger) ([]byte, error) {
	if len(t.list) == 0 {
		return nil, nil
	}
	err := t.merge()
	return t.list[0], err
}

func decodeTallies(b []byte) tallyMerger {
	if len(b) == 0 {
		return tallyMerger{}
	}
	return tallyMerger{list: [][]byte{b}, merged: len(b)}
}

func (f *mergeTalliesFn) CreateAccumulator() tallyMerger { return tallyMerger{} }

func (f *mergeTalliesFn) AddInput(t tallyMerger, b []byte) (tallyMerger, error) {
	if len(b) == 0 { // emitted by noRowsFn
		return t, nil
	}
	err := t.add(b)
	return t, err
}

func (f *mergeTalliesFn) MergeAccumulators(t, o tallyMerger) (tallyMerger, error) {
	for _, b := range o.list {
		if err := t.add(b); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (f *mergeTalliesFn) ExtractOutput(t tallyMerger) ([]byte, error) { return encodeTallies(t) }
