package parquetio

import (
	"bytes"
	"errors"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
)

// copiedLeaf is a column of values in a copied column, which may be nested.
type copiedLeaf struct {
	physical            format.Type
	width               int // bytes of a value; 0 for BYTE_ARRAY, unused for BOOLEAN
	defined, repetition int // greatest levels
}

// copiedLeaves lists the columns of values of a top-level column, in the order of their chunks, given its elements of
// the schema in depth-first order.
func copiedLeaves(elements []format.SchemaElement) []copiedLeaf {
	type open struct{ children, defined, repetition int }
	var leaves []copiedLeaf
	above := []open{{children: len(elements)}}
	for i := range elements {
		e := &elements[i]
		for above[len(above)-1].children == 0 {
			above = above[:len(above)-1]
		}
		at := &above[len(above)-1]
		at.children--
		below := open{defined: at.defined, repetition: at.repetition}
		switch e.RepetitionType.V {
		case format.Optional:
			below.defined++
		case format.Repeated:
			below.defined++
			below.repetition++
		case format.Required:
		}
		if isGroup(e) {
			below.children = int(e.NumChildren.V)
			above = append(above, below)
			continue
		}
		leaves = append(leaves, copiedLeaf{e.Type.V, physicalWidth(e), below.defined, below.repetition})
	}
	return leaves
}

// pageWindow reads the pages of a chunk one after the other, without a request for each.
type pageWindow struct {
	reader objectstore.Reader
	file   *File
	end    int64 // end of the chunk in the file
	from   int64 // position of bytes in the file
	bytes  []byte
}

// windowBytes is how many bytes of a chunk are read at a time, if its pages are not larger.
const windowBytes = 4 << 20

// at returns n bytes at an offset of the file, or fewer at the end of the chunk.
func (w *pageWindow) at(off, n int64) ([]byte, error) {
	n = min(n, w.end-off)
	if off < w.from || off+n > w.from+int64(len(w.bytes)) {
		w.from = off
		w.bytes = grow(w.bytes, int(min(max(n, windowBytes), w.end-off)))
		if err := readFull(w.reader, w.bytes, off); err != nil {
			w.bytes = w.bytes[:0]
			return nil, w.file.readFault(err)
		}
	}
	return w.bytes[off-w.from : off-w.from+n], nil
}

// chunkCheck checks the pages of a chunk that is copied: headers, checksums, decompression, levels, and that the values
// fit their pages. Pages of a codec that Espalier does not know are checked by headers and checksums alone.
type chunkCheck struct {
	decoder

	column copiedLeaf
	all    int64 // values of the chunk, with nulls
	values int64 // so far
	rows   int64 // so far

	uncounted bool // whether rows lacks the rows of some pages
}

// newChunkCheck returns a check of a chunk of rows, given what its footer says.
func newChunkCheck(s *scratch, f *File, meta *columnMeta, column copiedLeaf) *chunkCheck {
	l := &leaf{physical: column.physical, width: column.width}
	return &chunkCheck{decoder: decoder{scratch: s, leaf: l, meta: meta, writer: f.writer}, column: column, all: meta.NumValues}
}

// page checks the page at an offset of the file, and returns its bytes.
func (c *chunkCheck) page(w *pageWindow, off int64) ([]byte, error) {
	b, err := w.at(off, shortHeader)
	if err != nil {
		return nil, err
	}
	c.header = pageHeader{}
	h := &c.header
	n, fault := unmarshal(b, h)
	if fault != nil {
		if b, err = w.at(off, longHeader); err != nil {
			return nil, err
		}
		*h = pageHeader{}
		if n, fault = unmarshal(b, h); fault != nil {
			return nil, damage("page header: %v", fault)
		}
	}
	if err := h.checkSizes(c.meta, w.end-off-int64(n)); err != nil {
		return nil, err
	}
	if b, err = w.at(off, int64(n)+int64(h.CompressedSize)); err != nil {
		return nil, err
	}
	if err := c.checkBody(b[n:]); err != nil && !errors.As(err, new(*dataset.DataError)) {
		return nil, damage("%v", err)
	} else if err != nil {
		return nil, err
	}
	return b, nil
}

