package tallies

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/selection"
	"github.com/espalier-ml/espalier/induce/weighing"
)

// ClassCode returns the code of a class. label is the column, for the error.
func ClassCode(codes *dataset.ClassCodes, name, label string) (uint16, error) {
	k, ok := codes.Read(name)
	if !ok {
		return 0, &dataset.DataError{
			Column: label, Value: name, Problem: "not one of the classes",
			Hint: "filter such rows out before",
		}
	}
	return k, nil
}

// Tables are the objects of each part of the rows.
type Tables [dataset.Parts]*dataset.Table

// NewTables returns tables without objects.
func (s *Spec) NewTables(p *Plan) (tables Tables) {
	for part := range tables {
		tables[part] = dataset.NewTable(p.layout, s.Weighted() || s.weighs())
	}
	if s.weightClasses(p) {
		tables[dataset.Train].KeepGroups(s.foldGroups())
	}
	if most := s.groups(); most > 0 {
		tables[dataset.Train].KeepGroups(most)
		tables[dataset.Validation].KeepGroups(selection.MostMeasured)
		tables[dataset.Test].KeepGroups(selection.MostMeasured)
	}
	return tables
}

// weightClasses reports whether objects keep the classes of their rows' weights: weights are unequal, and rows
// have no keys.
func (s *Spec) weightClasses(p *Plan) bool {
	return s.Settings.Group == "" && s.foldGroups() > 0 && p.Units != nil && p.Units[dataset.Train].Effect > 1
}

// Code turns the rows of a tally into objects: it encodes each row and merges rows of
// equal codes.
func (s *Spec) Code(tally []byte, p *Plan) (Tables, error) {
	tables := s.NewTables(p)
	for part := range tables {
		if part > 0 && !s.parted() {
			break
		}
		if err := s.codePart(tally, p, dataset.Part(part), tables[part]); err != nil {
			return tables, err
		}
	}
	return tables, nil
}

// codePart turns the rows of a part into objects.
func (s *Spec) codePart(tally []byte, p *Plan, part dataset.Part, t *dataset.Table) error {
	r, err := newRowsReader(s, tally, part, p.Units)
	if err != nil {
		return err
	}
	classes := dataset.NewClassCodes(p.Classes)
	encoders := dataset.NewEncoders(p.features)
	rule := p.rule(part)
	stride := p.layout.Stride
	byWeight := s.weightClasses(p)
	var keys []byte
	var scratch []uint16
	for r.next() {
		keys = slices.Grow(keys[:0], len(r.positions)*stride)[:len(r.positions)*stride]
		for i, encoder := range encoders {
			v := &r.columns[p.Columns[i]]
			if v.Type == dataset.Text && p.features[i].Kind == dataset.Numeric {
				return MixedTypes(p.features[i].Name)
			}
			scratch = encoder.Encode(v, keys, p.layout.Offsets[i], stride, scratch)
		}
		for row := range r.positions {
			class, err := ClassCode(classes, r.label.Spell(row), s.Settings.Label)
			if err != nil {
				return err
			}
			key := keys[row*stride : (row+1)*stride]
			if w := weighed(rule, r.weights[row], r.rows[row], class); w > 0 {
				bucket := r.buckets[row]
				if byWeight {
					bucket = dataset.WeightClass(r.weights[row]/r.rows[row], p.Units[part].Scale)
				}
				t.AddGrouped(key, dataset.HashKey(key), bucket, class, w, r.rows[row])
			}
		}
	}
	return r.err()
}

// weighed returns the weight of equal rows of a class, times the factor of the class. Rows are
// rounded individually.
func weighed(rule *weighing.Rule, weight, rows int64, class uint16) int64 {
	if len(rule.ClassWeights) == 0 {
		return weight
	}
	return rows * rule.Weighed(weight/rows, class)
}
