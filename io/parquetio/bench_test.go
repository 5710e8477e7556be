package parquetio_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// dataPattern matches the files of a real data set, which bench/datasets.py fetches.
func dataPattern(tb testing.TB, set string) string {
	tb.Helper()
	folder := filepath.Join("..", "..", "bench", "data", set)
	if _, err := os.Stat(folder); err != nil {
		tb.Skipf("the data set %s is not there: %v", set, err)
	}
	return filepath.Join(folder, "*.parquet")
}

// BenchmarkReadDataset opens all files of a data set and decodes all of
// their columns.
func BenchmarkReadDataset(b *testing.B) {
	for _, set := range []string{"covertype", "bioresponse"} {
		b.Run("set="+set, func(b *testing.B) {
			pattern := dataPattern(b, set)
			store := objectstore.New()
			objects, err := store.List(b.Context(), pattern)
			if err != nil {
				b.Fatal(err)
			}
			var bytes int64
			for _, o := range objects {
				bytes += o.Size
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				if err := readAll(b.Context(), store, objects); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// readAll decodes everything with as many goroutines as processors.
func readAll(ctx context.Context, store *objectstore.Store, objects []objectstore.Object) error {
	type task struct {
		file  *parquetio.File
		group int
	}
	var tasks []task
	for _, o := range objects {
		f, err := parquetio.Open(ctx, store, o.URL)
		if err != nil {
			return err
		}
		for i := range f.RowGroups() {
			tasks = append(tasks, task{f, i})
		}
	}
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	for _, t := range tasks {
		group, err := t.file.RowGroup(ctx, t.group, names(t.file))
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				var v dataset.Vector
				for i := w; i < len(t.file.Columns()); i += workers {
					if err := group.ReadColumn(i, &v); err != nil {
						errs[w] = err
					}
				}
			})
		}
		wg.Wait()
		if err := group.Close(); err != nil {
			return err
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func names(f *parquetio.File) []string {
	var n []string
	for _, c := range f.Columns() {
		n = append(n, c.Name)
	}
	return n
}

// BenchmarkReadColumn decodes one column chunk from memory, as a whole or in pieces.
func BenchmarkReadColumn(b *testing.B) {
	const rows = 1 << 18
	numbers, texts, codes := make([]float64, rows), make([]string, rows), make([]int64, rows)
	holes := make([]*float64, rows)
	for i := range rows {
		numbers[i] = float64(i*7919%rows) / 8
		texts[i] = fmt.Sprintf("value %d", i*7919%1000)
		codes[i] = int64(i * 7919 % 100)
		if i%3 != 0 {
			holes[i] = &numbers[i]
		}
	}
	cases := []struct {
		name     string
		values   any
		encoding parquetio.Encoding
	}{
		{"type=float64/encoding=plain/nulls=0", numbers, parquetio.Plain},
		{"type=float64/encoding=plain/nulls=0.33", holes, parquetio.Plain},
		{"type=float64/encoding=split/nulls=0", numbers, parquetio.ByteStreamSplit},
		{"type=int64/encoding=dictionary/nulls=0", codes, parquetio.Dictionary},
		{"type=int64/encoding=delta/nulls=0", codes, parquetio.Delta},
		{"type=string/encoding=dictionary/nulls=0", texts, parquetio.Dictionary},
		{"type=string/encoding=plain/nulls=0", texts, parquetio.Plain},
		{"type=string/encoding=prefix/nulls=0", texts, parquetio.DeltaPrefix},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			store := objectstore.New()
			url := "mem://bench/" + c.name
			column := parquetio.WriteColumn{Name: "x", Values: c.values, Encoding: c.encoding}
			if err := parquetio.Write(b.Context(), store, url, []parquetio.WriteColumn{column},
				parquetio.WriteOptions{}); err != nil {
				b.Fatal(err)
			}
			f, err := parquetio.Open(b.Context(), store, url)
			if err != nil {
				b.Fatal(err)
			}
			group, err := f.RowGroup(b.Context(), 0, []string{"x"})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = group.Close() }()
			for _, pieces := range []int{1, 8} {
				b.Run(fmt.Sprintf("pieces=%d", pieces), func(b *testing.B) {
					var v dataset.Vector
					b.SetBytes(8 * rows)
					b.ReportAllocs()
					for b.Loop() {
						for i := range pieces {
							if err := group.ReadRows(0, i*rows/pieces, (i+1)*rows/pieces, &v); err != nil {
								b.Fatal(err)
							}
						}
					}
				})
			}
		})
	}
}
