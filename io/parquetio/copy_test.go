package parquetio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// allRows returns all values as parquet-go reads them, by row.
func allRows(tb testing.TB, b []byte) (*parquet.Schema, []parquet.Row) {
	tb.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		tb.Fatal(err)
	}
	var all []parquet.Row
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				all = append(all, row.Clone())
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return f.Schema(), all
}

// copied copies all columns of a file, and writes a further column behind them.
func copied(tb testing.TB, store *objectstore.Store, url string) []byte {
	tb.Helper()
	b, err := tryCopy(tb, store, url)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func tryCopy(tb testing.TB, store *objectstore.Store, url string) ([]byte, error) {
	tb.Helper()
	f, err := parquetio.Open(tb.Context(), store, url)
	if err != nil {
		return nil, err
	}
	o, err := f.Original(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer o.Close() //nolint:errcheck // read only
	var fields []parquetio.Field
	for _, c := range f.Columns() {
		fields = append(fields, parquetio.Field{Name: c.Name, Original: o})
	}
	fields = append(fields, parquetio.Field{Name: "added", Dictionary: []int32{7, -8}})
	w, err := parquetio.NewWriter(tb.Context(), store, url+".copy", fields, parquetio.WriterOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	for group := range f.RowGroups() {
		for range f.Columns() {
			if err := w.CopyChunks(group); err != nil {
				return nil, errors.Join(err, w.Abort())
			}
		}
		index := make([]uint16, f.RowGroupRows(group))
		for i := range index {
			index[i] = uint16(i % 2)
		}
		if err := w.WriteIndexes(index); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatal(err)
	}
	return store.ReadAll(tb.Context(), url+".copy", 1<<30)
}

type nested struct {
	ID    int64             `parquet:"id"`
	Tags  []string          `parquet:"tags,list"`
	Named map[string]string `parquet:"named"`
	Place *struct {
		X float64 `parquet:"x"`
		Y *int32  `parquet:"y,optional"`
	} `parquet:"place,optional"`
}

func nestedFile(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[nested](&b, parquet.MaxRowsPerRowGroup(30))
	for i := range 100 {
		row := nested{ID: int64(i), Named: map[string]string{"a": strings.Repeat("b", i%4)}}
		for k := range i % 3 {
			row.Tags = append(row.Tags, strings.Repeat("t", k))
		}
		if _, err := w.Write([]nested{row}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestCopy: parquet-go reads the same values from the copy as from the original, for columns
// of any type and nesting by several writers. The written column follows them.
func TestCopy(t *testing.T) {
	files := map[string][]byte{"nested.parquet": nestedFile(t)}
	found, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files, error %v", len(found), err)
	}
	for _, name := range found {
		if strings.Contains(name, "unpadded") || strings.Contains(name, "short_chunk") || strings.Contains(name, "arrow_2") {
			continue // parquet-go does not read them
		}
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			schema, want := allRows(t, b)
			store, url := put(t, name, b)
			gotSchema, got := allRows(t, copied(t, store, url))
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			added := len(schema.Columns())
			for i, path := range schema.Columns() {
				if !slices.Equal(gotSchema.Columns()[i], path) {
					t.Fatalf("column %d is %v, want %v", i, gotSchema.Columns()[i], path)
				}
			}
			for i, row := range got {
				own, last := row[:len(row)-1], row[len(row)-1]
				if diff := cmp.Diff(spelledRow(want[i]), spelledRow(own)); diff != "" {
					t.Fatalf("row %d:\n%s", i, diff)
				}
				if x := last.Int32(); last.Column() != added || x != 7 && x != -8 {
					t.Fatalf("row %d: column %d is %v", i, last.Column(), x)
				}
			}
		})
	}
}

func spelledRow(row parquet.Row) []string {
	texts := make([]string, len(row))
	for i, v := range row {
		texts[i] = v.GoString()
	}
	return texts
}

// TestCopyErrors: chunks of another number of rows, and unknown columns.
func TestCopyErrors(t *testing.T) {
	store, url := put(t, "rows.parquet", nestedFile(t))
	f, err := parquetio.Open(t.Context(), store, url)
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Original(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close() //nolint:errcheck // read only
	if _, err := parquetio.NewWriter(t.Context(), store, url+".none", []parquetio.Field{{Name: "nobody", Original: o}},
		parquetio.WriterOptions{}); err == nil {
		t.Error("no error for a column that the file lacks")
	}
	w, err := parquetio.NewWriter(t.Context(), store, url+".few",
		[]parquetio.Field{{Name: "own", Dictionary: []string{"a"}}, {Name: "id", Original: o}},
		parquetio.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort() //nolint:errcheck // nothing to lose
	if err := w.CopyChunks(0); err == nil {
		t.Error("no error for chunks of a column that is written")
	}
	if err := w.WriteIndexes(make([]uint16, 29)); err != nil {
		t.Fatal(err)
	}
	if err := w.CopyChunks(0); err == nil {
		t.Error("no error for a chunk of 30 rows beside one of 29")
	}
	if err := w.WriteIndexes(make([]uint16, 29)); err == nil {
		t.Error("no error for indexes of a column that is copied")
	}
}

// changedFooter returns a file whose footer was changed.
func changedFooter(tb testing.TB, file []byte, change func(*format.FileMetaData)) []byte {
	tb.Helper()
	end := len(file) - 8
	start := end - int(binary.LittleEndian.Uint32(file[end:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), file[start:end], &meta); err != nil {
		tb.Fatal(err)
	}
	change(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		tb.Fatal(err)
	}
	b := append(slices.Clone(file[:start]), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// TestEncryptedColumn: an encrypted column is neither read nor copied, as its bytes are
// useless without the key. Other columns of the file are.
func TestEncryptedColumn(t *testing.T) {
	byKey := &format.EncryptionWithColumnKey{PathInSchema: thrift.Slice[string]{"text"}}
	for name, crypto := range map[string]format.ColumnCryptoMetaDataValue{
		"footer key": new(format.EncryptionWithFooterKey), "column key": byKey,
	} {
		t.Run(name, func(t *testing.T) {
			store, url := put(t, name, changedFooter(t, sample(t, parquetio.WriteOptions{}),
				func(m *format.FileMetaData) {
					m.RowGroups[0].Columns[1].CryptoMetadata.Value = crypto
				}))
			f, err := parquetio.Open(t.Context(), store, url)
			if err != nil {
				t.Fatal(err)
			}
			var v dataset.Vector
			wantEncrypted(t, readColumn(t, f, 0, "text", &v))
			o, err := f.Original(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close() //nolint:errcheck // read only
			fields := []parquetio.Field{{Name: "number", Original: o}, {Name: "text", Original: o}}
			w, err := parquetio.NewWriter(t.Context(), store, url+".copy", fields, parquetio.WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort() //nolint:errcheck // nothing to lose
			if err := w.CopyChunks(0); err != nil {
				t.Fatalf("a column in clear: %v", err)
			}
			wantEncrypted(t, w.CopyChunks(0))
		})
	}
}

func wantEncrypted(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), `"text"`) ||
		!strings.Contains(err.Error(), "the column is encrypted") {
		t.Errorf("got %v, want that the column text is encrypted", err)
	}
}

// TestCopyShortChunk: a chunk whose size leaves some bytes out is copied as a whole.
func TestCopyShortChunk(t *testing.T) {
	b, err := os.ReadFile("testdata/short_chunk.parquet")
	if err != nil {
		t.Fatal(err)
	}
	store, url := put(t, "short_chunk.parquet", b)
	again, url2 := put(t, "copy.parquet", copied(t, store, url))
	for _, column := range []string{"x", "class"} {
		if want, got := spell(t, store, url, column), spell(t, again, url2, column); !slices.Equal(got, want) || len(got) != 300 {
			t.Errorf("%s: %d values, want those of the original", column, len(got))
		}
	}
}

// TestCopyOfDamage: of a damaged file there is an error with its place, or a copy that can be read.
func TestCopyOfDamage(t *testing.T) {
	files := map[string][]byte{"nested": nestedFile(t)}
	found, _ := filepath.Glob("testdata/*.parquet")
	for _, name := range found {
		if strings.Contains(name, "unpadded") || strings.Contains(name, "short_chunk") || strings.Contains(name, "arrow_2") {
			continue // parquet-go does not read them
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = b
	}
	store := objectstore.New()
	refused := 0
	for name, whole := range files {
		footer := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
		for at := 4; at+8 < footer; at += max(8, footer/40) {
			b := bytes.Clone(whole)
			for i := range 8 {
				b[at+i] = 0xff
			}
			if err := store.Put(t.Context(), "mem://damage", b, objectstore.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			out, err := tryCopy(t, store, "mem://damage")
			var fault *dataset.DataError
			switch {
			case errors.As(err, &fault):
				refused++
				if fault.File == "" || fault.Column == "" || fault.RowGroup == nil {
					t.Errorf("%s at %d: no place: %v", name, at, err)
				}
			case err != nil:
				t.Errorf("%s at %d: %v", name, at, err)
			default:
				func() {
					defer func() {
						if p := recover(); p != nil {
							t.Errorf("%s at %d: the copy cannot be read: %v", name, at, p)
						}
					}()
					if _, err := readable(out); err != nil {
						t.Errorf("%s at %d: the copy cannot be read: %v", name, at, err)
					}
				}()
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d damaged files were refused", refused)
	}
}

// readable reads all rows of a file by parquet-go, and counts them.
func readable(b []byte) (n int, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return 0, err
	}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 64)
		for {
			k, err := rows.ReadRows(buffer)
			n += k
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return n, errors.Join(err, rows.Close())
			}
		}
		if err := rows.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}
