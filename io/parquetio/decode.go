package parquetio

import (
	"errors"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
)

var (
	errShort      = errors.New("a page has fewer values than it claims")
	errDictionary = errors.New("an index points outside of the dictionary")
)

// plainDictionary is the former code for RLE_DICTIONARY in data pages and for PLAIN in
// dictionary pages. Many writers still use it.
const plainDictionary format.Encoding = 2

// decoder decodes one column chunk into a vector. Numbers have an Index into the
// dictionary's values until the first page of plain values; then the vector holds one
// number per row. Texts always have an Index.
type decoder struct {
	*scratch
	leaf *leaf
	meta *columnMeta
	dst  *dataset.Vector
	rows int // number of rows to decode
	done int // number of rows decoded
	left int // number of rows of the chunk in pages that were not read yet
	skip int // number of rows to leave out before the first row to decode

	writer writer

	skipped int // number of rows left out

	hasDictionary bool
	size          int              // number of values in the dictionary
	perRow        bool             // the vector holds one number per row, without an Index
	dictionary    []float64        // if perRow: the dictionary, moved out of the vector
	positions     map[string]int32 // positions of the vector's texts; nil before the first plain text
}

// page is a data page after decompression.
type page struct {
	rows     int
	missing  int
	levels   []byte // by row: 1, or 0 if missing; nil: no row is missing
	encoding format.Encoding
	data     []byte // encoded values of the rows that are not missing
}

func (p *page) values() int { return p.rows - p.missing }

// begin empties the vector and keeps its buffers.
func (d *decoder) begin() {
	v := d.dst
	if v.Index == nil {
		v.Index = d.index
		d.index = nil
	}
	if v.Index == nil {
		v.Index = []int32{}
	}
	v.Index = v.Index[:0]
	v.Numbers = v.Numbers[:0]
	clear(v.Texts)
	v.Texts = v.Texts[:0]
	v.Type = dataset.Number
	if k := d.leaf.kind; k == boolean || k == text || k == uuid || d.leaf.digits {
		v.Type = dataset.Text
	}
}

// finish completes the vector.
func (d *decoder) finish() {
	if d.dst.Type == dataset.Number && (d.perRow || d.rows == 0) {
		d.dropIndex()
	}
	if d.perRow {
		d.numbers = d.dictionary
	}
}

// dropIndex removes the Index, and keeps its memory for the next column.
func (d *decoder) dropIndex() {
	if d.dst.Index != nil {
		d.index = d.dst.Index[:0]
		d.dst.Index = nil
	}
}

func (d *decoder) setDictionary(data []byte, n int) (err error) {
	d.hasDictionary = true
	d.size = n
	if d.dst.Type == dataset.Text {
		return d.setTexts(data, n)
	}
	d.dst.Numbers, err = d.leaf.appendNumbers(d.dst.Numbers, data, n)
	return err
}

// append decodes the wanted rows of a page.
func (d *decoder) append(p page) error {
	d.left -= p.rows
	before := min(d.skip, p.rows)
	wanted := min(p.rows-before, d.rows-d.done)
	d.skip -= before
	d.skipped += before
	if wanted == 0 {
		return nil
	}
	if wanted < p.rows && p.encoding == format.Plain && p.missing == 0 && d.leaf.width > 0 {
		// Of this encoding the other rows need not be decoded.
		if len(p.data)/d.leaf.width < p.rows {
			return errShort
		}
		p.data = p.data[before*d.leaf.width : (before+wanted)*d.leaf.width]
		p.rows = wanted
		p.levels = nil
		before = 0
	}
	if err := d.appendPage(p); err != nil {
		return err
	}
	if v := d.dst; wanted < p.rows {
		if v.Index != nil {
			v.Index = cut(v.Index, d.done, before, wanted)
		} else {
			v.Numbers = cut(v.Numbers, d.done, before, wanted)
		}
	}
	d.done += wanted
	return nil
}

// cut removes the elements [at, at+before), and all elements after the next wanted elements.
func cut[T any](s []T, at, before, wanted int) []T {
	copy(s[at:], s[at+before:at+before+wanted])
	return s[:at+wanted]
}

// appendPage decodes all rows of a page.
func (d *decoder) appendPage(p page) error {
	switch {
	case p.encoding == format.RLEDictionary || p.encoding == plainDictionary:
		return d.appendIndexed(p)
	case d.dst.Type == dataset.Text:
		return d.appendTexts(p)
	default:
		return d.appendPlain(p)
	}
}

func (d *decoder) appendIndexed(p page) error {
	if d.perRow {
		index, err := d.appendIndexes(d.index[:0], p)
		if err != nil {
			return err
		}
		d.index = index
		d.dst.Numbers = lookUp(d.dst.Numbers, d.dictionary, index)
		return nil
	}
	index, err := d.appendIndexes(d.dst.Index, p)
	d.dst.Index = index
	return err
}

func lookUp(dst, dictionary []float64, index []int32) []float64 {
	for _, i := range index {
		x := math.NaN()
		if i >= 0 {
			x = dictionary[i]
		}
		dst = append(dst, x)
	}
	return dst
}

