package parquetio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// fixtures returns files of other writers. They have no checksums, so damage reaches the
// decoders.
func fixtures(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(paths) == 0 {
		tb.Fatal("no fixtures", err)
	}
	files := make(map[string][]byte)
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// sample writes a file of several types and row groups.
func sample(tb testing.TB, o parquetio.WriteOptions) []byte {
	tb.Helper()
	const rows = 3000
	numbers, texts, flags := make([]*float64, rows), make([]string, rows), make([]bool, rows)
	for i := range rows {
		if x := float64(i % 700); i%5 != 0 {
			numbers[i] = &x
		}
		texts[i] = fmt.Sprint("value ", i%300)
		flags[i] = i%3 == 0
	}
	store, url := objectstore.New(), "mem://"+tb.Name()+"/sample"
	err := parquetio.Write(tb.Context(), store, url, []parquetio.WriteColumn{
		{Name: "number", Values: numbers},
		{Name: "text", Values: texts},
		{Name: "plain", Values: texts, Encoding: parquetio.DeltaPrefix},
		{Name: "flag", Values: flags},
	}, o)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := store.ReadAll(tb.Context(), url, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// readEverything reads all readable columns of a file.
func readEverything(tb testing.TB, store *objectstore.Store, url string) error {
	tb.Helper()
	f, err := parquetio.Open(tb.Context(), store, url)
	if err != nil {
		return err
	}
	var errs []error
	var v dataset.Vector
	for i := range f.RowGroups() {
		for _, c := range f.Columns() {
			if err := readColumn(tb, f, i, c.Name, &v); err != nil {
				errs = append(errs, err)
				continue
			}
			checkVector(tb, &v, int(f.RowGroupRows(i)))
		}
	}
	return errors.Join(errs...)
}

// wantDataErrors checks that all errors are DataErrors.
func wantDataErrors(tb testing.TB, err error, url string) {
	tb.Helper()
	if err == nil {
		return
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			_ = wantDataError(tb, e, url)
		}
		return
	}
	_ = wantDataError(tb, err, url)
}

func TestTruncated(t *testing.T) {
	file := sample(t, parquetio.WriteOptions{Codec: parquetio.Uncompressed, RowsPerGroup: 500})
	if len(file) < 40_000 {
		t.Fatalf("a sample of %d bytes is too small", len(file))
	}
	for end := 0; end < len(file); end += 4096 {
		store, url := put(t, "truncated", file[:end])
		_, err := parquetio.Open(t.Context(), store, url)
		if e := wantDataError(t, err, url); !strings.Contains(e.Problem, "not a Parquet file") {
			t.Errorf("cut at %d: %v", end, e)
		}
	}
}

func TestFooterFaults(t *testing.T) {
	good := sample(t, parquetio.WriteOptions{})
	end := len(good) - 8
	footer := binary.LittleEndian.Uint32(good[end:])
	ending := func(extra []byte, length uint32, magic string) []byte {
		b := binary.LittleEndian.AppendUint32(slices.Concat(good[:end], extra), length)
		return append(b, magic...)
	}
	for problem, file := range map[string][]byte{
		"0 bytes are too few":     {},
		"no PAR1 at its end":      ending(nil, footer, "PARX"),
		"footer is encrypted":     ending(nil, footer, "PARE"),
		"footer is damaged":       ending(nil, footer-1, "PAR1"),
		"3 bytes follow its end":  ending([]byte{1, 2, 3}, footer+3, "PAR1"),
		"claims 4294967295 bytes": ending(nil, math.MaxUint32, "PAR1"),
	} {
		store, url := put(t, "x", file)
		_, err := parquetio.Open(t.Context(), store, url)
		if e := wantDataError(t, err, url); !strings.Contains(e.Problem, problem) {
			t.Errorf("expected %q: %v", problem, e)
		}
	}
}

// TestFlippedBytes damages files and expects a DataError or values, within
// bounds of memory.
func TestFlippedBytes(t *testing.T) {
	const maxAlloc = 1 << 30
	cases := 2000
	if testing.Short() {
		cases = 200
	}
	files := fixtures(t)
	files["sample"] = sample(t, parquetio.WriteOptions{RowsPerGroup: 1000})
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			footer := int(binary.LittleEndian.Uint32(file[len(file)-8:])) + 8
			for i := range cases / len(files) {
				damaged := slices.Clone(file)
				for range 1 + r.IntN(3) {
					at := r.IntN(len(file))
					if i%2 == 0 {
						at = len(file) - 1 - r.IntN(footer)
					}
					damaged[at] ^= byte(1 + r.IntN(255))
				}
				store, url := put(t, "x", damaged)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				wantDataErrors(t, readEverything(t, store, url), url)
				runtime.ReadMemStats(&after)
				if taken := after.TotalAlloc - before.TotalAlloc; taken > maxAlloc {
					t.Errorf("case %d took %d MiB", i, taken>>20)
				}
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	for _, file := range fixtures(f) {
		f.Add(file)
	}
	for _, o := range []parquetio.WriteOptions{
		{},
		{PageVersion: 2, Codec: parquetio.Uncompressed},
		{Codec: parquetio.Zstd, DictionaryBytes: 100},
	} {
		f.Add(sample(f, o))
	}
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		store, url := put(t, "x", file)
		wantDataErrors(t, readEverything(t, store, url), url)
	})
}

// writeLeaf writes one required column x of the given values.
func writeLeaf(tb testing.TB, node parquet.Node, values ...parquet.Value) []byte {
	tb.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[any](&file, parquet.NewSchema("t", parquet.Group{"x": node}))
	for i := range values {
		values[i] = values[i].Level(0, 0, 0)
	}
	if _, err := w.ColumnWriters()[0].WriteRowValues(values); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// TestValuesOutOfContract checks that values beyond float64 or the limits are refused with
// their place, in plain pages and in dictionaries.
func TestValuesOutOfContract(t *testing.T) {
	for _, c := range []struct {
		name           string
		node           parquet.Node
		value          parquet.Value
		problem, shown string
	}{
		{"int64", parquet.Int(64), parquet.Int64Value(1<<53 + 1), "beyond 2^53", "9007199254740993"},
		{"int64", parquet.Int(64), parquet.Int64Value(-1<<53 - 1), "beyond 2^53", "-9007199254740993"},
		{"int64", parquet.Int(64), parquet.Int64Value(math.MaxInt64), "beyond 2^53", "9223372036854775807"},
		{"uint64", parquet.Uint(64), parquet.Int64Value(-1), "beyond 2^53", "18446744073709551615"},
		{"utf8", parquet.String(), parquet.ByteArrayValue([]byte("a\xffb")), "UTF-8", "a\xffb"},
		{"long", parquet.String(), parquet.ByteArrayValue(make([]byte, 64<<10+1)), "65537 bytes", ""},
	} {
		for _, e := range []format.Encoding{format.Plain, format.RLEDictionary} {
			node := parquet.Encoded(c.node, parquet.LookupEncoding(e))
			store, url := put(t, "x", writeLeaf(t, node, c.value))
			f, err := parquetio.Open(t.Context(), store, url)
			if err != nil {
				t.Fatal(err)
			}
			var v dataset.Vector
			got := wantDataError(t, readColumn(t, f, 0, "x", &v), url)
			if !strings.Contains(got.Problem, c.problem) || got.Value != c.shown || got.Column != "x" ||
				got.RowGroup == nil || *got.RowGroup != 0 {
				t.Errorf("%s %s: %+v", c.name, e, got)
			}
		}
	}
	for _, x := range []int64{1 << 53, -1 << 53, 1<<53 + 2, math.MinInt64, 1 << 62} {
		store, url := put(t, "exact", writeLeaf(t, parquet.Int(64), parquet.Int64Value(x)))
		if got := spell(t, store, url, "x"); got[0] != spellFloat(float64(x)) {
			t.Errorf("%d: got %s", x, got[0])
		}
	}
	longest := strings.Repeat("x", 64<<10)
	store, url := put(t, "longest", writeLeaf(t, parquet.String(), parquet.ByteArrayValue([]byte(longest))))
	if got := spell(t, store, url, "x"); got[0] != longest {
		t.Error("a text of 64 KiB is not read")
	}
}

func TestChangedFile(t *testing.T) {
	for _, base := range []string{"mem://" + t.Name(), t.TempDir()} {
		store, url := objectstore.New(), objectstore.Join(base, "x.parquet")
		write := func(n int) {
			t.Helper()
			columns := []parquetio.WriteColumn{{Name: "x", Values: make([]float64, n)}}
			if err := parquetio.Write(t.Context(), store, url, columns, parquetio.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		write(3)
		f, err := parquetio.Open(t.Context(), store, url)
		if err != nil {
			t.Fatal(err)
		}
		write(4)
		_, err = f.RowGroup(t.Context(), 0, []string{"x"})
		if e := wantDataError(t, err, url); !strings.Contains(e.Problem, "was replaced") {
			t.Error(e)
		}
	}
}

func TestMissingColumns(t *testing.T) {
	store, url := put(t, "x", sample(t, parquetio.WriteOptions{}))
	f, err := parquetio.Open(t.Context(), store, url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.RowGroup(t.Context(), 0, []string{"number", "nombre", "texte"})
	if e := wantDataError(t, err, url); e.Column != "nombre" || !strings.Contains(e.Problem, `"nombre" "texte"`) {
		t.Errorf("%+v", e)
	}
	for _, i := range []int{-1, 1} {
		if _, err := f.RowGroup(t.Context(), i, nil); err == nil {
			t.Errorf("there is no row group %d", i)
		}
	}
	if _, err := parquetio.Open(t.Context(), store, url+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, expected that the file does not exist", err)
	}
}
