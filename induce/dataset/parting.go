package dataset

import "math/bits"

// Parting determines the part of each row. The same rule applies to Parquet files and to rows in
// pipelines.
type Parting struct {
	SplitColumn string `json:"split_column,omitempty"` // column that names each row's part
	// Key is the column of groups: rows with the same value are in the same part, fold and bucket:
	// see Bucket. Empty: the part depends on the position of the row.
	Key    string `json:"key,omitempty"`
	Shares Shares `json:"shares"`
	Seed   uint64 `json:"seed"`

	// Time is a column of numbers or points in time. Rows before ValidateFrom train, rows in
	// [ValidateFrom, TestFrom) validate, and rows >= TestFrom test; a bound is nil if there are no
	// such rows. Empty: the part does not depend on time.
	Time         string   `json:"time,omitempty"`
	ValidateFrom *float64 `json:"validate_from,omitempty"`
	TestFrom     *float64 `json:"test_from,omitempty"`
}

// CutTimes sets ValidateFrom and TestFrom from the times of all rows: times are distinct and
// ascending, and rows holds the number of rows of each. A part ends with the first time at which it
// and the older parts have their shares, so rows with the same time are in the same part.
func (p *Parting) CutTimes(times []float64, rows []int64) {
	var all, share uint64
	for _, n := range rows {
		all += uint64(n)
	}
	for _, s := range p.Shares {
		share += uint64(s)
	}
	from := func(upTo uint64) *float64 { // the first time after a share of the rows
		sum := uint64(0)
		for i, n := range rows {
			if reached(sum, share, all, upTo) {
				return &times[i]
			}
			sum += uint64(n)
		}
		return nil
	}
	train := uint64(p.Shares[Train])
	p.ValidateFrom, p.TestFrom = from(train), from(train+uint64(p.Shares[Validation]))
}

// reached reports whether sum/all is at least upTo/share.
func reached(sum, share, all, upTo uint64) bool {
	a, b := bits.Mul64(sum, share)
	c, d := bits.Mul64(all, upTo)
	return a > c || a == c && b >= d
}

// OfTime returns the part of a row of a time.
func (p *Parting) OfTime(x float64) Part {
	switch {
	case p.TestFrom != nil && x >= *p.TestFrom:
		return Test
	case p.ValidateFrom != nil && x >= *p.ValidateFrom:
		return Validation
	default:
		return Train
	}
}

// HashKey returns the hash of a key: a number, a text, or a missing value if typ is neither. All rows
// without a key are one group.
func (p *Parting) HashKey(typ ValueType, number float64, text string) uint64 {
	switch typ {
	case Number:
		return HashNumber(p.Seed, number)
	case Text:
		return HashText(p.Seed, text)
	default:
		return HashText(p.Seed, "")
	}
}

// HashKeyAt returns the hash of the key of row r of a column.
func (p *Parting) HashKeyAt(v *Vector, r int) uint64 {
	if v.Missing(r) {
		return p.HashKey(0, 0, "")
	}
	i := r
	if v.Index != nil {
		i = int(v.Index[r])
	}
	if v.Type == Text {
		return p.HashKey(Text, 0, v.Texts[i])
	}
	return p.HashKey(Number, v.Numbers[i], "")
}

// OfKey returns the part of the rows of a key by its hash, and the bucket of their group.
func (p *Parting) OfKey(hash uint64) (Part, uint8) {
	return p.Shares.Of(hash), Bucket(hash)
}

// NameError returns the error for a row whose value in the split column is not the name of a part.
// row identifies the row.
func (p *Parting) NameError(value, row string) *DataError {
	return &DataError{
		Column: p.SplitColumn, Value: value, Problem: row + " names no part, expected train, validation or test",
	}
}
