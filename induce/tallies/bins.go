package tallies

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/drift"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/induce/wire"
)

// Bins are the features of a training, with its training rows by feature and code.
type Bins struct {
	Features []dataset.Feature
	Rows     [][]int64
}

// BinCounts counts rows by the bins of a training and by the nodes of its tree.
type BinCounts struct {
	Features []dataset.Feature
	Codes    [][]int64        // rows by feature and code
	Nodes    []int64          // rows by node at which they end
	Keys     *drift.KeyCounts // nil if rows have no keys

	columns []int // by feature: position in Spec.Columns
}

// newBinCounts returns zero counts.
func (s *Spec) newBinCounts(b *Bins, columns []int, t *tree.Tree) *BinCounts {
	c := &BinCounts{Features: b.Features, columns: columns, Nodes: make([]int64, len(t.Nodes))}
	for i := range b.Features {
		c.Codes = append(c.Codes, make([]int64, b.Features[i].Codes()))
	}
	if s.keyed() {
		c.Keys = drift.NewKeyCounts(b.Features, b.Rows)
	}
	return c
}

// MeasureBins lets m also count rows: the training rows, if they have keys, by the bins of the grown tree, whose rows by
// feature and code are given, and by its nodes the validation and test rows, see Own; and, unless earlier is nil, all
// rows by the bins of the earlier training and the nodes of its tree, see Earlier. Earlier lacks the features whose bins
// the rows do not have: uncounted says why. Each text completes a sentence that begins with the earlier training and has.
func (m *Measured) MeasureBins(rows [][]int64, earlier *Bins) (uncounted []string) {
	m.Own = m.spec.newBinCounts(&Bins{m.plan.features, rows}, m.plan.Columns, m.trees[0])
	if earlier == nil || len(m.trees) < 2 {
		return nil
	}
	var columns []int
	var counted Bins
	for i := range earlier.Features {
		f := &earlier.Features[i]
		at, err := m.spec.columnOf(m.plan, f.Name, f.Kind, f.Unit)
		if err != nil {
			uncounted = append(uncounted, err.Error())
			continue
		}
		columns = append(columns, at)
		counted.Features, counted.Rows = append(counted.Features, *f), append(counted.Rows, earlier.Rows[i])
	}
	m.Earlier = m.spec.newBinCounts(&counted, columns, m.trees[1])
	return uncounted
}

// columnOf returns the position of a feature of another training in Columns. The error completes a sentence that begins
// with the other training, and a verb.
func (s *Spec) columnOf(p *Plan, name string, kind dataset.Kind, unit dataset.Unit) (int, error) {
	i := slices.IndexFunc(s.Columns, func(c dataset.FeatureColumn) bool { return c.Name == name })
	switch {
	case i < 0:
		return 0, fmt.Errorf("the column %q, which is not a feature of this training", name)
	case s.Columns[i].Type == dataset.Number && kind == dataset.Numeric && s.Columns[i].Unit != unit:
		return 0, fmt.Errorf("the column %q as values of unit %v, and the rows have unit %v", name, unit, s.Columns[i].Unit)
	case s.Columns[i].Type == dataset.Text && kind == dataset.Numeric:
		return 0, fmt.Errorf("the column %q as %s values, and the rows have texts", name, kind)
	}
	if s.Columns[i].Type != 0 {
		return i, nil
	}
	fitted := slices.IndexFunc(p.features, func(f dataset.Feature) bool { return f.Name == name }) // the rows decide
	if fitted < 0 {
		return 0, fmt.Errorf("the column %q, which has no values, a single value or too many texts in the rows", name)
	}
	if f := &p.features[fitted]; f.Kind != kind || f.Unit != unit {
		return 0, fmt.Errorf("the column %q as %s values of unit %v, and the rows have %s values of unit %v", name, kind, unit, f.Kind,
			f.Unit)
	}
	return i, nil
}

// encode sets codes to the codes of the rows of a batch, by feature.
func (c *BinCounts) encode(r *rowsReader, encoders []*dataset.Encoder, codes [][]byte, scratch []uint16) ([]uint16, error) {
	for i, encoder := range encoders {
		v := &r.columns[c.columns[i]]
		if v.Type == dataset.Text && c.Features[i].Kind == dataset.Numeric {
			return scratch, MixedTypes(c.Features[i].Name)
		}
		n := codeBytes * len(r.positions)
		codes[i] = slices.Grow(codes[i][:0], n)[:n]
		scratch = encoder.Encode(v, codes[i], 0, codeBytes, scratch)
	}
	return scratch, nil
}

// codeBytes is the width of a code.
const codeBytes = 2

// count counts equal rows by their codes: row is their position in the batch.
func (c *BinCounts) count(codes [][]byte, row int, bucket uint8, rows int64) {
	for i, list := range codes {
		code := int(list[codeBytes*row]) | int(list[codeBytes*row+1])<<8
		c.Codes[i][code] += rows
		if c.Keys != nil {
			c.Keys.Count(i, code, bucket, rows)
		}
	}
}

// binBatch counts the rows of batches.
type binBatch struct {
	to       *BinCounts
	encoders []*dataset.Encoder
	codes    [][]byte
	scratch  []uint16
}

// binsOf lists the counts that the rows of a part have.
func (m *Measured) binsOf(part dataset.Part) (list []*binBatch) {
	for _, c := range []*BinCounts{m.Own, m.Earlier} {
		if c == nil || c == m.Own && (part != dataset.Train || c.Keys == nil) {
			continue
		}
		list = append(list, &binBatch{to: c, encoders: dataset.NewEncoders(c.Features), codes: make([][]byte, len(c.Features))})
	}
	return list
}

// add counts the rows of a batch.
func (b *binBatch) add(r *rowsReader) (err error) {
	if b.scratch, err = b.to.encode(r, b.encoders, b.codes, b.scratch); err != nil {
		return err
	}
	for row, rows := range r.rows {
		b.to.count(b.codes, row, r.buckets[row], rows)
	}
	return nil
}

// Encode returns the counts in a form that merges.
func (c *BinCounts) Encode() []byte {
	var b wire.Writer
	for _, list := range append(slices.Clone(c.Codes), c.Nodes) {
		for _, rows := range list {
			b = b.Count(rows)
		}
	}
	if c.Keys != nil {
		b = b.Bytes(c.Keys.Encode())
	}
	return b
}

// Merge adds encoded counts of the same features and nodes.
func (c *BinCounts) Merge(encoded []byte) error {
	r := wire.Reader{Rest: encoded}
	for _, list := range append(slices.Clone(c.Codes), c.Nodes) {
		for i := range list {
			list[i] += r.Count()
		}
	}
	if c.Keys != nil && !r.Bad {
		return c.Keys.Merge(r.Bytes())
	}
	if r.Bad {
		return ErrRow
	}
	return nil
}
