package tallies

import (
	"errors"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// rowsReader reads the rows of one part from a tally, in batches, into columns.
type rowsReader struct {
	spec    *Spec
	grouped bool // whether keys end with a bucket
	tally   *dataset.TallyReader
	part    byte
	types   []cellType // by feature, then for the label

	label   dataset.Vector
	columns []dataset.Vector // by feature
	units   Units            // units of the weights
	weights []int64          // weight of all rows equal to each row, in units
	rows    []int64          // number of rows equal to each row
	buckets []uint8          // bucket of the group of each row; 0 if groups need not stay together

	positions []int32 // positions of the rows in the columns: 0, 1, ...

	texts  []map[string]int32 // by feature, then for the label: positions in the dictionary
	recent [][64]int32        // likewise, by length and ends of the text: 1 + the position of a recent text, or 0
	fault  error
}

// rowsTogether is the greatest number of distinct rows that next reads.
const rowsTogether = 1 << 12

func newRowsReader(spec *Spec, tally []byte, part dataset.Part, units Units) (*rowsReader, error) {
	r := &rowsReader{
		spec: spec, grouped: spec.buckets(), part: byte(part), units: units, columns: make([]dataset.Vector, len(spec.Columns)),
		texts: make([]map[string]int32, len(spec.Columns)+1), recent: make([][64]int32, len(spec.Columns)+1),
	}
	var err error
	if r.types, err = spec.typesIn(tally, r.part); err != nil {
		return nil, err
	}
	r.tally, err = dataset.ReadTally(tally)
	return r, err
}

// typesIn returns the types of the features, then of the label. If the Go type does not decide, the
// rows do. A column without any value has the zero cellType.
func (s *Spec) typesIn(tally []byte, part byte) ([]cellType, error) {
	types := make([]cellType, len(s.Columns)+1)
	unknown := s.label.Type == 0
	for i := range s.Columns {
		types[i] = cellType{s.Columns[i].Type, s.Columns[i].Unit}
		unknown = unknown || types[i].typ == 0
	}
	types[len(s.Columns)] = cellType{s.label.Type, s.label.Unit}
	if !unknown {
		return types, nil
	}
	r, err := dataset.ReadTally(tally)
	if err != nil {
		return nil, err
	}
	for r.Next() {
		if len(r.Key) == 0 {
			return nil, ErrRow
		}
		if r.Key[0] != part {
			continue
		}
		rest := r.Key[1:]
		for i := range types {
			at := i - 1
			column := s.Settings.Label
			if i == 0 {
				at = len(s.Columns)
			} else {
				column = s.Columns[at].Name
			}
			var c keyCell
			if c, rest, err = cutCell(rest); err != nil {
				return nil, err
			}
			if types[at].typ == 0 {
				types[at] = c.cellType
			} else if c.typ != 0 && c.cellType != types[at] {
				return nil, MixedTypes(column)
			}
		}
	}
	return types, r.Err()
}

// MixedTypes returns the error for a column whose values have several types.
func MixedTypes(column string) error {
	return &dataset.DataError{Column: column, Problem: "some rows have a number and some a text or a point in time, " +
		"expected one type", Hint: "convert the values, or name the column in Numeric if all texts spell numbers"}
}

// kindOf returns the kind of a feature. If the configuration does not decide, the rows do.
func (r *rowsReader) kindOf(i int) dataset.Kind {
	if kind := r.spec.Columns[i].Kind; kind != 0 {
		return kind
	}
	if r.types[i].typ == dataset.Text {
		return dataset.Categorical
	}
	return dataset.Numeric
}

// next reads the next rows into the columns. It returns false after the last row, and after an
// error: see err.
func (r *rowsReader) next() bool {
	r.weights = r.weights[:0]
	r.rows = r.rows[:0]
	r.buckets = r.buckets[:0]
	r.positions = r.positions[:0]
	for i := range r.columns {
		r.reset(&r.columns[i], i)
	}
	r.reset(&r.label, len(r.columns))
	for len(r.positions) < rowsTogether && r.tally.Next() {
		if len(r.tally.Key) == 0 {
			r.fault = ErrRow
			return false
		}
		if r.tally.Key[0] != r.part {
			continue
		}
		if r.fault = r.row(); r.fault != nil {
			return false
		}
	}
	return len(r.positions) > 0 && r.tally.Err() == nil
}

func (r *rowsReader) err() error { return errors.Join(r.fault, r.tally.Err()) }

// reset empties a column. A column without any value becomes a column of numbers.
func (r *rowsReader) reset(v *dataset.Vector, i int) {
	*v = dataset.Vector{Type: r.types[i].typ, Numbers: v.Numbers[:0], Texts: v.Texts[:0], Index: v.Index[:0]}
	switch v.Type {
	case dataset.Text:
		r.texts[i] = make(map[string]int32)
		r.recent[i] = [64]int32{}
	default:
		v.Type = dataset.Number
		v.Index = nil
	}
}

// row appends the current row of the tally to the columns.
func (r *rowsReader) row() error {
	key, weight, err := r.spec.weightIn(r.tally, r.units)
	if err != nil {
		return err
	}
	rest := key[1:]
	if rest, err = r.cell(&r.label, len(r.columns), rest); err != nil {
		return err
	}
	for i := range r.columns {
		if rest, err = r.cell(&r.columns[i], i, rest); err != nil {
			return err
		}
	}
	bucket := uint8(0)
	if r.grouped {
		if len(rest) == 0 || rest[0] >= dataset.Buckets {
			return ErrRow
		}
		bucket = rest[0]
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return ErrRow
	}
	r.buckets = append(r.buckets, bucket)
	r.positions = append(r.positions, int32(len(r.positions)))
	r.weights = append(r.weights, weight)
	r.rows = append(r.rows, r.tally.Rows)
	return nil
}

// cell appends the first cell of b to the column of feature i and returns what follows it.
func (r *rowsReader) cell(v *dataset.Vector, i int, b []byte) ([]byte, error) {
	c, rest, err := cutCell(b)
	switch {
	case err != nil:
		return nil, err
	case c.typ != 0 && c.typ != v.Type:
		return nil, ErrRow
	case v.Type == dataset.Number && c.typ == 0:
		v.Numbers = append(v.Numbers, math.NaN())
	case v.Type == dataset.Number:
		v.Numbers = append(v.Numbers, c.number)
	case c.typ == 0:
		v.Index = append(v.Index, -1)
	default:
		v.Index = append(v.Index, r.text(v, i, c.text))
	}
	return rest, nil
}

// text returns the position of a text in the dictionary of a column.
func (r *rowsReader) text(v *dataset.Vector, i int, text []byte) int32 {
	ends := len(text)
	if ends > 0 {
		ends += 5*int(text[0]) + 11*int(text[len(text)-1])
	}
	recent := &r.recent[i][ends%64]
	if *recent > 0 && v.Texts[*recent-1] == string(text) {
		return *recent - 1
	}
	at, ok := r.texts[i][string(text)]
	if !ok {
		at = int32(len(v.Texts))
		v.Texts = append(v.Texts, string(text))
		r.texts[i][v.Texts[at]] = at
	}
	*recent = at + 1
	return at
}