func (c *chunkCheck) checkBody(body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damage("%v", p)
		}
	}()
	return c.header.read(body, c)
}

// known reports whether the page can be decompressed: its codec is known, and it does not take much of the memory.
func (c *chunkCheck) known() bool {
	if _, fits := c.header.fits(); !fits {
		return false
	}
	switch c.meta.Codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return true
	default:
		return false
	}
}

// readDictionary implements pageReader, in place of the decoder's method, as do readData and readDataV2.
func (c *chunkCheck) readDictionary(body []byte) error {
	h := &c.header.Dictionary.V
	if c.hasDictionary || c.values > 0 || h.NumValues < 0 {
		return damage("a dictionary of %d values behind %d values", h.NumValues, c.values)
	}
	c.hasDictionary = true
	c.size = int(h.NumValues)
	if !c.known() {
		return nil
	}
	data, err := c.decompress(c.meta.Codec, body, int(c.header.UncompressedSize))
	if err != nil {
		return err
	}
	return c.checkPlain(data, c.size)
}

// count takes the values of a page.
func (c *chunkCheck) count(n int32) error {
	if n < 0 || int64(n) > c.all-c.values {
		return damage("a page of %d values where %d are left", n, c.all-c.values)
	}
	c.values += int64(n)
	if c.column.repetition == 0 {
		c.rows += int64(n)
	}
	return nil
}

func (c *chunkCheck) readData(body []byte) error {
	h := &c.header.Data.V
	if err := c.count(h.NumValues); err != nil || h.NumValues == 0 {
		return err
	}
	if !c.known() {
		c.uncounted = c.column.repetition > 0
		return nil
	}
	data, err := c.decompress(c.meta.Codec, body, int(c.header.UncompressedSize))
	if err != nil {
		return err
	}
	n := int(h.NumValues)
	present := n
	for _, l := range []struct {
		most     int
		encoding format.Encoding
		repeats  bool
	}{{c.column.repetition, h.RepeatEncoding, true}, {c.column.defined, h.LevelEncoding, false}} {
		switch {
		case l.most == 0:
		case l.encoding == format.BitPacked:
			size := (n*bits.Len(uint(l.most)) + 7) / 8
			if size > len(data) {
				return errRuns
			}
			c.uncounted = c.column.repetition > 0
			return nil // Parquet has given the encoding up, and writers understood it in two ways
		default:
			var levels []byte
			if levels, data, err = prefixed(data, errRuns); err != nil {
				return err
			}
			if present, err = c.levelsOf(levels, l.most, n, l.repeats); err != nil {
				return err
			}
		}
	}
	return c.checkValues(h.Encoding, data, present)
}

func (c *chunkCheck) readDataV2(body []byte) error {
	h := &c.header.DataV2.V
	if err := c.count(h.NumValues); err != nil || h.NumValues == 0 {
		return err
	}
	repeated, defined, data, err := c.splitV2(body)
	if err != nil {
		return err
	}
	n := int(h.NumValues)
	present := n
	if c.column.repetition > 0 {
		if _, err = c.levelsOf(repeated, c.column.repetition, n, true); err != nil {
			return err
		}
	}
	if c.column.defined > 0 && h.hasLevels() {
		if present, err = c.levelsOf(defined, c.column.defined, n, false); err != nil {
			return err
		}
	}
	if c.packed() && !c.known() {
		return nil
	}
	if data, err = c.valuesV2(data); err != nil {
		return err
	}
	return c.checkValues(h.Encoding, data, present)
}

