package parquetio_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

func writeRows(tb testing.TB, store *objectstore.Store, url string, rows int) {
	tb.Helper()
	columns := []parquetio.WriteColumn{{Name: "x", Values: make([]float64, rows)}}
	if err := parquetio.Write(tb.Context(), store, url, columns, parquetio.WriteOptions{}); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, c *parquetio.Source, url string, rows int64) *parquetio.File {
	tb.Helper()
	f, err := c.Open(tb.Context(), objectstore.Object{URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	if f.Rows != rows {
		tb.Errorf("%s has %d rows, expected %d", url, f.Rows, rows)
	}
	return f
}

func TestSource(t *testing.T) {
	store, base := objectstore.New(), "mem://"+t.Name()
	c := parquetio.NewSource(store, parquetio.SourceOptions{Footers: 2})
	url := func(i int) string { return fmt.Sprintf("%s/%d", base, i) }
	for i := range 3 {
		writeRows(t, store, url(i), i+1)
	}
	first, second := open(t, c, url(0), 1), open(t, c, url(1), 2)
	if open(t, c, url(0), 1) != first {
		t.Error("a file was read again")
	}
	open(t, c, url(2), 3)
	if open(t, c, url(0), 1) != first {
		t.Error("the file used last was dropped")
	}
	if open(t, c, url(1), 2) == second {
		t.Error("the cache keeps more than its bound")
	}
	writeRows(t, store, url(1), 9)
	open(t, c, url(1), 9)
	if err := store.Remove(t.Context(), url(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), objectstore.Object{URL: url(1)}); err == nil {
		t.Error("a file that is gone was found")
	}
}

func TestSourceErrors(t *testing.T) {
	store, url := put(t, "x", []byte("this is no Parquet file"))
	c := parquetio.NewSource(store, parquetio.SourceOptions{Footers: 2})
	for range 2 {
		_, err := c.Open(t.Context(), objectstore.Object{URL: url})
		_ = wantDataError(t, err, url)
	}
	writeRows(t, store, url, 1)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Open(cancelled, objectstore.Object{URL: url}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	open(t, c, url, 1)
}

func TestSourceConcurrently(t *testing.T) {
	store, base := objectstore.New(), "mem://"+t.Name()
	for i := range 4 {
		writeRows(t, store, fmt.Sprintf("%s/%d", base, i), i)
	}
	c := parquetio.NewSource(store, parquetio.SourceOptions{Footers: 3})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for k := range 50 {
				i := (g + k) % 4
				if f, err := c.Open(t.Context(), objectstore.Object{URL: fmt.Sprintf("%s/%d", base, i)}); err != nil ||
					f.Rows != int64(i) {
					t.Errorf("file %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}
