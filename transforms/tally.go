package transforms

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/tallied"
)

// tallyBytes is the memory of the tallies of a bundle at which the bundle emits them early.
const tallyBytes = 64 << 20

// tallyFn counts the equal rows of a bundle, separately for each shard and each stretch of time.
// Its rows must be in the global window, because FinishBundle cannot emit in any other.
type tallyFn struct {
	Spec    []byte        // trainSpec
	Shards  int           // rows go to shards by their hash
	Given   []byte        // plan with the bins of WindowConfig.Bins; empty if no bins are given
	Stretch time.Duration // windows consist of stretches of this length; 0: there is a single stretch
	Alone   bool          // emit each row separately, because its windows depend on it (sessions)
	Refusal refusal

	// Earlier is the time after which a row counts again, as a row of the window before. 0: it does
	// not count again.
	Earlier time.Duration

	encoder *tallied.Encoder
	open    map[tallyKey]*timedTally
	held    int // bytes of open
}

// tallyKey identifies a tally of a bundle.
type tallyKey struct{ shard, stretch int64 }

// timedTally is a tally with the time at which it is emitted.
type timedTally struct {
	dataset.Tally

	at beam.EventTime // time of the latest row
}

// Setup reads the specification.
func (f *tallyFn) Setup() error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	var given *tallied.Plan
	if len(f.Given) > 0 {
		if given, err = tallied.OpenPlan(f.Given); err != nil {
			return err
		}
	}
	f.encoder, err = tallied.NewEncoder(&spec.Spec, given)
	return err
}

func (f *tallyFn) StartBundle(context.Context, func(beam.EventTime, int64, []byte), func(DeadLetter)) {
	f.open, f.held = make(map[tallyKey]*timedTally), 0
}

func (f *tallyFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row beam.T, emit func(beam.EventTime, int64, []byte), refuse func(DeadLetter),
) error {
	weight, labelEnd, err := f.encoder.Encode(row, 0)
	if err != nil {
		return f.Refusal.of(ctx, letter{row: row, at: at}, err, refuse)
	}
	var to tallyKey
	if f.Shards > 1 && labelEnd > 0 {
		to.shard = int64(dataset.HashKey(f.encoder.Key[labelEnd:]) >> 32 % uint64(f.Shards))
	}
	if f.Stretch > 0 {
		to.stretch = dataset.FloorDiv(int64(at), f.Stretch.Milliseconds())
	}
	t := f.open[to]
	if t == nil {
		t = &timedTally{at: at}
		f.open[to] = t
	}
	t.at = max(t.at, at)
	before := t.Bytes()
	switch {
	case labelEnd == 0:
		t.Dropped++
	case weight > 0:
		t.Add(f.encoder.Key)
	}
	f.held += t.Bytes() - before
	if f.held > tallyBytes || f.Alone {
		f.flush(emit)
	}
	return nil
}

func (f *tallyFn) FinishBundle(_ context.Context, emit func(beam.EventTime, int64, []byte), _ func(DeadLetter)) {
	f.flush(emit)
}

// flush emits the open tallies. Their order does not matter, because merging them in any order
// gives the same bytes.
func (f *tallyFn) flush(emit func(beam.EventTime, int64, []byte)) {
	for at, t := range f.open {
		if t.Empty() {
			continue
		}
		emit(t.at, at.shard, t.AppendBinary(nil))
		if f.Earlier > 0 {
			t.Dropped = 0 // dropped rows count once
			emit(t.at+beam.EventTime(f.Earlier.Milliseconds()), at.shard, tallied.AsEarlier(t.AppendBinary(nil)))
		}
	}
	clear(f.open)
	f.held = 0
}

// mergeTalliesFn merges the tallies of a key.
type mergeTalliesFn struct{}

// tallies are encoded tallies. They are merged once the new ones take as many bytes as the merged
// tally, so that no row is merged more than a few times.
type tallies struct {
	list   [][]byte // the merged tally, then new tallies
	merged int      // bytes of the merged tally
	bytes  int      // bytes of the new tallies
}

func (t *tallies) add(b []byte) error {
	t.list = append(t.list, b)
	if t.bytes += len(b); t.bytes < max(t.merged, 1<<20) {
		return nil
	}
	return t.merge()
}

func (t *tallies) merge() error {
	if len(t.list) < 2 {
		return nil
	}
	b, err := dataset.MergeTallies(t.list...)
	*t = tallies{list: [][]byte{b}, merged: len(b)}
	return err
}

func encodeTallies(t tallies) ([]byte, error) {
	if len(t.list) == 0 {
		return nil, nil
	}
	err := t.merge()
	return t.list[0], err
}

func decodeTallies(b []byte) tallies {
	if len(b) == 0 {
		return tallies{}
	}
	return tallies{list: [][]byte{b}, merged: len(b)}
}

func (f *mergeTalliesFn) CreateAccumulator() tallies { return tallies{} }

func (f *mergeTalliesFn) AddInput(t tallies, b []byte) (tallies, error) {
	if len(b) == 0 { // emitted by noRowsFn
		return t, nil
	}
	err := t.add(b)
	return t, err
}

func (f *mergeTalliesFn) MergeAccumulators(t, o tallies) (tallies, error) {
	for _, b := range o.list {
		if err := t.add(b); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (f *mergeTalliesFn) ExtractOutput(t tallies) ([]byte, error) { return encodeTallies(t) }
