package tallies

import (
	"github.com/espalier-ml/espalier/induce/binning"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
)

// Sums summarises tallied rows: the distribution of each column's values.
type Sums struct {
	Columns []*binning.Summary // by feature; nil: no row has been read
	Label   *binning.Summary   // nil: no row has been read
	ByClass *binning.Summary   // the label with the weights of training rows; nil: classes have no weights
	Units   []int              // dataset.Unit by feature; -1: no value is known

	Dropped   int64 // rows without a label
	TrainRows int64 // training rows with a weight above 0
	Weights   Units // units of the weights
}

// rows returns the number of rows that Columns summarises.
func (s *Sums) rows() int64 { return s.Label.Weight() + s.Dropped }

// Summarise summarises the rows of a tally: the features of training rows, and the
// label of all rows.
func (s *Spec) Summarise(tally []byte, units Units) (*Sums, error) {
	sums, err := s.summarise(tally, dataset.Train, units)
	for part := dataset.Validation; err == nil && part < dataset.Part(dataset.Parts) && s.parted(); part++ {
		var more *Sums
		if more, err = s.summarise(tally, part, units); err == nil {
			err = sums.addAside(more)
		}
	}
	return sums, err
}

// addAside adds the labels of rows that are set aside.
func (s *Sums) addAside(aside *Sums) error {
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

// summarise summarises the rows of a part in a tally.
func (s *Spec) summarise(tally []byte, part dataset.Part, units Units) (*Sums, error) {
	r, err := newRowsReader(s, tally, part, units)
	if err != nil {
		return nil, err
	}
	sums := &Sums{
		Columns: make([]*binning.Summary, len(s.Columns)), Units: make([]int, len(s.Columns)),
		Dropped: r.tally.Dropped, Weights: units,
	}
	for i := range sums.Units {
		if sums.Units[i] = int(r.types[i].unit); r.types[i].typ == 0 {
			sums.Units[i] = -1
		}
	}
	limits := binning.Limits{Values: s.Settings.MaxValues, Categories: binning.DefaultLimits().Categories}
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
		if part == dataset.Train && s.weighs() {
			if sums.ByClass == nil {
				sums.ByClass = binning.New(dataset.Categorical, r.label.Type, limits)
			}
			sums.ByClass.AddVector(&r.label, r.positions, r.weights)
		}
		sums.TrainRows += portable.Sum(r.rows)
	}
	return sums, r.err()
}
