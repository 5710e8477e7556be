package jobs

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Parting says which part of the split a row belongs to. It is the one rule for Parquet files and for
// rows in pipelines.
type Parting struct {
	SplitColumn string `json:"split_column,omitempty"` // column that names each row's part
	// Key is the column of groups: rows of one value are in one part, one fold and one bucket, see
	// dataset.Bucket. Empty: the row's position decides on its part.
	Key    string         `json:"key,omitempty"`
	Shares dataset.Shares `json:"shares"`
	Seed   uint64         `json:"seed"`

	// Time is a column of numbers or points in time. Rows from ValidateFrom on validate, rows from TestFrom
	// on test, older ones train. nil: there are no such rows. Empty: time does not decide.
	Time         string   `json:"time,omitempty"`
	ValidateFrom *float64 `json:"validate_from,omitempty"`
	TestFrom     *float64 `json:"test_from,omitempty"`
}

// CutTimes sets ValidateFrom and TestFrom by the times of all rows: distinct ones, ascending, and the
// number of rows of each. A part ends with the first time by which it and the older parts have their
// shares, so rows of one time are in one part.
func (p *Parting) CutTimes(times []float64, rows []int64) {
	var all, share uint64
	for _, n := range rows {
		all += uint64(n)
	}
	for _, s := range p.Shares {
		share += uint64(s)
	}
	from := func(upTo uint64) *float64 { // the first time behind a share of the rows
		sum := uint64(0)
		for i, n := range rows {
			if reached(sum, share, all, upTo) {
				return &times[i]
			}
			sum += uint64(n)
		}
		return nil
	}
	train := uint64(p.Shares[dataset.Train])
	p.ValidateFrom, p.TestFrom = from(train), from(train+uint64(p.Shares[dataset.Validation]))
}

// reached reports whether sum/all is at least upTo/share.
func reached(sum, share, all, upTo uint64) bool {
	a, b := bits.Mul64(sum, share)
	c, d := bits.Mul64(all, upTo)
	return a > c || a == c && b >= d
}

// OfTime returns the part of a row of a time.
func (p *Parting) OfTime(x float64) dataset.Part {
	switch {
	case p.TestFrom != nil && x >= *p.TestFrom:
		return dataset.Test
	case p.ValidateFrom != nil && x >= *p.ValidateFrom:
		return dataset.Validation
	default:
		return dataset.Train
	}
}

// HashKey returns the hash of a key: a number, a text, or a missing value if typ is neither. All rows
// without a key are one group.
func (p *Parting) HashKey(typ dataset.ValueType, number float64, text string) uint64 {
	switch typ {
	case dataset.Number:
		return dataset.HashNumber(p.Seed, number)
	case dataset.Text:
		return dataset.HashText(p.Seed, text)
	default:
		return dataset.HashText(p.Seed, "")
	}
}

// hashKeyAt returns the hash of the key of row r.
func (p *Parting) hashKeyAt(v *dataset.Vector, r int) uint64 {
	if v.Missing(r) {
		return p.HashKey(0, 0, "")
	}
	i := r
	if v.Index != nil {
		i = int(v.Index[r])
	}
	if v.Type == dataset.Text {
		return p.HashKey(dataset.Text, 0, v.Texts[i])
	}
	return p.HashKey(dataset.Number, v.Numbers[i], "")
}

// OfKey returns the part of the rows of a key by its hash, and the bucket of their group.
func (p *Parting) OfKey(hash uint64) (dataset.Part, uint8) {
	return p.Shares.Of(hash), dataset.Bucket(hash)
}

// NameError returns the error of a row whose value of the split column names no part. row says which row it
// is.
func (p *Parting) NameError(value, row string) *dataset.DataError {
	return &dataset.DataError{
		Column: p.SplitColumn, Value: value, Problem: row + " names no part, expected train, validation or test",
	}
}

