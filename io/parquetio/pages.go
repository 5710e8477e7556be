package parquetio

import (
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/io/objectstore"
)

// pageIndex lists the positions of the pages of a column chunk. It is made from the pages' headers,
// because not all writers write an offset index.
type pageIndex struct {
	dictionary span   // position in the chunk; empty if there is no dictionary
	pages      []span // positions of the data pages in the chunk
	rows       []int  // number of rows before each page, then the number of all rows
}

// indexes has the page indexes of a row group's columns.
type indexes struct {
	mu       sync.Mutex
	byColumn []columnIndex
}

type columnIndex struct {
	mu    sync.Mutex
	pages *pageIndex // nil if not made yet
}

// index returns the page index of the column. It calls scan to make the index if it is absent.
func (r *reading) index(scan func() (*pageIndex, error)) (*pageIndex, error) {
	x := r.columnIndex()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pages == nil {
		var err error
		if x.pages, err = scan(); err != nil {
			return nil, err
		}
	}
	return x.pages, nil
}

// columnIndex returns the holder of the column's page index.
func (r *reading) columnIndex() *columnIndex {
	all := &r.indexes
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byColumn == nil {
		all.byColumn = make([]columnIndex, len(r.columns))
	}
	return &all.byColumn[r.i]
}

// forgetIndex drops the column's page index.
func (r *reading) forgetIndex() {
	x := r.columnIndex()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pages = nil
}

// PageRows implements dataset.RowGroup. It reads the headers of all pages.
func (g *rowGroup) PageRows() int {
	most := 0
	for i := range g.columns {
		pages, err := g.pagesOf(i)
		if err != nil {
			continue // reading returns the error
		}
		for k := range pages.pages {
			most = max(most, pages.rows[k+1]-pages.rows[k])
		}
	}
	return most
}

// pagesOf returns the page index of the i-th column.
func (g *rowGroup) pagesOf(i int) (x *pageIndex, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damage("%v", p)
		}
	}()
	meta, err := g.file.chunkRange(g.number, g.columns[i])
	if err != nil {
		return nil, err
	}
	r := reading{rowGroup: g, meta: meta, i: i}
	if objectstore.IsLocal(g.reader) {
		return r.index(func() (*pageIndex, error) { return r.scan(meta.span()) })
	}
	chunk, err := g.fetched(meta.span())
	if err != nil {
		return nil, err
	}
	return r.index(func() (*pageIndex, error) { return r.scanBytes(chunk) })
}

// How many bytes are searched for a page's header: most headers fit into the first size, and
// headers with statistics of long texts into the last.
const (
	shortHeader = 1 << 9
	longHeader  = 1 << 20
)

// scan makes the page index of a chunk of a local file.
func (r *reading) scan(chunk span) (*pageIndex, error) {
	if memory, ok := r.reader.(objectstore.Byteser); ok {
		return r.scanBytes(memory.Bytes()[chunk.start:chunk.end])
	}
	buffer := make([]byte, shortHeader)
	return r.scanHeaders(chunk.end-chunk.start, func(at int64, h *pageHeader) (int, error) {
		for {
			b := buffer[:min(int64(len(buffer)), chunk.end-chunk.start-at)]
			if err := readFull(r.reader, b, chunk.start+at); err != nil {
				return 0, r.file.readFault(err)
			}
			n, err := unmarshal(b, h)
			if err == nil {
				return n, nil
			}
			if len(buffer) >= longHeader || len(b) < len(buffer) {
				return 0, damage("page header: %v", err)
			}
			buffer = make([]byte, longHeader)
			*h = pageHeader{}
		}
	})
}

// scanBytes makes the page index of a chunk in memory.
func (r *reading) scanBytes(chunk []byte) (*pageIndex, error) {
	return r.scanHeaders(int64(len(chunk)), func(at int64, h *pageHeader) (int, error) {
		n, err := unmarshal(chunk[at:], h)
		if err != nil {
			return 0, damage("page header: %v", err)
		}
		return n, nil
	})
}

// scanHeaders makes a page index. read reads the header at an offset in the chunk, and returns its
// size.
func (r *reading) scanHeaders(size int64, read func(at int64, h *pageHeader) (int, error)) (*pageIndex, error) {
	x := &pageIndex{rows: []int{0}}
	done := 0
	for at := int64(0); done < r.Rows(); {
		if at == size {
			return nil, damage("its pages end after %d of %d rows", done, r.Rows())
		}
		var h pageHeader
		n, err := read(at, &h)
		if err != nil {
			return nil, err
		}
		if err := h.checkSizes(r.meta, size-at-int64(n)); err != nil {
			return nil, err
		}
		page := span{at, at + int64(n) + int64(h.CompressedSize)}
		if done, err = x.add(&h, page, r.Rows()); err != nil {
			return nil, err
		}
		at = page.end
	}
	return x, nil
}

// add adds a page, and returns the number of rows so far, of all rows.
func (x *pageIndex) add(h *pageHeader, page span, all int) (done int, err error) {
	done = x.rows[len(x.rows)-1]
	values := int32(0)
	switch {
	case h.Type == format.DictionaryPage:
		if done > 0 || x.dictionary.end > 0 {
			return done, damage("a dictionary that is not its first page")
		}
		x.dictionary = page
		return done, nil
	case h.Type == format.DataPage && h.Data.Valid:
		values = h.Data.V.NumValues
	case h.Type == format.DataPageV2 && h.DataV2.Valid:
		values = h.DataV2.V.NumValues
	case h.Type == format.IndexPage:
		return done, nil
	default:
		return done, damage("a page of unknown type %d", h.Type)
	}
	if values < 0 || int(values) > all-done {
		return done, damage("a page of %d values where %d are left", values, all-done)
	}
	done += int(values)
	x.pages = append(x.pages, page)
	x.rows = append(x.rows, done)
	return done, nil
}

// part returns the span of the dictionary, and the span of the pages with the rows that a decoder
// needs. It sets how many rows of these pages the decoder skips.
func (x *pageIndex) part(d *decoder) (dictionary, pages span) {
	from := d.skip
	to := d.skip + d.rows
	// The last page that begins at or before the first row, and the first page that begins at or
	// after the end.
	first := sort.Search(len(x.pages), func(i int) bool { return x.rows[i+1] > from })
	last := sort.Search(len(x.pages), func(i int) bool { return x.rows[i] >= to })
	if first >= last {
		return span{}, span{}
	}
	d.skip = from - x.rows[first]
	d.left = x.rows[last] - x.rows[first]
	return x.dictionary, span{x.pages[first].start, x.pages[last-1].end}
}
