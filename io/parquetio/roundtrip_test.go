package parquetio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// column is a type of column, with a generator of its values and their expected spelling.
type column struct {
	name      string
	node      parquet.Node
	encodings []encoding.Encoding
	value     func(*rand.Rand) parquet.Value
	spell     func(parquet.Value) string
}

// Encodings by the kind of a type.
var (
	fixedEncodings   = []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit}
	integerEncodings = slices.Concat(fixedEncodings, []encoding.Encoding{&parquet.DeltaBinaryPacked})
	byteEncodings    = []encoding.Encoding{
		&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaLengthByteArray,
		&parquet.DeltaByteArray,
	}
	fixedByteEncodings = []encoding.Encoding{
		&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaByteArray,
		&parquet.ByteStreamSplit,
	}
)

func int32of(spread uint32) func(*rand.Rand) parquet.Value {
	return func(r *rand.Rand) parquet.Value {
		return parquet.Int32Value(int32(r.Uint32()%spread) - int32(spread/2))
	}
}

func int64of(spread uint64) func(*rand.Rand) parquet.Value {
	return func(r *rand.Rand) parquet.Value {
		return parquet.Int64Value(int64(r.Uint64()%spread) - int64(spread/2))
	}
}

func fixedOf(n int) func(*rand.Rand) parquet.Value {
	return func(r *rand.Rand) parquet.Value { return parquet.FixedLenByteArrayValue(randomBytes(r, n)) }
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func randomText(r *rand.Rand) parquet.Value {
	return parquet.ByteArrayValue([]byte(fmt.Sprintf("%0*d ä€", r.IntN(20), r.IntN(400))))
}

func randomDouble(r *rand.Rand) parquet.Value {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}
	if i := r.IntN(40); i < len(special) {
		return parquet.DoubleValue(special[i])
	}
	return parquet.DoubleValue(float64(r.IntN(2000)) / 7)
}

func randomFloat(r *rand.Rand) parquet.Value {
	return parquet.FloatValue(float32(randomDouble(r).Double()))
}

func spellInt32(v parquet.Value) string { return strconv.Itoa(int(v.Int32())) }

func spellInt64(v parquet.Value) string { return spellFloat(float64(v.Int64())) }

// spellMillis and spellNanos convert to microseconds, rounded down: Euclidean division.
func spellMillis(v parquet.Value) string { return strconv.FormatInt(1000*v.Int64(), 10) }

func spellNanos(v parquet.Value) string {
	return new(big.Int).Div(big.NewInt(v.Int64()), big.NewInt(1000)).String()
}

func spellDecimal(x *big.Int, scale int64) string {
	f, _ := new(big.Rat).SetFrac(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil)).Float64()
	return spellFloat(f)
}

func spellBytes(scale int64) func(parquet.Value) string {
	return func(v parquet.Value) string {
		b := v.ByteArray()
		x := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0]&0x80 != 0 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return spellDecimal(x, scale)
	}
}

// columns returns columns of all types.
func columns() []column {
	return slices.Concat(numberColumns(), timeColumns(), decimalColumns(), textColumns())
}

func numberColumns() []column {
	return []column{
		{
			"boolean", parquet.Leaf(parquet.BooleanType),
			[]encoding.Encoding{&parquet.Plain, &parquet.RLE, &parquet.RLEDictionary},
			func(r *rand.Rand) parquet.Value { return parquet.BooleanValue(r.IntN(5) == 0) }, spellAny,
		},
		{"int32", parquet.Leaf(parquet.Int32Type), integerEncodings, int32of(math.MaxUint32), spellInt32},
		{"int8", parquet.Int(8), integerEncodings, int32of(256), spellInt32},
		{"int16", parquet.Int(16), integerEncodings, int32of(1 << 16), spellInt32},
		{
			"uint8", parquet.Uint(8), integerEncodings,
			func(r *rand.Rand) parquet.Value { return parquet.Int32Value(r.Int32N(256)) }, spellInt32,
		},
		{
			"uint32", parquet.Uint(32), integerEncodings, int32of(math.MaxUint32),
			func(v parquet.Value) string { return strconv.Itoa(int(uint32(v.Int32()))) },
		},
		{"int64", parquet.Int(64), integerEncodings, int64of(1 << 54), spellInt64},
		{
			"uint64", parquet.Uint(64), integerEncodings,
			func(r *rand.Rand) parquet.Value { return parquet.Int64Value(r.Int64N(1<<53) * (1 + 2047*r.Int64N(2))) },
			func(v parquet.Value) string { return spellFloat(float64(uint64(v.Int64()))) },
		},
		{"float", parquet.Leaf(parquet.FloatType), fixedEncodings, randomFloat, spellAny},
		{"double", parquet.Leaf(parquet.DoubleType), fixedEncodings, randomDouble, spellAny},
	}
}