// levelsOf checks n levels of at most most, and returns how many are most. It counts the rows if the levels are of
// repetition: a row begins at a level of 0.
func (c *chunkCheck) levelsOf(b []byte, most, n int, repeats bool) (greatest int, err error) {
	zeros := 0
	width := bits.Len(uint(most))
	for left := n; left > 0; {
		var r run
		if r, b, _, err = nextRun(b, width, left); err != nil {
			return 0, err
		}
		need := min(r.count, left)
		left -= need
		if !r.packed {
			level := int(r.data[0])
			if most == 1 && level == 0xff {
				level = 1 // some writers fill the byte with the bit
			}
			switch {
			case level > most:
				return 0, errRuns
			case level == most:
				greatest += need
			}
			if level == 0 {
				zeros += need
			}
			continue
		}
		for i := range need {
			level := 0
			for k := range width {
				at := i*width + k
				level |= int(r.data[at/8]>>(at%8)&1) << k
			}
			switch {
			case level > most:
				return 0, errRuns
			case level == most:
				greatest++
			}
			if level == 0 {
				zeros++
			}
		}
	}
	if repeats {
		c.rows += int64(zeros)
	}
	return greatest, nil
}

// checkValues checks n encoded values.
func (c *chunkCheck) checkValues(e format.Encoding, data []byte, n int) error {
	if n == 0 {
		return nil
	}
	if e == format.RLEDictionary || e == plainDictionary {
		c.index = reserve(c.index[:0], n+maxOvershoot, n)
		return c.decodeIndexes(c.index[:0], data, n)
	}
	plain, err := c.plainLayout(e, data, n)
	if err != nil {
		return err
	}
	return c.checkPlain(plain, n)
}

// checkPlain checks that there are n values in the PLAIN layout.
func (c *chunkCheck) checkPlain(data []byte, n int) error {
	switch width := c.column.width; {
	case c.column.physical == format.Boolean:
		if len(data) < (n+7)/8 {
			return errShort
		}
	case width > 0:
		if len(data)/width < n {
			return errShort
		}
	case c.column.physical == format.ByteArray:
		for range n {
			var err error
			if _, data, err = prefixed(data, errShort); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyPages writes the pages of a chunk of a row group to put, after it has checked them, and returns their bytes. A
// page that is damaged is read once more from a store, as the network may have changed its bytes.
func (o *Original) copyPages(group, at int, column copiedLeaf, s span, put func(b []byte) error) (size int64, err error) {
	meta := &o.file.rowGroups[group].Columns[at].Meta.V
	buffers, ok := scratches.Get().(*scratch)
	if !ok {
		buffers = new(scratch)
	}
	defer scratches.Put(buffers)
	c := newChunkCheck(buffers, o.file, meta, column)
	// The footer's size may leave some bytes out: see mendSizes.
	w := &pageWindow{reader: o.reader, file: o.file, end: max(s.end, s.start+meta.TotalCompressedSize)}
	off := s.start
	for c.values < c.all {
		if off == w.end {
			return off - s.start, damage("its pages end after %d of %d values", c.values, c.all)
		}
		before := *c
		b, err := c.page(w, off)
		if err != nil && !objectstore.IsLocal(o.reader) {
			read := bytes.Clone(w.bytes)
			w.bytes = w.bytes[:0]
			again := before
			if second, failed := again.page(w, off); failed == nil || !bytes.Equal(read, w.bytes) {
				b, err = second, failed
				*c = again
			}
		}
		if err != nil {
			return off - s.start, err
		}
		if err := put(b); err != nil {
			return off - s.start, err
		}
		off += int64(len(b))
	}
	if rows := o.meta.RowGroups[group].NumRows; c.rows != rows && !c.uncounted {
		return off - s.start, damage("its values are of %d rows, expected %d", c.rows, rows)
	}
	for off < s.end { // bytes behind the last page, such as an index page
		b, err := w.at(off, windowBytes)
		if err != nil {
			return off - s.start, err
		}
		if err := put(b); err != nil {
			return off - s.start, err
		}
		off += int64(len(b))
	}
	return off - s.start, nil
}

// placed adds the place to a fault of a copied column. Other errors stay.
func (o *Original) placed(name string, group int, err error) error {
	var e *dataset.DataError
	if !errors.As(err, &e) {
		return err
	}
	e.File = o.file.URL
	e.Column = name
	e.RowGroup = &group
	return e
}
