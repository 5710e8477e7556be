package tallies

import (
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/frontier/crossvalidate"
	"github.com/espalier-ml/espalier/induce/rowtype"
)

// Encoder makes the keys by which rows are counted.
type Encoder struct {
	Key []byte // key of the latest row

	spec     *Spec
	reader   *rowtype.Reader
	classes  *dataset.ClassCodes // given classes; nil if none are given
	position uint64              // hash of the place of the rows, see dataset.HashRow
	cells    []rowtype.Cell
}

// NewEncoder returns an encoder of rows.
func NewEncoder(s *Spec) (*Encoder, error) {
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
		e.classes = dataset.NewClassCodes(s.Classes)
	}
	e.reader, err = s.Schema.Reader(names)
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
	e.spell(&e.cells[0])
	part := dataset.Train
	bucket := uint8(0)
	switch {
	case e.spec.Part != "":
		if part, bucket, err = e.spec.partOf(&features[0]); err != nil {
			return 0, 0, err
		}
		features = features[1:]
	case e.spec.Ordered:
		part = c.Split.Of(dataset.HashRow(e.position, at))
	}
	e.Key = AppendCell(append(e.Key[:0], byte(part)), &e.cells[0])
	labelEnd = len(e.Key)
	for i := range features {
		if err := e.fit(i, &features[i]); err != nil {
			return 0, 0, err
		}
		e.Key = AppendCell(e.Key, &features[i])
	}
	if e.spec.buckets() {
		e.Key = append(e.Key, bucket)
	}
	if e.spec.Weighted() {
		e.Key = AppendWeight(e.Key, weight)
	}
	return weight, labelEnd, nil
}

// partOf returns the part of a row, given the cell that decides it, and the bucket of its group; 0
// without a key.
func (s *Spec) partOf(x *rowtype.Cell) (part dataset.Part, bucket uint8, err error) {
	p := dataset.Parting{SplitColumn: s.Part, Shares: s.Settings.Split, Seed: s.Settings.Seed}
	if s.Settings.Group != "" {
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
	if s.Settings.Group == "" {
		return 0
	}
	return s.foldGroups()
}

// buckets reports whether keys end with the bucket of the group of their rows.
func (s *Spec) buckets() bool { return s.groups() > 0 || s.Measures && s.keyed() }

// foldGroups is groups for rows that are in groups.
func (s *Spec) foldGroups() int64 {
	settings := s.Settings.Selection()
	if split := s.Settings.Split; settings.Folds.Auto && split[dataset.Train] > 0 && split[dataset.Validation] == 0 {
		settings.Folds = crossvalidate.Setting{Number: crossvalidate.AutoFolds} // as Narrowed does without validation rows
	}
	return settings.Groups()
}

// fit converts the value of feature i to the type and the unit of the feature, or returns an error.
func (e *Encoder) fit(i int, x *rowtype.Cell) error {
	column := &e.spec.Columns[i]
	if _, ordered := e.spec.Settings.Ordered[column.Name]; ordered || column.Kind == dataset.Categorical {
		e.spell(x)
	}
	if x.Inexact && (column.Kind != dataset.Categorical || column.Type == dataset.Number) {
		return dataset.WithHint(rowtype.Refused(column.Name, x.Text, column.Unit), "make it a text, or leave the column out")
	}
	if column.Kind == dataset.Numeric {
		return x.Fit(column.Name, column.Kind, column.Unit)
	}
	return nil
}

// spell makes a number a text if the values of its column are texts: see Spec.Spell.
func (e *Encoder) spell(x *rowtype.Cell) {
	if e.spec.Spell && e.spec.Schema.Map && x.Type == dataset.Number {
		*x = rowtype.Cell{Type: dataset.Text, Text: x.Spell()}
	}
}

// NullLabel returns the error for a row without a label.
func NullLabel(column string) error {
	return dataset.NullLabel(column, "a row", "set DropNullLabels to leave such rows out")
}
