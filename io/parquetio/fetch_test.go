package parquetio_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// far is a driver with readers that are not local. It keeps its objects in memory, and
// records each read.
type far struct {
	objectstore.Driver

	mu    sync.Mutex
	reads [][2]int64 // offset, length
	fails error      // error of all reads; nil: none
	flip  int64      // offset of a byte to flip in the next read of it; 0: none
}

// newFar returns a store whose scheme far:// has the objects of mem://.
func newFar() (*objectstore.Store, *far) {
	memory := objectstore.New()
	d := &far{Driver: memoryOf{memory}}
	memory.Register("far", d)
	return memory, d
}

// memoryOf serves paths as mem:// does.
type memoryOf struct{ store *objectstore.Store }

func (m memoryOf) List(ctx context.Context, folder string, _ int) ([]objectstore.Object, error) {
	return m.store.List(ctx, "mem://"+folder+"/**")
}

func (m memoryOf) Stat(ctx context.Context, path string) (objectstore.Object, error) {
	o, err := m.store.Stat(ctx, "mem://"+path)
	o.URL = path
	return o, err
}

func (m memoryOf) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	o.URL = "mem://" + o.URL
	return m.store.OpenObject(ctx, o)
}

func (m memoryOf) Create(ctx context.Context, path string, o objectstore.WriteOptions) (objectstore.Writer, error) {
	return m.store.Create(ctx, "mem://"+path, o)
}

func (m memoryOf) Remove(ctx context.Context, path string) error {
	return m.store.Remove(ctx, "mem://"+path)
}

func (m memoryOf) RemoveAll(ctx context.Context, path string) error {
	return m.store.RemoveAll(ctx, "mem://"+path)
}

func (d *far) Open(ctx context.Context, o objectstore.Object) (objectstore.Reader, error) {
	r, err := d.Driver.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &farReader{r, d}, nil
}

// farReader hides that its reader is a Byteser.
type farReader struct {
	r objectstore.Reader
	d *far
}

func (r *farReader) Size() int64        { return r.r.Size() }
func (r *farReader) Generation() string { return r.r.Generation() }
func (r *farReader) Close() error       { return r.r.Close() }

func (r *farReader) ReadAt(p []byte, off int64) (int, error) {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.d.reads = append(r.d.reads, [2]int64{off, int64(len(p))})
	if r.d.fails != nil {
		return 0, r.d.fails
	}
	n, err := r.r.ReadAt(p, off)
	if at := r.d.flip; at >= off && at < off+int64(n) && at > 0 {
		p[at-off] ^= 0x55
		r.d.flip = 0
	}
	return n, err
}

// since returns the reads since the last call.
func (d *far) since() [][2]int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	reads := d.reads
	d.reads = nil
	return reads
}

// wide writes a file of columns x0, x1 ... in two row groups.
func wide(t *testing.T, store *objectstore.Store, url string, columns, rows int) {
	t.Helper()
	var list []parquetio.WriteColumn
	for c := range columns {
		values := make([]float64, rows)
		for r := range values {
			values[r] = float64(c*rows + r)
		}
		list = append(list, parquetio.WriteColumn{Name: fmt.Sprintf("x%d", c), Values: values})
	}
	opts := parquetio.WriteOptions{RowsPerGroup: (rows + 1) / 2, Codec: parquetio.Uncompressed}
	if err := parquetio.Write(t.Context(), store, url, list, opts); err != nil {
		t.Fatal(err)
	}
}

// column reads a column of a row group and checks its values.
func checkColumn(t *testing.T, g dataset.RowGroup, i int, first float64) {
	t.Helper()
	var v dataset.Vector
	if err := g.ReadColumn(i, &v); err != nil {
		t.Fatal(err)
	}
	for r := range v.Rows() {
		if got, want := v.Spell(r), dataset.SpellNumber(first+float64(r)); got != want {
			t.Fatalf("column %d, row %d: %s, want %s", i, r, got, want)
		}
	}
}

