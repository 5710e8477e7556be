package tallied

import (
	"encoding/binary"
	"math"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// AsEarlier changes the kind of the rows of a tally in place: training rows become rows of the
// window before.
func AsEarlier(b []byte) []byte {
	r, err := dataset.ReadTally(b)
	for err == nil && r.Next() {
		if r.Key[0] == ownRows {
			r.Key[0] = earlierRows
		} else {
			r.Key[0] = noRows
		}
	}
	return b
}

// Encoder makes the keys by which rows are counted.
type Encoder struct {
	Key []byte // key of the latest row

	spec     *Spec
	reader   *rowtype.Reader
	coder    *rowCoder         // codes rows by given bins; nil if no bins are given
	classes  map[string]uint16 // given classes; nil if none are given
	position uint64            // hash of the place of the rows, see dataset.HashRow
	cells    []rowtype.Cell
}

// NewEncoder returns an encoder of rows. given has the bins by which rows are coded; nil: none are
// given.
func NewEncoder(s *Spec, given *Plan) (*Encoder, error) {
	names := []string{s.Settings.Label}
	if s.Weighted() {
		names = append(names, s.Settings.Weight)
	}
	if s.Part != "" {
		names = append(names, s.Part)
	}
	first := len(names)
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	e := &Encoder{spec: s, position: dataset.HashPosition(s.Settings.Seed, OrderedFile, 0)}
	var err error
	if len(s.Classes) > 0 {
		e.classes = dataset.ClassCodes(s.Classes)
	}
	if e.reader, err = s.Schema.Reader(names); err == nil && given != nil {
		e.coder = newRowCoder(given, s.Settings.Label)
	}
	for i, c := range s.Columns {
		if c.Kind == dataset.Numeric {
			e.reader.Columns[first+i].Kind = c.Kind
		}
	}
	return e, err
}

// OrderedFile is the name of the Parquet file with a single row group whose rows would be in the
// same parts as ordered rows.
const OrderedFile = "rows.parquet"

// Encode makes the key of a row. at is the position of the row, if rows are ordered. Encode returns
// the weight of the row, and the position in the key where the label ends. labelEnd is 0 if the row
// has no label and is left out.
func (e *Encoder) Encode(row any, at int) (weight float64, labelEnd int, err error) {
	if e.cells, err = e.reader.Read(row, e.cells[:0]); err != nil {
		return 0, 0, err
	}
	if e.spec.Strict {
		if err := e.reader.CheckKeys(row, e.cells); err != nil {
			return 0, 0, err
		}
	}
	weight = 1
	features := e.cells[1:]
	c := &e.spec.Settings
	if e.spec.Weighted() {
		if weight, err = Weigh(&e.cells[1], c.Weight); err != nil {
			return 0, 0, err
		}
		features = features[1:]
	}
	if e.cells[0].Type == 0 {
		if !c.DropNullLabels {
			return 0, 0, NullLabel(c.Label)
		}
		return 0, 0, nil
	}
	if e.classes != nil {
		if _, err := ClassCode(e.classes, e.cells[0].Spell(), c.Label); err != nil {
			return 0, 0, err
		}
	}
	kind, bucket := ownRows, uint8(0)
	switch {
	case e.spec.Part != "":
		part, of, err := e.spec.partOf(&features[0])
		if err != nil {
			return 0, 0, err
		}
		kind, bucket, features = kindOfPart(part), of, features[1:]
	case e.spec.Ordered:
		kind = kindOfPart(c.Split.Of(dataset.HashRow(e.position, at)))
	}
	e.Key = AppendCell(append(e.Key[:0], kind), &e.cells[0])
	labelEnd = len(e.Key)
	for i := range features {
		if err := e.fit(i, &features[i]); err != nil {
			return 0, 0, err
		}
		e.Key = AppendCell(e.Key, &features[i])
	}
	if e.coder != nil {
		e.Key, err = e.coder.code(e.Key[:1], &e.cells[0], features)
	}
	if e.spec.groups() > 0 {
		e.Key = append(e.Key, bucket)
	}
	if e.spec.Weighted() {
		e.Key = AppendWeight(e.Key, weight)
	}
	return weight, labelEnd, err
}

// partOf returns the part of a row, given the cell that decides it, and the bucket of its group; 0
// without a key.
func (s *Spec) partOf(x *rowtype.Cell) (part dataset.Part, bucket uint8, err error) {
	p := dataset.Parting{SplitColumn: s.Part, Shares: s.Settings.Split, Seed: s.Settings.Seed}
	if s.Settings.Key != "" {
		part, bucket = p.OfKey(p.HashKey(x.Type, x.Number, x.Text))
		return part, bucket, nil
	}
	part, ok := dataset.ParsePart(x.Spell())
	if !ok {
		return part, 0, p.NameError(x.Spell(), "the row")
	}
	return part, 0, nil
}

// groups returns up to how many training objects the objects keep the groups of their rows; 0 for
// never.
func (s *Spec) groups() int64 {
	if s.Settings.Key == "" {
		return 0
	}
	return s.foldGroups()
}

// foldGroups is groups for rows that are in groups.
func (s *Spec) foldGroups() int64 {
	settings := s.Settings.Selection()
	return settings.Groups()
}

// fit converts the value of feature i to the type and the unit of the feature, or returns an error.
func (e *Encoder) fit(i int, x *rowtype.Cell) error {
	column := &e.spec.Columns[i]
	if e.coder != nil {
		if f := e.coder.coded[i]; f != nil {
			return x.Fit(f.Name, f.Kind, f.Unit)
		}
	}
	if x.Inexact && (column.Kind != dataset.Categorical || column.Type == dataset.Number) {
		return dataset.WithHint(rowtype.Refused(column.Name, x.Text, column.Unit), "make it a text, or leave the column out")
	}
	if column.Kind == dataset.Numeric {
		return x.Fit(column.Name, column.Kind, column.Unit)
	}
	return nil
}

// NullLabel returns the error for a row without a label.
func NullLabel(column string) error {
	return dataset.NullLabel(column, "a row", "set DropNullLabels to leave such rows out")
}

// rowCoder encodes rows one by one, by given bins.
type rowCoder struct {
	plan     *Plan
	label    string
	classes  map[string]uint16
	encoders []*dataset.Encoder
	coded    map[int]*dataset.Feature // by position in Spec.Columns

	vector  dataset.Vector
	scratch []uint16
}

func newRowCoder(p *Plan, label string) *rowCoder {
	c := &rowCoder{
		plan: p, label: label, classes: dataset.ClassCodes(p.Classes), encoders: dataset.NewEncoders(p.features),
		coded: make(map[int]*dataset.Feature),
	}
	for i := range p.features {
		c.coded[p.Columns[i]] = &p.features[i]
	}
	return c
}

// code appends the code of a row's class and the codes of its features to dst.
func (c *rowCoder) code(dst []byte, label *rowtype.Cell, features []rowtype.Cell) ([]byte, error) {
	class, err := ClassCode(c.classes, label.Spell(), c.label)
	if err != nil {
		return nil, err
	}
	dst = binary.AppendUvarint(dst, uint64(class))
	at := len(dst)
	dst = append(dst, make([]byte, c.plan.layout.Stride)...)
	for i, encoder := range c.encoders {
		x := &features[c.plan.Columns[i]]
		v := &c.vector
		if x.Type == dataset.Text {
			if c.plan.features[i].Kind == dataset.Numeric {
				return nil, MixedTypes(c.plan.features[i].Name)
			}
			*v = dataset.Vector{
				Type: dataset.Text, Index: append(v.Index[:0], 0), Texts: append(v.Texts[:0], x.Text),
				Numbers: v.Numbers,
			}
		} else {
			number := x.Number
			if x.Type == 0 {
				number = math.NaN()
			}
			*v = dataset.Vector{Type: dataset.Number, Numbers: append(v.Numbers[:0], number), Texts: v.Texts}
		}
		c.scratch = encoder.Encode(v, dst[at:], c.plan.layout.Offsets[i], c.plan.layout.Stride, c.scratch)
	}
	return dst, nil
}