// assignParts sets the part of each row: by time, by the split column, by the hash of the key, or by the hash of
// the row's position. It sets the buckets of the keys, if they are wanted. columns reads the split column
// and the key, in this order.
func (g *rowGroup) assignParts(columns *columnReader) error {
	p := &g.spec.Parting
	if p.Time != "" {
		return g.assignByTime(columns)
	}
	if p.SplitColumn != "" {
		if err := g.assignNamed(columns); err != nil {
			return err
		}
	}
	whole, isWhole := p.Shares.Whole()
	byHash := p.SplitColumn == "" && !isWhole
	if p.SplitColumn == "" && isWhole {
		for r := range g.parts {
			g.parts[r] = whole
		}
	}
	switch {
	case p.Key != "" && (byHash || g.spec.grouped()):
		return g.assignByKey(columns, byHash)
	case p.Key != "":
		columns.skip()
	case byHash:
		group := dataset.HashPosition(p.Seed, baseName(g.task.File), g.task.RowGroup)
		for r := range g.parts {
			g.parts[r] = p.Shares.Of(dataset.HashRow(group, g.first+r))
		}
	}
	return nil
}

// assignNamed sets the parts that the split column names.
func (g *rowGroup) assignNamed(columns *columnReader) error {
	var v dataset.Vector
	if err := columns.read(&v); err != nil {
		return err
	}
	for r := range g.parts {
		part, ok := dataset.ParsePart(v.Spell(r))
		if !ok {
			return g.placed(g.spec.NameError(v.Spell(r), g.rowName(r)))
		}
		g.parts[r] = part
	}
	return nil
}

// assignByTime sets the parts by the time of each row.
func (g *rowGroup) assignByTime(columns *columnReader) error {
	var v dataset.Vector
	if err := columns.readNumbers(g.spec.Time, &v); err != nil {
		return err
	}
	for r := range g.parts {
		if v.Missing(r) || v.Type != dataset.Number {
			return g.errorAt(g.spec.Time, "", fmt.Sprintf("the time of row %d is null or NaN, expected a number or a point in time",
				g.first+r), "fill it in, or leave such rows out of the input")
		}
		i := r
		if v.Index != nil {
			i = int(v.Index[r])
		}
		g.parts[r] = g.spec.OfTime(v.Numbers[i])
	}
	return nil
}

// assignByKey sets the parts of rows by their keys, if parts says so, and their buckets, if they are wanted.
func (g *rowGroup) assignByKey(columns *columnReader, parts bool) error {
	var v dataset.Vector
	if err := columns.read(&v); err != nil {
		return err
	}
	p := &g.spec.Parting
	if g.spec.grouped() {
		g.buckets = make([]uint8, g.Rows())
	}
	for r := range g.parts {
		part, bucket := p.OfKey(p.hashKeyAt(&v, r))
		if parts {
			g.parts[r] = part
		}
		if g.buckets != nil {
			g.buckets[r] = bucket
		}
	}
	return nil
}

// columnReader reads the requested columns of a row group one after the other.
type columnReader struct {
	g    *rowGroup
	next int
}

func (c *columnReader) read(dst *dataset.Vector) error {
	c.next++
	return c.g.ReadColumn(c.next-1, dst)
}

// readNumbers reads a column of numbers, whose digits may be spelled.
func (c *columnReader) readNumbers(name string, dst *dataset.Vector) error {
	err := c.read(dst)
	if err == nil && dst.Type == dataset.Text && slices.Contains(c.g.task.Digits, name) {
		err = c.g.asNumbers(&FeatureColumn{Name: name}, dst)
	}
	return err
}

// skip passes over a column that is of no use.
func (c *columnReader) skip() { c.next++ }

// baseName returns the name of a file without its folders. The split depends on it alone,
// so a data set that was moved has the same split.
func baseName(url string) string {
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == '/' {
			return url[i+1:]
		}
	}
	return url
}