func rowGroup(t *testing.T, f *parquetio.File, i int, columns ...string) dataset.RowGroup {
	t.Helper()
	g, err := f.RowGroup(t.Context(), i, columns)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func closeGroup(t *testing.T, g dataset.RowGroup) {
	t.Helper()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestRequests: a footer takes two requests, a row group one request for each run of
// neighbouring columns, and kept chunks none.
func TestRequests(t *testing.T) {
	store, d := newFar()
	wide(t, store, "far://requests/x", 20, 1000)
	o, err := store.Stat(t.Context(), "far://requests/x")
	if err != nil {
		t.Fatal(err)
	}
	s := parquetio.NewSource(store, parquetio.SourceOptions{ReadAhead: 1 << 20, Keep: 1 << 20})
	f, err := s.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.since()); n != 2 {
		t.Errorf("%d requests for a footer, want 2", n)
	}
	const chunk = 500 * 8 // and as much again for indexes and headers as is added below
	for _, c := range []struct {
		columns []string
		reads   int
	}{{[]string{"x3", "x4", "x5", "x19"}, 2}, {[]string{"x3", "x5", "x19"}, 0}, {[]string{"x5", "x6", "x2"}, 2}} {
		g := rowGroup(t, f, 1, c.columns...)
		for i, name := range c.columns {
			var at float64
			if _, err := fmt.Sscanf(name, "x%g", &at); err != nil {
				t.Fatal(err)
			}
			checkColumn(t, g, i, at*1000+500)
		}
		closeGroup(t, g)
		reads := d.since()
		if len(reads) != c.reads {
			t.Errorf("%v: requests %v, want %d", c.columns, reads, c.reads)
		}
		bytes := int64(0)
		for _, r := range reads {
			bytes += r[1]
		}
		if limit := int64(len(c.columns) * (chunk + 700)); bytes > limit {
			t.Errorf("%v: %d bytes read, want at most %d", c.columns, bytes, limit)
		}
	}
	s.Forget()
	g := rowGroup(t, f, 1, "x3")
	checkColumn(t, g, 0, 3500)
	closeGroup(t, g)
	if n := len(d.since()); n != 1 {
		t.Errorf("%d requests after Forget, want 1", n)
	}
}

// TestKeepIsBounded: chunks beyond the bound are fetched again.
func TestKeepIsBounded(t *testing.T) {
	store, d := newFar()
	wide(t, store, "far://bounded/x", 2, 1000)
	s := parquetio.NewSource(store, parquetio.SourceOptions{ReadAhead: 1 << 20, Keep: 5000})
	f, err := s.Open(t.Context(), objectstore.Object{URL: "far://bounded/x"})
	if err != nil {
		t.Fatal(err)
	}
	var passes [2]int
	for pass := range passes {
		d.since()
		for i := range 2 {
			g := rowGroup(t, f, i, "x0", "x1")
			checkColumn(t, g, 0, float64(500*i))
			checkColumn(t, g, 1, float64(1000+500*i))
			closeGroup(t, g)
		}
		passes[pass] = len(d.since())
	}
	if passes != [2]int{2, 2} { // one of four chunks fits: its row group still needs a request
		t.Errorf("requests by pass: %v", passes)
	}
}

// TestReadAhead: row groups beyond the bound wait until others are closed, or until their
// context ends.
func TestReadAhead(t *testing.T) {
	store, d := newFar()
	wide(t, store, "far://ahead/x", 1, 1000)
	s := parquetio.NewSource(store, parquetio.SourceOptions{ReadAhead: 6000})
	f, err := s.Open(t.Context(), objectstore.Object{URL: "far://ahead/x"})
	if err != nil {
		t.Fatal(err)
	}
	d.since()
	first := rowGroup(t, f, 0, "x0")
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() {
		_, err := f.RowGroup(ctx, 1, []string{"x0"})
		refused <- err
	}()
	cancel()
	if err := <-refused; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the wait was cancelled", err)
	}
	opened := make(chan dataset.RowGroup)
	go func() {
		g, err := f.RowGroup(t.Context(), 1, []string{"x0"})
		if err != nil {
			t.Error(err)
		}
		opened <- g
	}()
	checkColumn(t, first, 0, 0)
	if n := len(d.since()); n != 1 {
		t.Errorf("%d requests while the first row group is open, want 1", n)
	}
	closeGroup(t, first)
	second := <-opened
	checkColumn(t, second, 0, 500)
	closeGroup(t, second)
}

