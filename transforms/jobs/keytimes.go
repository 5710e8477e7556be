package jobs

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// KeyTimesConfig says how keys and times are read.
type KeyTimesConfig struct {
	Config

	Rows    []byte // RowSpec with two features: the time and the key
	Parting dataset.Parting
}

// KeyTimes finds in which blocks of time each key has rows. tasks is a PCollection<[]byte> of Task, one for each
// row group. RowSpec.KeyTimes takes the folder of the result.
func KeyTimes(s beam.Scope, tasks beam.PCollection, c KeyTimesConfig) {
	addJob(s.Scope("transforms.KeyTimes"), tasks, &keyTimesFn{taskFn[*keyTimes]{Job: &keyTimes{KeyTimesConfig: c}}},
		&mergeHashesFn{mergeFn[*adder[hashCounts]]{Job: &adder[hashCounts]{c.Config}}})
}

type (
	keyTimesFn    struct{ taskFn[*keyTimes] }
	mergeHashesFn struct{ mergeFn[*adder[hashCounts]] }
)

// hashCounts are encoded tables of package counting.
type hashCounts struct{}

func (hashCounts) combine(list [][]byte) ([]byte, error) { return counting.Merge(list) }

// keyTimes counts the rows of a bundle by key and block.
type keyTimes struct {
	KeyTimesConfig

	spec  *RowSpec
	mu    sync.Mutex // of table
	table *counting.Table
}

// shapeOfKeys is the shape of rows by the hash of their key and their block.
func shapeOfKeys() counting.Shape { return counting.Shape{Words: 2} }

func (f *keyTimes) ahead() int { return rowGroupsAhead }

func (f *keyTimes) begin(ctx context.Context) (err error) {
	f.table = counting.New(shapeOfKeys())
	f.spec, err = readRows(ctx, f.Rows)
	return err
}

func (f *keyTimes) do(ctx context.Context, p *pool, t Task, _ func(int64, []byte)) error {
	return eachPiece(ctx, p, f.spec, t, func(ctx context.Context, g *rowGroup, _ int) error {
		var times, keys dataset.Vector
		if err := g.prepare(); err != nil {
			return err
		}
		if err := g.feature(0, &times); err != nil {
			return err
		}
		if err := g.ReadColumn(1, &keys); err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for r, part := range g.parts {
			if part == dataset.None {
				continue
			}
			x, err := g.timeAt(f.Parting.Time, &times, r)
			if err != nil {
				return err
			}
			part, bucket := f.Parting.OfTime(x)
			f.table.Add([]uint64{f.Parting.HashKeyAt(&keys, r), uint64(dataset.NewPlace(part, bucket))})
		}
		g.count(ctx)
		return nil
	})
}

func (f *keyTimes) end(ctx context.Context, emit func(int64, []byte)) error {
	return f.sendCounts(ctx, predictedKey, f.table.Append(nil), emit)
}

// readKeyTimes returns the first block of each key, by its hash.
func readKeyTimes(ctx context.Context, folder string) (map[uint64]dataset.Place, error) {
	first := make(map[uint64]dataset.Place)
	err := readCounts(ctx, folder, []int64{predictedKey}, func(_ int, b []byte) error {
		if b == nil {
			return errGone(folder, predictedKey)
		}
		t := counting.New(shapeOfKeys())
		if err := t.Merge(b, func([]uint64) error { return nil }); err != nil {
			return err
		}
		for e := range t.Unordered() {
			key := e.Words[0]
			place := dataset.Place(e.Words[1])
			if other, ok := first[key]; !ok || place < other {
				first[key] = place
			}
		}
		return nil
	})
	return first, err
}
