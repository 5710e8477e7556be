package transforms

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/wire"
)

// The summaries of a bundle are sent by column, so that no worker gathers all of them: the keys are the positions of the
// columns, then labelKey, classKey and headKey after the last column.
const (
	labelKey = iota
	classKey // weights by class
	headKey  // sumsHead in JSON
)

// sumsHead is the part of tallies.Sums that has no summaries.
type sumsHead struct {
	Dropped   int64
	TrainRows int64
	Weights   tallies.Units // the same of all shards
	Units     []int
}

// summaryBytes is the memory of the summaries of a bundle at which they are merged.
const summaryBytes = 64 << 20

// summing summarises the rows of the shards of a bundle. If the summaries take much memory, it emits each column once a
// bundle and not once a shard: on Flink a slot has a single bundle, and its runner stands still if a bundle emits more
// than about 400 MB.
type summing struct {
	background

	Spec []byte

	held  map[int64][][]byte // values of emitSums by key
	size  int                // bytes of held
	limit int                // size from which a bundle merges held; 0: summaryBytes
	next  int                // size at which held is merged next
}

// StartBundle forgets the shards of a bundle that has failed.
func (f *summing) StartBundle(emit func(int64, []byte)) {
	f.background.StartBundle(emit)
	f.held = make(map[int64][][]byte)
	f.size = 0
	f.limit = cmp.Or(f.limit, summaryBytes)
	f.next = f.limit
}

// add summarises the rows of a shard.
func (f *summing) add(tally []byte, units tallies.Units) error {
	err := f.do(func(emit func(int64, []byte)) error {
		spec, err := openSpec(f.Spec)
		if err != nil {
			return err
		}
		sums, err := spec.Summarise(tally, units)
		if err != nil {
			return elements.Carry(err)
		}
		return emitSums(sums, emit)
	}, f.hold)
	if err != nil || f.size < f.next {
		return err
	}
	return f.merge()
}

// hold keeps a value of emitSums.
func (f *summing) hold(key int64, value []byte) {
	f.held[key] = append(f.held[key], value)
	f.size += len(value)
}

// merge merges the values of each key.
func (f *summing) merge() error {
	spec, err := openSpec(f.Spec)
	if err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(f.held))
	faults := make([]error, len(keys))
	merged := make([][]byte, len(keys))
	parallel.Each(len(keys), runtime.GOMAXPROCS(0), func(i int) {
		merged[i], faults[i] = spec.mergeColumn(int(keys[i]), f.held[keys[i]])
	})
	f.size = 0
	for i, key := range keys {
		f.held[key] = [][]byte{merged[i]}
		f.size += len(merged[i])
	}
	f.next = max(f.limit, 2*f.size)
	return elements.Carry(cmp.Or(faults...))
}

// FinishBundle emits the summaries by column.
func (f *summing) FinishBundle(emit func(int64, []byte)) error {
	err := f.finish(0, f.hold)
	if err == nil && f.size >= f.limit {
		err = f.merge()
	}
	if err != nil {
		return err
	}
	for key, list := range f.held {
		for _, b := range list {
			emit(key, b)
		}
	}
	return nil
}

// emitSums emits the summaries of a shard by column.
func emitSums(s *tallies.Sums, emit func(key int64, value []byte)) error {
	for i, sum := range append(s.Columns[:len(s.Columns):len(s.Columns)], s.Label, s.ByClass) {
		if sum == nil {
			continue
		}
		b, err := sum.AppendBinary(nil)
		if err != nil {
			return err
		}
		emit(int64(i), b)
	}
	emit(int64(len(s.Columns)+headKey), elements.MustJSON(sumsHead{s.Dropped, s.TrainRows, s.Weights, s.Units}))
	return nil
}

// mergeColumn merges the values of a key of emitSums. Their order does not matter.
func (s *trainSpec) mergeColumn(key int, list [][]byte) ([]byte, error) {
	if key == len(s.Columns)+headKey {
		return s.mergeHeads(list)
	}
	column := s.Settings.Label
	if key < len(s.Columns) {
		column = s.Columns[key].Name
	}
	var sum *binning.Summary
	for _, b := range list {
		if err := mergeSum(&sum, b, column); err != nil {
			return nil, err
		}
	}
	return sum.AppendBinary(nil)
}