func timeColumns() []column {
	return []column{
		{"date", parquet.Date(), integerEncodings, int32of(40000), spellInt32},
		{
			"time_ms", parquet.Time(parquet.Millisecond), integerEncodings, int32of(86400000),
			func(v parquet.Value) string { return strconv.Itoa(1000 * int(v.Int32())) },
		},
		{"time_us", parquet.Time(parquet.Microsecond), integerEncodings, int64of(86400000000), spellInt64},
		{"timestamp_ns", parquet.Timestamp(parquet.Nanosecond), integerEncodings, int64of(math.MaxInt64), spellNanos},
		{"timestamp_ms", parquet.Timestamp(parquet.Millisecond), integerEncodings, int64of(1 << 41), spellMillis},
		{
			"int96", parquet.Leaf(parquet.Int96Type),
			[]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary},
			func(r *rand.Rand) parquet.Value {
				nanos, day := r.Uint64N(86400e9), 2440588+uint32(r.IntN(40000))-20000
				return parquet.Int96Value(deprecated.Int96{uint32(nanos), uint32(nanos >> 32), day})
			},
			func(v parquet.Value) string {
				x := v.Int96()
				return strconv.FormatInt((int64(x[2])-2440588)*86400e6+(int64(x[1])<<32+int64(x[0]))/1000, 10)
			},
		},
	}
}

func decimalColumns() []column {
	return []column{
		{
			"decimal32", parquet.Decimal(2, 9, parquet.Int32Type), integerEncodings, int32of(2000000),
			func(v parquet.Value) string { return spellDecimal(big.NewInt(int64(v.Int32())), 2) },
		},
		{
			"decimal64", parquet.Decimal(5, 18, parquet.Int64Type), integerEncodings, int64of(math.MaxUint64),
			func(v parquet.Value) string { return spellDecimal(big.NewInt(v.Int64()), 5) },
		},
		{
			"decimal_fixed", parquet.Decimal(10, 38, parquet.FixedLenByteArrayType(16)), fixedByteEncodings, fixedOf(16),
			spellBytes(10),
		},
		{
			"decimal_bytes", parquet.Decimal(3, 38, parquet.ByteArrayType), byteEncodings,
			func(r *rand.Rand) parquet.Value { return parquet.ByteArrayValue(randomBytes(r, r.IntN(16))) },
			spellBytes(3),
		},
	}
}

func textColumns() []column {
	return []column{
		{"string", parquet.String(), byteEncodings, randomText, spellAny},
		{"enum", parquet.Enum(), byteEncodings, randomText, spellAny},
		{"json", parquet.JSON(), byteEncodings, randomText, spellAny},
		{"bson", parquet.BSON(), byteEncodings, randomText, spellAny},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), byteEncodings, randomText, spellAny},
		{"uuid", parquet.UUID(), fixedByteEncodings, fixedOf(16), func(v parquet.Value) string {
			b := v.ByteArray()
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}},
	}
}

var codecs = []compress.Codec{
	&parquet.Snappy, &parquet.Uncompressed, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw,
}

// nullPatterns tell which rows are missing.
var nullPatterns = []struct {
	name    string
	missing func(r *rand.Rand, row int) bool
}{
	{"required", nil},
	{"none", func(*rand.Rand, int) bool { return false }},
	{"all", func(*rand.Rand, int) bool { return true }},
	{"some", func(r *rand.Rand, _ int) bool { return r.IntN(3) == 0 }},
	{"runs", func(_ *rand.Rand, row int) bool { return row/100%2 == 0 }},
	{"last", func(_ *rand.Rand, row int) bool { return row > 10 }},
}

// layout is the layout of a generated file.
type layout struct {
	codec    compress.Codec
	version  int
	rows     []int // number of rows by row group
	fallback bool  // dictionaries are small, so plain pages follow
}

