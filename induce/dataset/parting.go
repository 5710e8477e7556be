package dataset

import (
	"math/bits"
	"slices"
)

// Parting determines the part of each row. The same rule applies to Parquet files and to rows in
// pipelines.
type Parting struct {
	SplitColumn string `json:"split_column,omitempty"` // column that names each row's part
	// Key is the column of groups: rows with the same value are in the same part, fold and bucket:
	// see Bucket. Empty: the part depends on the position of the row.
	Key string `json:"key,omitempty"`
	// Content has the columns whose values decide in place of a key: rows with equal values are in the same part, fold
	// and bucket. Empty: the part of a row does not depend on its values.
	Content []string `json:"content,omitempty"`
	Shares  Shares   `json:"shares"`
	Seed    uint64   `json:"seed"`

	// Time is a column of numbers or points in time. Rows before ValidateFrom train, rows in
	// [ValidateFrom, TestFrom) validate, and rows >= TestFrom test; a bound is nil if there are no
	// such rows. Empty: the part does not depend on time.
	Time         string   `json:"time,omitempty"`
	ValidateFrom *float64 `json:"validate_from,omitempty"`
	TestFrom     *float64 `json:"test_from,omitempty"`

	// Blocks has, for each part, the first time of each of its blocks after the first block, see BlockBucket.
	Blocks [Parts][]float64 `json:"blocks,omitzero"`
}

// Dependent reports whether some rows depend on each other: they have the same key or contents, or neighbouring times.
// Then chance is counted by bucket.
func (p *Parting) Dependent() bool { return p.Key != "" || p.Time != "" || len(p.Content) > 0 }

// ByPlace reports whether the part of a row depends on its place in the files.
func (p *Parting) ByPlace() bool {
	_, whole := p.Shares.Whole()
	return !whole && p.SplitColumn == "" && !p.Dependent()
}

// CutTimes sets ValidateFrom, TestFrom and Blocks from the times of all rows: times are distinct and
// ascending, and rows holds the number of rows of each. A part ends with the first time at which it
// and the older parts have their shares, so rows with the same time are in the same part. In the same way a part is
// cut into up to Blocks blocks of about as many rows.
func (p *Parting) CutTimes(times []float64, rows []int64) {
	share := uint64(0)
	for _, s := range p.Shares {
		share += uint64(s)
	}
	train := uint64(p.Shares[Train])
	validate := firstAfter(rows, train, share)
	test := firstAfter(rows, train+uint64(p.Shares[Validation]), share)
	p.ValidateFrom, p.TestFrom = timeAt(times, validate), timeAt(times, test)
	for part, ends := range [Parts][2]int{Train: {0, validate}, Validation: {validate, test}, Test: {test, len(times)}} {
		p.Blocks[part] = nil
		last := ends[0]
		for block := range uint64(Blocks) {
			at := ends[0] + firstAfter(rows[ends[0]:ends[1]], block, Blocks)
			if at > last && at < ends[1] {
				p.Blocks[part] = append(p.Blocks[part], times[at])
				last = at
			}
		}
	}
}

// firstAfter returns the index of the first time after upTo/share of the rows; len(rows) if absent.
func firstAfter(rows []int64, upTo, share uint64) int {
	all := uint64(0)
	for _, n := range rows {
		all += uint64(n)
	}
	sum := uint64(0)
	for i, n := range rows {
		if Reached(sum, share, all, upTo) {
			return i
		}
		sum += uint64(n)
	}
	return len(rows)
}

// timeAt returns the time with an index; nil if absent.
func timeAt(times []float64, at int) *float64 {
	if at == len(times) {
		return nil
	}
	return &times[at]
}

// Reached reports whether sum/all is at least upTo/share.
func Reached(sum, share, all, upTo uint64) bool {
	a, b := bits.Mul64(sum, share)
	c, d := bits.Mul64(all, upTo)
	return a > c || a == c && b >= d
}

// Blocks is the greatest number of blocks of time of a part.
const Blocks = Buckets / 2

// BlockBucket returns the bucket of the rows of a block of time; later blocks have higher buckets. known is for rows
// whose key has rows in an earlier block: trees learn from them, but no fold is judged on them.
func BlockBucket(block int, known bool) uint8 {
	bucket := uint8(2 * block)
	if known {
		bucket++
	}
	return bucket
}

// OfBlock returns the arguments of BlockBucket.
func OfBlock(bucket uint8) (block int, known bool) { return int(bucket / 2), bucket%2 > 0 }

// Place is a part and a bucket, in the order of time.
type Place uint16

// NewPlace returns the place of a part and a bucket.
func NewPlace(part Part, bucket uint8) Place { return Place(part)<<8 | Place(bucket) }

// OfKeyAt returns the part and the bucket of a row of a key, given the place of its time and the place of the first row
// of its key. A key has rows in the part of its first row only: rows of later parts are left out, since the key is
// known there. The rows of a key are in one bucket, but trees learn from a training row only when its time has come.
func OfKeyAt(own, first Place) (Part, uint8) {
	part := Part(own >> 8)
	bucket := uint8(own)
	switch {
	case part != Part(first>>8):
		return None, 0
	case own == first || part != Train:
		return part, uint8(first)
	default:
		block, _ := OfBlock(bucket)
		return part, BlockBucket(block, true)
	}
}

// OfTime returns the part of a row of a time, and the bucket of its block.
func (p *Parting) OfTime(x float64) (Part, uint8) {
	part := Train
	switch {
	case p.TestFrom != nil && x >= *p.TestFrom:
		part = Test
	case p.ValidateFrom != nil && x >= *p.ValidateFrom:
		part = Validation
	}
	block, begins := slices.BinarySearch(p.Blocks[part], x)
	if begins {
		block++
	}
	return part, BlockBucket(block, false)
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

// HashOf returns the hash of rows with equal contents, as HashKey does of rows with a key. See AddContent.
func (p *Parting) HashOf(content uint64) uint64 { return mix(p.Seed, content) }

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