// mergeHeads adds up heads.
func (s *trainSpec) mergeHeads(list [][]byte) ([]byte, error) {
	sums := sumsHead{Units: slices.Repeat([]int{-1}, len(s.Columns))}
	for _, b := range list {
		var head sumsHead
		if err := json.Unmarshal(b, &head); err != nil {
			return nil, err
		}
		if err := s.mergeUnits(sums.Units, head.Units); err != nil {
			return nil, err
		}
		sums.TrainRows += head.TrainRows
		sums.Dropped += head.Dropped
		sums.Weights = head.Weights
	}
	return elements.MustJSON(sums), nil
}

// mergeUnits adds the units of further rows to those of earlier ones, by feature.
func (s *trainSpec) mergeUnits(into, from []int) error {
	for i, unit := range from {
		switch {
		case i >= len(into):
			return elements.ErrSummaries
		case into[i] < 0:
			into[i] = unit
		case unit >= 0 && unit != into[i]:
			return tallies.MixedTypes(s.Columns[i].Name)
		}
	}
	return nil
}

// mergeColumnFn merges the summaries of a column of all shards. It emits the position of the column, then the summary.
type mergeColumnFn struct {
	background

	Spec []byte
}

func (f *mergeColumnFn) ProcessElement(key int64, values func(*[]byte) bool, emit func(int64, []byte)) error {
	list := elements.Collect(values)
	return f.do(func(emit func(int64, []byte)) error {
		spec, err := openSpec(f.Spec)
		if err != nil {
			return err
		}
		merged, err := spec.mergeColumn(int(key), list)
		if err != nil {
			return elements.Carry(err)
		}
		emit(0, append(wire.Writer(nil).Length(int(key)), merged...))
		return nil
	}, emit)
}

// openSums decodes the values of mergeColumnFn for all columns.
func (s *trainSpec) openSums(list [][]byte) (*tallies.Sums, error) {
	sums := &tallies.Sums{Columns: make([]*binning.Summary, len(s.Columns)), Units: slices.Repeat([]int{-1}, len(s.Columns))}
	for _, b := range list {
		r := wire.Reader{Rest: b}
		var into **binning.Summary
		switch key := int(r.Uvarint()); key - len(s.Columns) {
		case headKey:
			var head sumsHead
			if err := json.Unmarshal(r.Rest, &head); err != nil {
				return nil, err
			}
			sums.Dropped, sums.TrainRows, sums.Weights, sums.Units = head.Dropped, head.TrainRows, head.Weights, head.Units
			continue
		case labelKey:
			into = &sums.Label
		case classKey:
			into = &sums.ByClass
		default:
			if r.Bad || key >= len(s.Columns) {
				return nil, elements.ErrSummaries
			}
			into = &sums.Columns[key]
		}
		sum, _, err := binning.Decode(r.Rest)
		if err != nil {
			return nil, err
		}
		*into = sum
	}
	return sums, nil
}

// mergeSum merges an encoded summary into another one. A summary without any value fits every type of column.
func mergeSum(into **binning.Summary, encoded []byte, column string) error {
	one, _, err := binning.Decode(encoded)
	if err != nil {
		return err
	}
	other := *into
	switch {
	case other == nil:
		*into = one
		return nil
	case other.Type() == one.Type():
	case one.Weight() == 0:
		one = onlyMissing(other, one.Missing())
	case other.Weight() == 0:
		*into = onlyMissing(one, other.Missing())
	default:
		return tallies.MixedTypes(column)
	}
	if err := (*into).Merge(one); err != nil {
		return fmt.Errorf("column %q: %w", column, err)
	}
	return nil
}

// onlyMissing returns a summary of rows without a value, of the same type as like.
func onlyMissing(like *binning.Summary, missing int64) *binning.Summary {
	s := binning.New(like.Kind(), like.Type(), like.Limits())
	s.AddVector(&dataset.Vector{Type: like.Type(), Index: []int32{-1}}, []int32{0}, []int64{missing})
	return s
}
