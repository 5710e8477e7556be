package transforms

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/parallel"
	"github.com/espalier-ml/espalier/induce/tallies"
	"github.com/espalier-ml/espalier/induce/wire"
)

// appendSums encodes the summaries: the length and the bytes of a sumsHead in JSON, then
// the summary of each column, of the label and of the weights by class.
func appendSums(b []byte, s *tallies.Sums) ([]byte, error) {
	head := elements.MustJSON(sumsHead{s.Dropped, s.TrainRows, s.Weights, s.Units})
	b = wire.Writer(b).Bytes(head)
	var scratch []byte
	var err error
	for _, sum := range append(s.Columns[:len(s.Columns):len(s.Columns)], s.Label, s.ByClass) {
		if b, scratch, err = elements.AppendSummary(b, scratch, sum); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// sumsHead is the part of tallies.Sums that is encoded as JSON.
type sumsHead struct {
	Dropped   int64
	TrainRows int64
	Weights   tallies.Units
	Units     []int
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

// mergeSums merges values of appendSums. Their order does not matter.
func (s *trainSpec) mergeSums(list [][]byte) (*tallies.Sums, error) {
	sums := &tallies.Sums{Columns: make([]*binning.Summary, len(s.Columns)), Units: slices.Repeat([]int{-1}, len(s.Columns))}
	encoded := make([][][]byte, len(s.Columns)+2) // by column, then of the label, and of the weights by class
	for _, b := range list {
		first, rest, err := elements.CutSummary(b)
		if err != nil {
			return nil, err
		}
		var head sumsHead
		if err := json.Unmarshal(first, &head); err != nil {
			return nil, err
		}
		if err := s.mergeUnits(sums.Units, head.Units); err != nil {
			return nil, err
		}
		sums.TrainRows += head.TrainRows
		sums.Dropped += head.Dropped
		sums.Weights = head.Weights // the same of all shards
		for i := range encoded {
			if first, rest, err = elements.CutSummary(rest); err != nil {
				return nil, err
			}
			encoded[i] = append(encoded[i], first)
		}
	}
	faults := make([]error, len(encoded))
	parallel.Each(len(encoded), runtime.GOMAXPROCS(0), func(i int) {
		into := &sums.Label
		column := s.Settings.Label
		switch {
		case i < len(s.Columns):
			into = &sums.Columns[i]
			column = s.Columns[i].Name
		case i > len(s.Columns):
			into = &sums.ByClass
		}
		for _, b := range encoded[i] {
			if faults[i] = mergeSum(into, b, column); faults[i] != nil {
				return
			}
		}
	})
	return sums, parallel.First(faults)
}

// mergeSum merges an encoded summary into another one. A summary without any value fits every type of column.
func mergeSum(into **binning.Summary, encoded []byte, column string) error {
	if len(encoded) == 0 {
		return nil
	}
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