func generate(tb testing.TB, c column, e encoding.Encoding, nulls func(*rand.Rand, int) bool, l layout,
	r *rand.Rand,
) (file []byte, want []string) {
	tb.Helper()
	node := parquet.Encoded(c.node, e)
	if nulls != nil {
		node = parquet.Optional(node)
	}
	options := []parquet.WriterOption{
		parquet.NewSchema("t", parquet.Group{"x": node}), parquet.Compression(l.codec),
		parquet.DataPageVersion(l.version), parquet.PageBufferSize(700),
	}
	if l.fallback {
		options = append(options, parquet.DictionaryMaxBytes(400))
	}
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[any](&buf, options...)
	for _, rows := range l.rows {
		values := make([]parquet.Value, rows)
		repeated := c.value(r)
		for i := range values {
			switch {
			case nulls != nil && nulls(r, i):
				values[i] = parquet.NullValue().Level(0, 0, 0)
				want = append(want, "")
				continue
			case i/50%3 == 0: // runs
				values[i] = repeated
			default:
				values[i] = c.value(r)
			}
			want = append(want, c.spell(values[i]))
			if nulls != nil {
				values[i] = values[i].Level(0, 1, 0)
			}
		}
		for len(values) > 0 { // the writer checks page sizes between calls only
			n := min(len(values), 97)
			if _, err := w.ColumnWriters()[0].WriteRowValues(values[:n]); err != nil {
				tb.Fatal(err)
			}
			values = values[n:]
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes(), want
}

func TestRoundTrip(t *testing.T) {
	for _, c := range columns() {
		t.Run("type="+c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			for _, e := range c.encodings {
				for _, nulls := range nullPatterns {
					for _, version := range []int{1, 2} {
						l := layout{
							codec: codecs[r.IntN(len(codecs))], version: version,
							rows: []int{1 + r.IntN(600), 1, 0, 7, 8, 9, 1024}, fallback: r.IntN(2) == 0,
						}
						if testing.Short() && r.IntN(4) > 0 {
							continue
						}
						name := fmt.Sprintf("encoding=%s nulls=%s codec=%s version=%d fallback=%t", e, nulls.name,
							l.codec, version, l.fallback)
						file, want := generate(t, c, e, nulls.missing, l, r)
						store, url := put(t, name, file)
						if diff := cmp.Diff(want, spell(t, store, url, "x")); diff != "" {
							t.Fatalf("%s: (-want +got)\n%s", name, diff)
						}
						if l.codec == &parquet.Lz4Raw {
							continue // parquet-go loses barely compressible pages
						}
						if diff := cmp.Diff(want, naive(t, file, "x", c.spell)); diff != "" {
							t.Fatalf("%s: (-want +naive)\n%s", name, diff)
						}
					}
				}
			}
		})
	}
}

// TestCodecs reads every codec with pages of both versions.
func TestCodecs(t *testing.T) {
	var text column
	for _, c := range columns() {
		if c.name == "string" {
			text = c
		}
	}
	for _, codec := range codecs {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprintf("codec=%s/version=%d", codec, version), func(t *testing.T) {
				l := layout{codec: codec, version: version, rows: []int{1000}}
				file, want := generate(t, text, &parquet.Plain, nullPatterns[3].missing, l, rand.New(rand.NewPCG(1, 2)))
				store, url := put(t, "x", file)
				if diff := cmp.Diff(want, spell(t, store, url, "x")); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestDictionaryFallback reads chunks that begin with a dictionary and continue in plain
// pages.
func TestDictionaryFallback(t *testing.T) {
	const rows = 2000
	numbers, texts := make([]*int64, rows), make([]*string, rows)
	var wantNumbers, wantTexts []string
	for i := range rows {
		x, s := int64(i), fmt.Sprint("text ", i%1500)
		if i%3 == 0 {
			wantNumbers, wantTexts = append(wantNumbers, ""), append(wantTexts, "")
			continue
		}
		numbers[i], texts[i] = &x, &s
		wantNumbers, wantTexts = append(wantNumbers, strconv.Itoa(i)), append(wantTexts, s)
	}
	store, url := objectstore.New(), "mem://"+t.Name()
	url = objectstore.Join(url, "x")
	columns := []parquetio.WriteColumn{{Name: "number", Values: numbers}, {Name: "text", Values: texts}}
	o := parquetio.WriteOptions{DictionaryBytes: 4000, PageBytes: 500}
	if err := parquetio.Write(t.Context(), store, url, columns, o); err != nil {
		t.Fatal(err)
	}
	file, err := store.ReadAll(t.Context(), url, 0)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := pageKinds(t, file); kinds != "number: dictionary plain, text: dictionary plain" {
		t.Fatalf("the file has other pages than meant: %s", kinds)
	}
	if diff := cmp.Diff(wantNumbers, spell(t, store, url, "number")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantTexts, spell(t, store, url, "text")); diff != "" {
		t.Error(diff)
	}
}

// pageKinds lists the kinds of pages in the columns of a file.
func pageKinds(tb testing.TB, file []byte) string {
	tb.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	var columns []string
	for _, chunk := range f.RowGroups()[0].ColumnChunks() {
		kinds := map[string]bool{}
		pages := chunk.Pages()
		for p, err := pages.ReadPage(); err == nil; p, err = pages.ReadPage() {
			if p.Dictionary() != nil {
				kinds[" dictionary"] = true
			} else {
				kinds[" plain"] = true
			}
		}
		name := f.Schema().Columns()[chunk.Column()][0]
		columns = append(columns, name+":"+strings.Join(slices.Sorted(maps.Keys(kinds)), ""))
	}
	return strings.Join(columns, ", ")
}

func TestWriteOrderAndDeterminism(t *testing.T) {
	one := 1.5
	cs := []parquetio.WriteColumn{
		{Name: "z", Values: []float64{1, 2, math.NaN()}},
		{Name: "a", Values: []string{"x", "", "z"}, Encoding: parquetio.DeltaPrefix},
		{Name: "m", Values: []*float64{nil, &one, nil}, Encoding: parquetio.ByteStreamSplit},
		{Name: "b", Values: []bool{true, false, true}},
		{Name: "i", Values: []int32{-1, 0, 1}, Encoding: parquetio.Delta},
	}
	store := objectstore.New()
	var files [2][]byte
	for i := range files {
		url := fmt.Sprintf("mem://%s/%d", t.Name(), i)
		if err := parquetio.Write(t.Context(), store, url, cs, parquetio.WriteOptions{RowsPerGroup: 1}); err != nil {
			t.Fatal(err)
		}
		f, err := parquetio.Open(t.Context(), store, url)
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = store.ReadAll(t.Context(), url, 0); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"z", "a", "m", "b", "i"}, names(f)); diff != "" {
			t.Error(diff)
		}
		if f.RowGroups() != 3 || f.Rows != 3 || f.RowGroupRows(2) != 1 {
			t.Errorf("%d row groups of %d rows", f.RowGroups(), f.Rows)
		}
		want := map[string][]string{
			"z": {"1", "2", ""}, "a": {"x", "", "z"}, "m": {"", "1.5", ""},
			"b": {"true", "false", "true"}, "i": {"-1", "0", "1"},
		}
		for name := range want {
			if diff := cmp.Diff(want[name], spell(t, store, url, name)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same columns gave other bytes")
	}
}

func TestWriteRefuses(t *testing.T) {
	store, url := objectstore.New(), "mem://"+t.Name()+"/x"
	x := []float64{1}
	for problem, columns := range map[string][]parquetio.WriteColumn{
		"no columns":     nil,
		"two columns":    {{Name: "a", Values: x}, {Name: "a", Values: x}},
		"type []uint8":   {{Name: "a", Values: []byte("x")}},
		"2 rows":         {{Name: "a", Values: x}, {Name: "b", Values: []string{"x", "y"}}},
		"does not fit":   {{Name: "a", Values: x, Encoding: parquetio.Delta}},
		"encoding 4 doe": {{Name: "a", Values: []bool{true}, Encoding: parquetio.ByteStreamSplit}},
	} {
		err := parquetio.Write(t.Context(), store, url, columns, parquetio.WriteOptions{})
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), url) {
			t.Errorf("got %v, expected %q", err, problem)
		}
	}
	columns := []parquetio.WriteColumn{{Name: "a", Values: x}}
	for _, o := range []parquetio.WriteOptions{{PageVersion: 3}, {RowsPerGroup: -1}, {Codec: 99}} {
		if err := parquetio.Write(t.Context(), store, url, columns, o); err == nil {
			t.Errorf("%+v was not refused", o)
		}
	}
	if _, err := store.Stat(t.Context(), url); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused file is visible: %v", err)
	}
	for i, want := range []error{nil, fs.ErrExist} {
		err := parquetio.Write(t.Context(), store, url, columns, parquetio.WriteOptions{IfAbsent: true})
		if !errors.Is(err, want) {
			t.Errorf("write %d: got %v, expected %v", i, err, want)
		}
	}
}

// TestEmptyFile reads a file without rows.
func TestEmptyFile(t *testing.T) {
	store, url := objectstore.New(), "mem://"+t.Name()+"/x"
	columns := []parquetio.WriteColumn{{Name: "a", Values: []float64{}}, {Name: "b", Values: []string{}}}
	if err := parquetio.Write(t.Context(), store, url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := parquetio.Open(t.Context(), store, url)
	if err != nil || f.Rows != 0 || f.RowGroups() != 0 || len(f.Columns()) != 2 {
		t.Errorf("got %+v, %v", f, err)
	}
}