// appendIndexes decodes the page's indexes in place, after the indexes in dst.
func (d *decoder) appendIndexes(dst []int32, p page) ([]int32, error) {
	n := p.values()
	at := len(dst)
	dst = reserve(dst, max(n+maxOvershoot, p.rows), d.rows)
	if n > 0 {
		if err := d.decodeIndexes(dst[at:at:cap(dst)], p.data, n); err != nil {
			return dst[:at], err
		}
	}
	dst = dst[:at+p.rows]
	if p.missing > 0 {
		spread(dst[at:], p.levels, n, -1)
	}
	return dst, nil
}

// reserve makes room for n more values, of about limit in all. It grows by doubling, as a
// false number of rows in the file must not allocate much memory.
func reserve[T any](s []T, n, limit int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	grown := make([]T, len(s), max(len(s)+n, min(2*cap(s), limit+maxOvershoot)))
	copy(grown, s)
	return grown
}

// decodeIndexes decodes n indexes into the capacity of dst.
func (d *decoder) decodeIndexes(dst []int32, data []byte, n int) error {
	if !d.hasDictionary {
		return errors.New("a page needs a dictionary, but the chunk has none")
	}
	if len(data) == 0 || data[0] > 32 {
		return errRuns
	}
	width := int(data[0])
	runs, count, short, err := checkRuns(data[1:], width, n)
	if err != nil {
		return err
	}
	if short > 0 {
		data = append(slices.Clone(data), make([]byte, short)...)
		runs = data[1:]
	}
	if count < n {
		if count > 0 && width > 0 {
			return errShort
		}
		clear(dst[:n]) // some writers leave out indexes that are all 0
	} else if out, err := parquet.RLEDictionary.DecodeInt32(dst, data[:1+len(runs)]); err != nil {
		return err
	} else if len(out) < n || &out[0] != &dst[:1][0] {
		return errShort // there were more values than the capacity, so they are in another slice
	}
	if 1<<width > d.size && !allBelow(dst[:n], d.size) {
		return errDictionary
	}
	return nil
}

// allBelow reports whether all indexes lie in [0, size).
func allBelow(index []int32, size int) bool {
	var a, b, c, d uint32 // four at a time, because each maximum waits for the one before
	for len(index) >= 4 {
		a = max(a, uint32(index[0]))
		b = max(b, uint32(index[1]))
		c = max(c, uint32(index[2]))
		d = max(d, uint32(index[3]))
		index = index[4:]
	}
	for _, i := range index {
		a = max(a, uint32(i))
	}
	return uint64(max(a, b, c, d)) < uint64(size)
}

// spread moves the n values at the start of s to the rows with a value, and sets missing in
// the other rows.
func spread[T any](s []T, levels []byte, n int, missing T) {
	for r := len(s) - 1; r >= 0; r-- {
		if levels[r] == 0 {
			s[r] = missing
			continue
		}
		n--
		s[r] = s[n]
	}
}

func (d *decoder) appendPlain(p page) error {
	if !d.perRow {
		d.usePerRow()
	}
	n := p.values()
	at := len(d.dst.Numbers)
	data, err := d.plainLayout(p.encoding, p.data, n)
	if err != nil {
		return err
	}
	numbers, err := d.leaf.appendNumbers(reserve(d.dst.Numbers, p.rows, d.rows), data, n)
	d.dst.Numbers = numbers
	if err != nil {
		return err
	}
	if p.missing > 0 {
		d.dst.Numbers = numbers[:at+p.rows]
		spread(d.dst.Numbers[at:], p.levels, n, math.NaN())
	}
	return nil
}

// usePerRow turns the decoded indexes into numbers.
func (d *decoder) usePerRow() {
	d.perRow = true
	d.dictionary = d.dst.Numbers
	d.dst.Numbers = d.numbers[:0]
	d.numbers = nil
	d.dst.Numbers = lookUp(d.dst.Numbers, d.dictionary, d.dst.Index)
	d.dropIndex()
}

// plainLayout converts n encoded values to the PLAIN layout.
func (d *decoder) plainLayout(e format.Encoding, data []byte, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	type values struct {
		format.Type
		format.Encoding
	}
	physical := d.leaf.physical
	width := d.leaf.width
	switch (values{physical, e}) {
	case values{physical, format.Plain}:
		return data, nil
	case values{format.Boolean, format.RLE}:
		return d.runBits(data, n)
	case values{format.Int32, format.DeltaBinaryPacked}, values{format.Int64, format.DeltaBinaryPacked}:
		return d.deltaNumbers(data, n, width)
	case values{format.ByteArray, format.DeltaLengthByteArray}:
		return d.deltaTexts(data, n)
	case values{format.ByteArray, format.DeltaByteArray}, values{format.FixedLenByteArray, format.DeltaByteArray}:
		return d.deltaPrefixed(data, n, width)
	}
	if e == format.ByteStreamSplit && width > 0 {
		return d.joinStreams(data, n, width)
	}
	return nil, damage("%s values encoded with %s", physical, e)
}
