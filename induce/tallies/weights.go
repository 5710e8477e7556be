package tallies

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// Weigh reads the weight of a row.
func Weigh(x *rowtype.Cell, column string) (float64, error) {
	if err := x.AsNumber(column, dataset.Plain); err != nil {
		return 0, dataset.WithHint(err, rowtype.Wanted(dataset.Numeric, dataset.Plain))
	}
	if x.Type == 0 {
		x.Number = math.NaN()
	}
	if fault := dataset.WeightFault(x.Number); fault != "" {
		spelled := ""
		if x.Type != 0 {
			spelled = x.Spell()
		}
		return 0, dataset.WeightError(column, spelled, "a row", fault, "")
	}
	return x.Number, nil
}

// weightBytes is the length of the cell of a weight.
const weightBytes = 1 + 8

// AppendWeight appends the cell of a weight to a key.
func AppendWeight(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(dataset.Number)), math.Float64bits(x))
}

// CutWeight takes the cell of the weight off the end of a key.
func CutWeight(key []byte) (x float64, rest []byte, err error) {
	at := len(key) - weightBytes
	if at < 1 || key[at] != byte(dataset.Number) {
		return 0, nil, ErrRow
	}
	x = math.Float64frombits(binary.BigEndian.Uint64(key[at+1:]))
	if dataset.WeightFault(x) != "" || x == 0 {
		return 0, nil, ErrRow
	}
	return x, key[:at], nil
}

// Units are the units of the weights by part; nil if rows have no weights.
type Units = *[dataset.Parts]dataset.WeightUnit

// SumWeights adds up the weights of the rows in a tally by part; nil if rows have no weights.
func (s *Spec) SumWeights(tally []byte) (*[dataset.Parts]*dataset.WeightSums, error) {
	if !s.Weighted() {
		return nil, nil //nolint:nilnil // there is nothing to sum up
	}
	r, err := dataset.ReadTally(tally)
	if err != nil {
		return nil, err
	}
	sums := new([dataset.Parts]*dataset.WeightSums)
	for part := range sums {
		sums[part] = new(dataset.WeightSums)
	}
	for r.Next() {
		if len(r.Key) == 0 || r.Key[0] >= byte(dataset.Parts) {
			return nil, ErrRow
		}
		x, _, err := CutWeight(r.Key)
		if err != nil {
			return nil, err
		}
		sums[r.Key[0]].Add(x, r.Rows)
	}
	return sums, r.Err()
}

// unitsIn returns the units of the weights in a tally.
func (s *Spec) unitsIn(tally []byte) (Units, error) {
	sums, err := s.SumWeights(tally)
	if err != nil || sums == nil {
		return nil, err
	}
	units := dataset.WeightUnits(sums)
	return &units, nil
}

// weightIn returns the key of the current rows of a tally without the weight, and the weight of all
// these rows.
func (s *Spec) weightIn(r *dataset.TallyReader, units Units) (key []byte, weight int64, err error) {
	if !s.Weighted() {
		return r.Key, r.Rows, nil
	}
	x, key, err := CutWeight(r.Key)
	if err != nil {
		return nil, 0, err
	}
	unit := &units[key[0]]
	each := unit.Of(x)
	if each == 0 {
		return nil, 0, TooSmall(s.Settings.Weight, x, unit)
	}
	if each > maxTallied/r.Rows {
		return nil, 0, &dataset.DataError{
			Column: s.Settings.Weight, Value: fmt.Sprint(x),
			Problem: "the weights of equal rows add up to more than can be counted", Hint: "train on a part of the rows",
		}
	}
	return key, each * r.Rows, nil
}

// TooSmall returns the error for a weight that rounds to 0 units.
func TooSmall(column string, x float64, unit *dataset.WeightUnit) error {
	return dataset.WeightError(column, fmt.Sprint(x), "a row", unit.TooSmall(), "set it to 0, or filter such rows out before")
}

// maxTallied bounds the weight of equal rows.
const maxTallied = 1 << 62
