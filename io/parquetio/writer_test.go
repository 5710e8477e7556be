package parquetio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// written is a column for a Writer, with the spelling of its dictionary and its values.
type written struct {
	field   parquetio.Field
	spell   []string // by index
	index   []uint16
	numbers []float64
}

// dictionaries returns fields of all types and widths of indexes.
func dictionaries() []written {
	var columns []written
	for _, size := range []int{1, 2, 3, 5, 16, 17, 200, 256, 257, 4096, 20_000, 65_535} {
		numbers, wholes, texts := make([]float64, size), make([]int64, size), make([]string, size)
		spelled := make([][]string, 3)
		for i := range size {
			numbers[i], wholes[i], texts[i] = float64(i)/64-5, int64(i-7), fmt.Sprintf("ä%*d", i%5, i)
			spelled[0] = append(spelled[0], spellFloat(numbers[i]))
			spelled[1] = append(spelled[1], strconv.Itoa(i-7))
			spelled[2] = append(spelled[2], texts[i])
		}
		for i, dictionary := range []any{numbers, wholes, texts} {
			for _, optional := range []bool{false, true} {
				name := fmt.Sprintf("%T %d %v", dictionary, size, optional)
				columns = append(columns, written{field: parquetio.Field{
					Name: name, Dictionary: dictionary,
					Optional: optional,
				}, spell: spelled[i]})
			}
		}
	}
	return append(columns,
		written{field: parquetio.Field{Name: "plain"}},
		written{field: parquetio.Field{Name: "plain optional", Optional: true}})
}

// fill sets random values for a number of rows, and returns their spelling. In an optional
// column one in three is missing.
func (c *written) fill(r *rand.Rand, rows int) []string {
	c.index, c.numbers = make([]uint16, rows), make([]float64, rows)
	want := make([]string, rows)
	for i := range rows {
		missing := c.field.Optional && r.IntN(3) == 0
		if c.field.Dictionary == nil {
			c.numbers[i] = r.NormFloat64()
			want[i] = spellFloat(c.numbers[i])
			if missing {
				c.numbers[i], want[i] = math.NaN(), ""
			}
			continue
		}
		c.index[i] = uint16(r.IntN(len(c.spell)))
		want[i] = c.spell[c.index[i]]
		if missing {
			c.index[i], want[i] = parquetio.Null, ""
		}
	}
	return want
}

func (c *written) write(w *parquetio.Writer) error {
	if c.field.Dictionary == nil {
		return w.WriteNumbers(c.numbers)
	}
	return w.WriteIndexes(c.index)
}

