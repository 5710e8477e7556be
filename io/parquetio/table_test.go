package parquetio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestTable writes rows of all types in two row groups, and reads them back.
func TestTable(t *testing.T) {
	const rows, group = 700, 600 // more than a batch of the writer
	columns := []parquetio.TableColumn{
		{Name: "text", Optional: true},
		{Name: "boolean", Type: parquetio.BooleanColumn},
		{Name: "integer", Type: parquetio.IntegerColumn},
		{Name: "float", Type: parquetio.FloatColumn, Optional: true},
		{Name: "date", Type: parquetio.DateColumn},
		{Name: "time", Type: parquetio.TimeColumn},
		{Name: "timestamp", Type: parquetio.TimestampColumn},
		{Name: "local", Type: parquetio.LocalColumn},
	}
	store := objectstore.New()
	var files [][]byte
	want := make(map[string][]string)
	for _, url := range []string{"mem://table/a.parquet", "mem://table/b.parquet"} {
		clear(want)
		w, err := parquetio.NewTable(t.Context(), store, url, columns, parquetio.WriteOptions{
			RowsPerGroup: group, DictionaryBytes: 256,
		})
		if err != nil {
			t.Fatal(err)
		}
		for r := range int64(rows) {
			want["text"] = append(want["text"], "")
			if w.SetMissing(3); r%3 > 0 {
				w.SetText(0, strconv.FormatInt(r, 36))
				want["text"][r] = strconv.FormatInt(r, 36)
			} else {
				w.SetMissing(0)
			}
			w.SetWhole(1, r%2)
			want["boolean"] = append(want["boolean"], strconv.FormatBool(r%2 == 1))
			for i, c := range columns {
				if i == 2 || i > 3 {
					w.SetWhole(i, r-5)
					want[c.Name] = append(want[c.Name], spellFloat(float64(r-5)))
				}
			}
			if err := w.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.Stat(t.Context(), url); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is there before Commit: %v", err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		b, err := store.ReadAll(t.Context(), url, 1<<20)
		if err != nil || int64(len(b)) != w.Size() {
			t.Errorf("%d bytes, Size says %d, %v", len(b), w.Size(), err)
		}
		files = append(files, b)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same rows give other bytes")
	}
	f, err := parquetio.Open(t.Context(), store, "mem://table/a.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if f.RowGroups() != 2 || f.RowGroupRows(0) != group {
		t.Errorf("%d row groups, the first has %d rows, want 2 and %d", f.RowGroups(), f.RowGroupRows(0), group)
	}
	for name, values := range want {
		got := spell(t, store, "mem://table/a.parquet", name)
		if !slices.Equal(got, values) {
			t.Errorf("column %s: got %q, want %q", name, got[:8], values[:8])
		}
	}
}

// TestTableMemory: a row group ends before its values fill memory, and neither dictionaries nor the bounds of
// pages hold long texts until the file ends.
func TestTableMemory(t *testing.T) {
	const rows, length = 1200, 60_000 // 72 MB
	store := objectstore.New()
	file := filepath.Join(t.TempDir(), "long.parquet")
	w, err := parquetio.NewTable(t.Context(), store, file, []parquetio.TableColumn{{Name: "text", Plain: true}},
		parquetio.WriteOptions{RowsPerGroup: 1 << 30, DictionaryBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for r := range rows {
		w.SetText(0, strings.Repeat(strconv.Itoa(r%10), length))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	var held runtime.MemStats
	runtime.GC()
	runtime.GC() // pools that other tests have filled are freed by the second collection
	runtime.ReadMemStats(&held)
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if held.HeapAlloc > 40<<20 {
		t.Errorf("%d MiB are held behind 72 MB of texts", held.HeapAlloc>>20)
	}
	f, err := parquetio.Open(t.Context(), store, file)
	if err != nil || f.RowGroups() != 2 {
		t.Errorf("%v, want two row groups", err)
	}
}

// TestPageMemory: a page with a text that is too long, or of more bytes than memory allows, is refused before
// it is decompressed.
func TestPageMemory(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	for _, c := range []struct {
		texts, length int
		limit         int64
		want          string
	}{
		{10, 1 << 20, math.MaxInt64, "expected at most 65536"},
		{200, 60_000, 80 << 20, "raise --memory"},
	} {
		for _, encoding := range []parquetio.Encoding{parquetio.Plain, parquetio.Dictionary} {
			texts := make([]string, c.texts)
			for i := range texts {
				texts[i] = fmt.Sprintf("%04d", i) + strings.Repeat("x", c.length)
			}
			store, url := objectstore.New(), filepath.Join(t.TempDir(), "x.parquet")
			err := parquetio.Write(t.Context(), store, url, []parquetio.WriteColumn{{Name: "a", Values: texts, Encoding: encoding}},
				parquetio.WriteOptions{PageBytes: 1 << 30, Codec: parquetio.Zstd})
			if err != nil {
				t.Fatal(err)
			}
			f, err := parquetio.Open(t.Context(), store, url)
			if err != nil {
				t.Fatal(err)
			}
			debug.SetMemoryLimit(c.limit)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = readColumn(t, f, 0, "a", new(dataset.Vector))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d texts of %d bytes: %v, want %q", c.texts, c.length, err, c.want)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
				t.Errorf("%d texts of %d bytes: %d MiB were taken", c.texts, c.length, taken>>20)
			}
		}
	}
}
