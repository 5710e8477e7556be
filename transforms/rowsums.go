package transforms

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/transforms/jobs"
)

// rowSums summarises tallied rows: the distribution of each column's values.
type rowSums struct {
	Columns []*binning.Summary // by feature; nil: no row has been read
	Label   *binning.Summary   // nil: no row has been read
	ByClass *binning.Summary   // of the label, with the weights of training rows; nil: classes have no weights
	Units   []int              // dataset.Unit by feature; -1: no value is known

	BinRows   int64     // rows of Columns if these are other rows than those of Label; else 0
	Dropped   int64     // rows without a label
	TrainRows int64     // training rows with a weight above 0
	Weights   kindUnits // units of the weights
}

// rows returns the number of rows that Columns summarises.
func (s *rowSums) rows() int64 {
	if s.BinRows > 0 {
		return s.BinRows
	}
	return s.Label.Weight() + s.Dropped
}

// summariseOwn summarises the window's own rows in a tally: the features of training rows, and the
// label of all rows.
func (s *trainSpec) summariseOwn(tally []byte, units kindUnits) (*rowSums, error) {
	sums, err := s.summarise(tally, ownRows, units)
	for part := dataset.Validation; err == nil && part < dataset.Part(dataset.Parts) && s.Part != ""; part++ {
		var more *rowSums
		if more, err = s.summarise(tally, kindOfPart(part), units); err == nil {
			err = sums.addAside(more)
		}
	}
	return sums, err
}

// addAside adds the labels of rows that are set aside.
func (s *rowSums) addAside(aside *rowSums) error {
	switch {
	case aside.Label == nil:
		return nil
	case s.Label == nil:
		s.Label = aside.Label
		return nil
	default:
		return s.Label.Merge(aside.Label)
	}
}

// summarise summarises the rows of a kind in a tally.
func (s *trainSpec) summarise(tally []byte, kind byte, units kindUnits) (*rowSums, error) {
	r, err := newRowsReader(s, tally, kind, units)
	if err != nil {
		return nil, err
	}
	sums := &rowSums{
		Columns: make([]*binning.Summary, len(s.Columns)), Units: make([]int, len(s.Columns)),
		Dropped: r.tally.Dropped, Weights: units,
	}
	for i := range sums.Units {
		if sums.Units[i] = int(r.types[i].unit); r.types[i].typ == 0 {
			sums.Units[i] = -1
		}
	}
	limits := binning.Limits{Values: s.Config.MaxValues, Categories: binning.DefaultLimits().Categories}
	for r.next() {
		for i := range r.columns {
			v := &r.columns[i]
			if sums.Columns[i] == nil {
				sums.Columns[i] = binning.New(r.kindOf(i), v.Type, limits)
			}
			sums.Columns[i].AddVector(v, r.positions, r.weights)
		}
		if sums.Label == nil {
			sums.Label = binning.New(dataset.Categorical, r.label.Type, limits)
		}
		sums.Label.AddVector(&r.label, r.positions, r.rows)
		if kind == ownRows && s.weighs() {
			if sums.ByClass == nil {
				sums.ByClass = binning.New(dataset.Categorical, r.label.Type, limits)
			}
			sums.ByClass.AddVector(&r.label, r.positions, r.weights)
		}
		for _, rows := range r.rows {
			sums.TrainRows += rows
		}
	}
	return sums, r.err()
}

// appendSums encodes the summaries: the length and the bytes of a sumsHead in JSON, then
// the summary of each column, of the label and of the weights by class.
func appendSums(b []byte, s *rowSums) ([]byte, error) {
	head := jobs.MustJSON(sumsHead{s.Dropped, s.TrainRows, s.Weights, s.Units})
	b = append(binary.AppendUvarint(b, uint64(len(head))), head...)
	var err error
	for _, sum := range append(s.Columns[:len(s.Columns):len(s.Columns)], s.Label, s.ByClass) {
		if b, err = jobs.AppendSummary(b, sum); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// sumsHead is the part of rowSums that is encoded as JSON.
type sumsHead struct {
	Dropped   int64
	TrainRows int64
	Weights   kindUnits
	Units     []int
}

// mergeUnits adds the units of further rows to those of earlier ones, by feature.
func (s *trainSpec) mergeUnits(into, from []int) error {
	for i, unit := range from {
		switch {
		case i >= len(into):
			return jobs.ErrSummaries
		case into[i] < 0:
			into[i] = unit
		case unit >= 0 && unit != into[i]:
			return mixedTypes(s.Columns[i].Name)
		}
	}
	return nil
}

// mergeSums merges values of appendSums. Their order does not matter.
func (s *trainSpec) mergeSums(list [][]byte) (*rowSums, error) {
	sums := &rowSums{Columns: make([]*binning.Summary, len(s.Columns)), Units: slices.Repeat([]int{-1}, len(s.Columns))}
	for _, b := range list {
		encoded, rest, err := jobs.CutSummary(b)
		if err != nil {
			return nil, err
		}
		var head sumsHead
		if err := json.Unmarshal(encoded, &head); err != nil {
			return nil, err
		}
		if err := s.mergeUnits(sums.Units, head.Units); err != nil {
			return nil, err
		}
		sums.TrainRows += head.TrainRows
		sums.Dropped += head.Dropped
		sums.Weights = head.Weights // the same of all shards
		for i := range s.Columns {
			if rest, err = mergeSum(&sums.Columns[i], rest, s.Columns[i].Name); err != nil {
				return nil, err
			}
		}
		for _, label := range []**binning.Summary{&sums.Label, &sums.ByClass} {
			if rest, err = mergeSum(label, rest, s.Config.Label); err != nil {
				return nil, err
			}
		}
	}
	return sums, nil
}

// mergeSum merges the first summary of b into another one and returns the bytes behind
// it. A summary without any value fits every type of column.
func mergeSum(into **binning.Summary, b []byte, column string) ([]byte, error) {
	encoded, rest, err := jobs.CutSummary(b)
	if err != nil || len(encoded) == 0 {
		return rest, err
	}
	one, _, err := binning.Decode(encoded)
	if err != nil {
		return nil, err
	}
	other := *into
	switch {
	case other == nil:
		*into = one
		return rest, nil
	case other.Type() == one.Type():
	case one.Weight() == 0:
		one = onlyMissing(other, one.Missing())
	case other.Weight() == 0:
		*into = onlyMissing(one, other.Missing())
	default:
		return nil, mixedTypes(column)
	}
	if err := (*into).Merge(one); err != nil {
		return nil, fmt.Errorf("column %q: %w", column, err)
	}
	return rest, nil
}

// onlyMissing returns a summary of rows without a value, of the same type as like.
func onlyMissing(like *binning.Summary, missing int64) *binning.Summary {
	s := binning.New(like.Kind(), like.Type(), like.Limits())
	s.AddVector(&dataset.Vector{Type: like.Type(), Index: []int32{-1}}, []int32{0}, []int64{missing})
	return s
}