// TestWriter reads the files of a Writer by this package and by parquet-go.
func TestWriter(t *testing.T) {
	store, r := objectstore.New(), rand.New(rand.NewPCG(1, 2))
	columns := dictionaries()
	fields := make([]parquetio.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].field
	}
	for codec, name := range parquetio.Codecs() {
		t.Run(name, func(t *testing.T) {
			url := "mem://" + t.Name()
			c, err := parquetio.ParseCodec(name)
			if err != nil || int(c) != codec {
				t.Fatalf("codec %v, %v", c, err)
			}
			metadata := map[string]string{"espalier.run": "first", "espalier.a": "ä\n"}
			w, err := parquetio.NewWriter(t.Context(), store, url, fields, parquetio.WriterOptions{Codec: c, Metadata: metadata})
			if err != nil {
				t.Fatal(err)
			}
			want := make([][]string, len(columns))
			for _, rows := range []int{1, 7, 8, 9, 500} {
				for i := range columns {
					want[i] = append(want[i], columns[i].fill(r, rows)...)
					if err := columns[i].write(w); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := store.Stat(t.Context(), url); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("visible before Commit: %v", err)
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			file, err := store.ReadAll(t.Context(), url, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range columns {
				if diff := cmp.Diff(want[i], spell(t, store, url, fields[i].Name)); diff != "" {
					t.Errorf("%s: %s", fields[i].Name, diff)
				}
			}
			read, err := parquetio.Open(t.Context(), store, url)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range metadata {
				if got, _ := opened.Lookup(key); got != value || read.Metadata(key) != value {
					t.Errorf("the footer's metadata has %q for %s, want %q", got, key, value)
				}
			}
			if name != "lz4" { // parquet-go 0.32.0 misreads LZ4_RAW dictionaries, also its own
				sameElsewhere(t, file, fields, want)
			}
		})
	}
}

// TestWriterPages writes row groups with about the number of rows of a page.
func TestWriterPages(t *testing.T) {
	store, url, r := objectstore.New(), "mem://"+t.Name(), rand.New(rand.NewPCG(3, 4))
	columns := []written{
		{
			field: parquetio.Field{Name: "s", Dictionary: []string{"a", "b", "c"}, Optional: true},
			spell: []string{"a", "b", "c"},
		},
		{field: parquetio.Field{Name: "n", Dictionary: []int64{5, 6}}, spell: []string{"5", "6"}},
		{field: parquetio.Field{Name: "x", Optional: true}},
	}
	fields := []parquetio.Field{columns[0].field, columns[1].field, columns[2].field}
	w, err := parquetio.NewWriter(t.Context(), store, url, fields, parquetio.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]string, len(columns))
	for _, rows := range []int{1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 17} {
		for i := range columns {
			want[i] = append(want[i], columns[i].fill(r, rows)...)
			if err := columns[i].write(w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	file, err := store.ReadAll(t.Context(), url, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range columns {
		if !slices.Equal(want[i], spell(t, store, url, fields[i].Name)) {
			t.Errorf("%s: other values than written", fields[i].Name)
		}
	}
	sameElsewhere(t, file, fields, want)
}

// sameElsewhere reads a file by parquet-go.
func sameElsewhere(t *testing.T, file []byte, fields []parquetio.Field, want [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, g := range f.RowGroups() {
		for i, chunk := range g.ColumnChunks() {
			values := make([]parquet.Value, g.NumRows()+1)
			pages := chunk.Pages()
			n := 0
			for p, err := pages.ReadPage(); err == nil; p, err = pages.ReadPage() {
				k, _ := p.Values().ReadValues(values[n:])
				n += k
			}
			if n != int(g.NumRows()) {
				t.Fatalf("%s: parquet-go reads %d values of %d", fields[i].Name, n, g.NumRows())
			}
			for row, v := range values[:n] {
				if got := spellElsewhere(v); got != want[i][rows+row] {
					t.Fatalf("%s, row %d: parquet-go reads %q, want %q", fields[i].Name, rows+row, got,
						want[i][rows+row])
				}
			}
		}
		rows += int(g.NumRows())
	}
	if rows != len(want[0]) {
		t.Errorf("parquet-go reads %d rows of %d", rows, len(want[0]))
	}
}

func spellElsewhere(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Double:
		return spellFloat(v.Double())
	case v.Kind() == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	default:
		return string(v.ByteArray())
	}
}

func TestWriterRefuses(t *testing.T) {
	store, url := objectstore.New(), "mem://"+t.Name()+"/x"
	ab := parquetio.Field{Name: "s", Dictionary: []string{"a", "b"}}
	for problem, fields := range map[string][]parquetio.Field{
		"no columns":             nil,
		`two columns "s"`:        {ab, ab},
		"type []uint8":           {{Name: "b", Dictionary: []byte("x")}},
		"dictionary of 0 values": {{Name: "n", Dictionary: []int64{}}},
		"of 65536 values":        {{Name: "n", Dictionary: make([]int64, 1<<16)}},
	} {
		_, err := parquetio.NewWriter(t.Context(), store, url, fields, parquetio.WriterOptions{})
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), url) {
			t.Errorf("got %v, expected %q", err, problem)
		}
	}
	if _, err := parquetio.NewWriter(t.Context(), store, url, []parquetio.Field{ab},
		parquetio.WriterOptions{Codec: 99}); err == nil {
		t.Error("codec 99 was not refused")
	}
	if _, err := parquetio.ParseCodec("lzo"); err == nil || !strings.Contains(err.Error(), "snappy") {
		t.Errorf("codec lzo: %v", err)
	}
	for problem, write := range map[string]func(w *parquetio.Writer) error{
		"numbers for any other":     func(w *parquetio.Writer) error { return w.WriteNumbers([]float64{1}) },
		"row group of 0 rows":       func(w *parquetio.Writer) error { return w.WriteIndexes(nil) },
		"index 2 into a dictionary": func(w *parquetio.Writer) error { return w.WriteIndexes([]uint16{0, 2, 1}) },
		"index 65535 into a diction": func(w *parquetio.Writer) error {
			return w.WriteIndexes([]uint16{parquetio.Null})
		},
		"2 rows in a row group of 1": func(w *parquetio.Writer) error {
			return errors.Join(w.WriteIndexes([]uint16{1}), w.WriteNumbers([]float64{1, 2}))
		},
		"chunk of the last row group": func(w *parquetio.Writer) error {
			return errors.Join(w.WriteIndexes([]uint16{1}), w.Commit())
		},
	} {
		w, err := parquetio.NewWriter(t.Context(), store, url, []parquetio.Field{ab, {Name: "x"}},
			parquetio.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w); err == nil || !strings.Contains(err.Error(), problem) ||
			!strings.Contains(err.Error(), url) {
			t.Errorf("got %v, expected %q", err, problem)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
	if _, err := store.Stat(t.Context(), url); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused file is visible: %v", err)
	}
}

// TestWriterIfAbsent writes one file twice.
func TestWriterIfAbsent(t *testing.T) {
	store := objectstore.New()
	for i, want := range []error{nil, fs.ErrExist} {
		w, err := parquetio.NewWriter(t.Context(), store, "mem://"+t.Name(), []parquetio.Field{{Name: "x"}},
			parquetio.WriterOptions{IfAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteNumbers([]float64{1}), w.Commit()); !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
}

// BenchmarkWriter writes one column chunk to memory.
func BenchmarkWriter(b *testing.B) {
	const rows = 1 << 18
	r := rand.New(rand.NewPCG(1, 2))
	store := objectstore.New()
	for _, codec := range []string{"uncompressed", "snappy"} {
		for _, c := range []written{
			{field: parquetio.Field{Dictionary: make([]float64, 8)}},
			{field: parquetio.Field{Dictionary: make([]float64, 4096)}},
			{field: parquetio.Field{Dictionary: make([]float64, 4096), Optional: true}},
			{field: parquetio.Field{}},
			{field: parquetio.Field{Optional: true}},
		} {
			size := 0
			if d, ok := c.field.Dictionary.([]float64); ok {
				size = len(d)
			}
			c.spell = make([]string, size)
			c.fill(r, rows)
			b.Run(fmt.Sprintf("codec=%s/dictionary=%d/optional=%v", codec, size, c.field.Optional), func(b *testing.B) {
				parsed, err := parquetio.ParseCodec(codec)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					w, err := parquetio.NewWriter(b.Context(), store, "mem://bench/writer", []parquetio.Field{c.field},
						parquetio.WriterOptions{Codec: parsed})
					if err != nil {
						b.Fatal(err)
					}
					if err := errors.Join(c.write(w), w.Commit()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}