// TestReadAheadOfLargeRowGroup: a row group larger than the bound is read alone.
func TestReadAheadOfLargeRowGroup(t *testing.T) {
	store, _ := newFar()
	wide(t, store, "far://large/x", 3, 1000)
	f, err := parquetio.NewSource(store, parquetio.SourceOptions{ReadAhead: 10}).Open(t.Context(),
		objectstore.Object{URL: "far://large/x"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		g := rowGroup(t, f, i, "x0", "x2")
		checkColumn(t, g, 1, float64(2000+500*i))
		closeGroup(t, g)
	}
}

func TestFetchFaults(t *testing.T) {
	errNet := errors.New("no route")
	for name, c := range map[string]struct {
		fault error
		data  bool
		text  string
	}{
		"network":  {errNet, false, "read far://faults/x: no route"},
		"replaced": {fmt.Errorf("status 412: %w", objectstore.ErrChanged), true, "was replaced"},
	} {
		store, d := newFar()
		wide(t, store, "far://faults/x", 1, 10)
		f, err := parquetio.Open(t.Context(), store, "far://faults/x")
		if err != nil {
			t.Fatal(err)
		}
		d.fails = c.fault
		g := rowGroup(t, f, 0, "x0")
		var v dataset.Vector
		err = g.ReadColumn(0, &v)
		closeGroup(t, g)
		if err == nil || !strings.Contains(err.Error(), c.text) || errors.As(err, new(*dataset.DataError)) != c.data {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestFlippedOnTheWay: the page's checksum finds a byte changed by the network, and the
// chunk is fetched once more.
func TestFlippedOnTheWay(t *testing.T) {
	store, d := newFar()
	wide(t, store, "far://flipped/x", 1, 1000)
	f, err := parquetio.Open(t.Context(), store, "far://flipped/x")
	if err != nil {
		t.Fatal(err)
	}
	d.flip = 1000
	g := rowGroup(t, f, 0, "x0")
	checkColumn(t, g, 0, 0)
	closeGroup(t, g)
	if d.flip != 0 {
		t.Error("no read came over the byte")
	}
}

// TestFlippedPieces: likewise for a byte anywhere in the chunk, if the row group is read in
// pieces.
func TestFlippedPieces(t *testing.T) {
	store, d := newFar()
	wide(t, store, "far://pieces/x", 1, 1000)
	f, err := parquetio.Open(t.Context(), store, "far://pieces/x")
	if err != nil {
		t.Fatal(err)
	}
	var want, got dataset.Vector
	whole := rowGroup(t, f, 0, "x0")
	if err := whole.ReadColumn(0, &want); err != nil {
		t.Fatal(err)
	}
	closeGroup(t, whole)
	for at := int64(4); at < 2000; at += 7 {
		d.flip = at
		g := rowGroup(t, f, 0, "x0")
		g.PageRows() // it may see the flipped byte first
		for from := 0; from < g.Rows(); from += 300 {
			to := min(from+300, g.Rows())
			if err := g.ReadRows(0, from, to, &got); err != nil {
				t.Fatalf("byte %d, rows %d to %d: %v", at, from, to, err)
			}
			for r := range got.Rows() {
				if got.Spell(r) != want.Spell(from+r) {
					t.Fatalf("byte %d: row %d is %q, expected %q", at, from+r, got.Spell(r), want.Spell(from+r))
				}
			}
		}
		closeGroup(t, g)
		d.flip = 0
	}
}
