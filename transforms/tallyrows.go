package transforms

import (
	"errors"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// rowsReader reads the rows of a kind in a tally, some at a time, as columns.
type rowsReader struct {
	spec  *trainSpec
	tally *dataset.TallyReader
	kind  byte
	types []cellType // of the features and, at last, the label

	label   dataset.Vector
	columns []dataset.Vector
	weights []int64
	rows    []int64
	all     []int32 // 0, 1, ..

	scaled []int64
	texts  []map[string]int32 // by feature and label: positions in their dictionaries
	fault  error
}

// rowsTogether is the number of distinct rows that are columns at a time.
const rowsTogether = 1 << 14

func newRowsReader(spec *trainSpec, tally []byte, kind byte) (*rowsReader, error) {
	r := &rowsReader{
		spec: spec, kind: kind, columns: make([]dataset.Vector, len(spec.Columns)),
		texts: make([]map[string]int32, len(spec.Columns)+1),
	}
	var err error
	if r.types, err = spec.typesIn(tally, kind); err != nil {
		return nil, err
	}
	r.tally, err = dataset.ReadTally(tally)
	return r, err
}

// typesIn returns the types of the features and, at last, of the label, where
// some are known only from the rows. Of a column without a value it is 0.
func (s *trainSpec) typesIn(tally []byte, kind byte) ([]cellType, error) {
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
			return nil, errRow
		}
		if r.Key[0] != kind {
			continue
		}
		rest := r.Key[1:]
		for i := range types {
			at, column := i-1, s.Config.Label
			if i == 0 {
				at = len(s.Columns)
			} else {
				column = s.Columns[at].Name
			}
			var c tallied
			if c, rest, err = cutCell(rest); err != nil {
				return nil, err
			}
			if types[at].typ == 0 {
				types[at] = c.cellType
			} else if c.typ != 0 && c.cellType != types[at] {
				return nil, mixed(column)
			}
		}
	}
	return types, r.Err()
}

func mixed(column string) error {
	return &dataset.DataError{Column: column, Problem: "some rows have a number and some a text or a point in time, " +
		"expected one type", Hint: "convert the values, or name the column in Numeric if all are numbers"}
}

// kindOf returns the kind of a feature, which may depend on the rows.
func (r *rowsReader) kindOf(i int) dataset.Kind {
	if kind := r.spec.Columns[i].Kind; kind != 0 {
		return kind
	}
	if r.types[i].typ == dataset.Text {
		return dataset.Categorical
	}
	return dataset.Numeric
}

// next reads the next rows into the columns. It returns false after the last one
// and at a fault: see err.
func (r *rowsReader) next() bool {
	r.weights, r.rows, r.all = r.weights[:0], r.rows[:0], r.all[:0]
	for i := range r.columns {
		r.reset(&r.columns[i], i)
	}
	r.reset(&r.label, len(r.columns))
	for len(r.all) < rowsTogether && r.tally.Next() {
		if len(r.tally.Key) == 0 {
			r.fault = errRow
			return false
		}
		if r.tally.Key[0] != r.kind {
			continue
		}
		if r.fault = r.row(); r.fault != nil {
			return false
		}
	}
	return len(r.all) > 0 && r.tally.Err() == nil
}

func (r *rowsReader) err() error { return errors.Join(r.fault, r.tally.Err()) }

func (r *rowsReader) reset(v *dataset.Vector, i int) {
	*v = dataset.Vector{Type: r.types[i].typ, Numbers: v.Numbers[:0], Texts: v.Texts[:0], Index: v.Index[:0]}
	switch v.Type {
	case dataset.Text:
		r.texts[i] = make(map[string]int32)
	default: // without any value: numbers, none of which there is
		v.Type, v.Index = dataset.Number, nil
	}
}

func (r *rowsReader) row() error {
	rest := r.tally.Key[1:]
	var err error
	if rest, err = r.cell(&r.label, len(r.columns), rest); err != nil {
		return err
	}
	for i := range r.columns {
		if rest, err = r.cell(&r.columns[i], i, rest); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return errRow
	}
	r.all = append(r.all, int32(len(r.all)))
	r.weights, r.rows = append(r.weights, r.tally.Weight), append(r.rows, r.tally.Rows)
	return nil
}

func (r *rowsReader) cell(v *dataset.Vector, i int, b []byte) ([]byte, error) {
	c, rest, err := cutCell(b)
	switch {
	case err != nil:
		return nil, err
	case c.typ != 0 && c.typ != v.Type:
		return nil, errRow
	case v.Type == dataset.Number && c.typ == 0:
		v.Numbers = append(v.Numbers, math.NaN())
	case v.Type == dataset.Number:
		v.Numbers = append(v.Numbers, c.number)
	case c.typ == 0:
		v.Index = append(v.Index, -1)
	default:
		at, ok := r.texts[i][string(c.text)]
		if !ok {
			at = int32(len(v.Texts))
			v.Texts = append(v.Texts, string(c.text))
			r.texts[i][v.Texts[at]] = at
		}
		v.Index = append(v.Index, at)
	}
	return rest, nil
}
