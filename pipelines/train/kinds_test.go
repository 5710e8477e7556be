package train_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"            //nolint:depguard // writes types that this project's own writer does not
	"github.com/parquet-go/parquet-go/deprecated" //nolint:depguard // likewise
	"github.com/parquet-go/parquet-go/format"     //nolint:depguard // likewise

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/metric"
	"github.com/espalier-ml/espalier/induce/tree"
	"github.com/espalier-ml/espalier/io/longtest"
	"github.com/espalier-ml/espalier/pipelines"
	"github.com/espalier-ml/espalier/pipelines/config"
	"github.com/espalier-ml/espalier/pipelines/train"
)

// kindsRows is the number of rows of the files that TestKinds scores: 20 values of
// each type, in turn.
const kindsRows = 120

// valueType is a type of Parquet column with the k-th of the 20 values of its
// meaning: columns of one meaning stand for the same values.
type valueType struct {
	name    string
	meaning string
	node    parquet.Node
	value   func(k int) parquet.Value
}

// twice is the number that the k-th number is: halves, and beyond what a byte holds
// as a signed number.
func half(k int) float64 { return float64(k) * 6.5 }

func whole(k int) int64 { return int64(k) * 6 }

// dayOf is the k-th date, some before 1970 and one beyond what nanoseconds hold.
func dayOf(k int) int64 { return int64(k)*300 - 2000 }

func microsOf(k int) int64 { return dayOf(k)*86400e6 + int64(k)*3_600_000_000 + int64(k)*7000 }

func clockOf(k int) int64 { return int64(k)*3_600_000_000 + int64(k)*1000 }

func text(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

func fixed(width int, x int64) parquet.Value {
	b := make([]byte, width)
	for i := range b {
		b[width-1-i] = byte(x >> (8 * min(i, 8)))
		if i >= 8 && x < 0 {
			b[width-1-i] = 0xff
		}
	}
	return parquet.FixedLenByteArrayValue(b)
}

func int96Of(micros int64) parquet.Value {
	days := micros / 86400e6
	if micros%86400e6 < 0 {
		days--
	}
	nanos := uint64(micros-days*86400e6) * 1000
	return parquet.Int96Value(deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(days + 2440588)})
}

func valueTypes() []valueType {
	int32Of := func(f func(int) int64) func(int) parquet.Value {
		return func(k int) parquet.Value { return parquet.Int32Value(int32(f(k))) }
	}
	int64Of := func(f func(int) int64) func(int) parquet.Value {
		return func(k int) parquet.Value { return parquet.Int64Value(f(k)) }
	}
	float16 := func(k int) parquet.Value { // of whole multiples of a half below 2^11
		x := half(k)
		if x == 0 {
			return parquet.FixedLenByteArrayValue([]byte{0, 0})
		}
		mantissa, exponent := math.Frexp(x)
		h := uint16((exponent+14)<<10) | uint16(mantissa*2048)&1023
		return parquet.FixedLenByteArrayValue([]byte{byte(h), byte(h >> 8)})
	}
	nth := func(k int) parquet.Value { return text(fmt.Sprintf("v%02d", k)) }
	id := func(k int) [16]byte { return [16]byte(fmt.Appendf(nil, "%016x", 1<<60+k)) }
	odd := func(k int) int64 { return int64(k % 2) }
	types := []valueType{
		{"double", "half", parquet.Leaf(parquet.DoubleType), func(k int) parquet.Value { return parquet.DoubleValue(half(k)) }},
		{"float", "half", parquet.Leaf(parquet.FloatType), func(k int) parquet.Value { return parquet.FloatValue(float32(half(k))) }},
		{"float16", "half", parquet.Leaf(float16Type{parquet.FixedLenByteArrayType(2)}), float16},
		{"decimal32", "half", parquet.Decimal(2, 9, parquet.Int32Type), func(k int) parquet.Value { return parquet.Int32Value(int32(100 * half(k))) }},
		{"decimal64", "half", parquet.Decimal(4, 18, parquet.Int64Type), func(k int) parquet.Value { return parquet.Int64Value(int64(10000 * half(k))) }},
		{"decimal fixed", "half", parquet.Decimal(1, 38, parquet.FixedLenByteArrayType(16)), func(k int) parquet.Value { return fixed(16, int64(10*half(k))) }},
		{"text of halves", "half", parquet.String(), func(k int) parquet.Value { return text(strconv.FormatFloat(half(k), 'f', -1, 64)) }},
		{"whole decimal", "whole", parquet.Decimal(0, 9, parquet.Int32Type), int32Of(whole)},
		{"time ms", "time", parquet.Time(parquet.Millisecond), int32Of(func(k int) int64 { return clockOf(k) / 1000 })},
		{"time us", "time", parquet.Time(parquet.Microsecond), int64Of(clockOf)},
		{"time ns", "time", parquet.Time(parquet.Nanosecond), int64Of(func(k int) int64 { return clockOf(k)*1000 + int64(k) })},
		{"date", "date", parquet.Date(), int32Of(dayOf)},
		{"text of dates", "date", parquet.String(), func(k int) parquet.Value { return text(time.Unix(dayOf(k)*86400, 0).UTC().Format("2006-01-02")) }},
		{"timestamp ms", "timestamp", parquet.Timestamp(parquet.Millisecond), int64Of(func(k int) int64 { return microsOf(k) / 1000 })},
		{"timestamp us", "timestamp", parquet.Timestamp(parquet.Microsecond), int64Of(microsOf)},
		{"timestamp us local", "timestamp", parquet.TimestampAdjusted(parquet.Microsecond, false), int64Of(microsOf)},
		{"timestamp ns", "timestamp", parquet.Timestamp(parquet.Nanosecond), int64Of(func(k int) int64 { return microsOf(k)*1000 + int64(k) })},
		{"int96", "timestamp", parquet.Leaf(parquet.Int96Type), func(k int) parquet.Value { return int96Of(microsOf(k)) }},
		{"text of timestamps", "timestamp", parquet.String(), func(k int) parquet.Value {
			return text(time.UnixMicro(microsOf(k)).UTC().Format("2006-01-02 15:04:05.999999Z"))
		}},
		{"string", "text", parquet.Encoded(parquet.String(), &parquet.Plain), nth},
		{"dictionary", "text", parquet.Encoded(parquet.String(), &parquet.RLEDictionary), nth},
		{"enum", "text", parquet.Enum(), nth},
		{"json", "text", parquet.JSON(), nth},
		{"bytes", "text", parquet.Leaf(parquet.ByteArrayType), nth},
		{"text with a blank", "blank", parquet.String(), func(k int) parquet.Value { return text(fmt.Sprintf("v%02d ", k)) }},
		{"uuid", "uuid", parquet.UUID(), func(k int) parquet.Value { u := id(k); return parquet.FixedLenByteArrayValue(u[:]) }},
		{"text of uuids", "uuid", parquet.String(), func(k int) parquet.Value {
			u := id(k)
			return text(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
		}},
		{"boolean", "boolean", parquet.Leaf(parquet.BooleanType), func(k int) parquet.Value { return parquet.BooleanValue(k%2 == 1) }},
		{"boolean as int8", "boolean", parquet.Int(8), int32Of(odd)},
		{"boolean as double", "boolean", parquet.Leaf(parquet.DoubleType), func(k int) parquet.Value { return parquet.DoubleValue(float64(odd(k))) }},
	}
	for _, bits := range []int{8, 16, 32} {
		types = append(types, valueType{fmt.Sprint("int", bits), "whole", parquet.Int(bits), int32Of(whole)}, valueType{fmt.Sprint("uint", bits), "whole", parquet.Uint(bits), int32Of(whole)})
	}
	types = append(types, valueType{"int64", "whole", parquet.Int(64), int64Of(whole)}, valueType{"uint64", "whole", parquet.Uint(64), int64Of(whole)})
	return types
}

// float16Type is the type of half-precision numbers, which parquet-go does not
// make.
type float16Type struct{ parquet.Type }

func (float16Type) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: new(format.Float16Type)}
}

// write writes the rows: the class is that of every third value.
func (v *valueType) write(t *testing.T, folder string) string {
	t.Helper()
	url := filepath.Join(folder, strings.ReplaceAll(v.name, " ", "_")+".parquet")
	f, err := os.Create(url)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // Sync has told
	w := parquet.NewGenericWriter[any](f, parquet.NewSchema("t", parquet.Group{"class": parquet.String(), "x": v.node}))
	classes, values := make([]parquet.Value, kindsRows), make([]parquet.Value, kindsRows)
	for r := range kindsRows {
		k := r % 20
		class := "no"
		if k%3 == 0 || v.meaning == "boolean" && k%2 == 0 {
			class = "yes"
		}
		classes[r], values[r] = text(class).Level(0, 0, 0), v.value(k).Level(0, 0, 1)
	}
	for i, column := range [][]parquet.Value{classes, values} {
		if _, err := w.ColumnWriters()[i].WriteRowValues(column); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Sync()); err != nil {
		t.Fatal(err)
	}
	return url
}

// TestKinds trains on a column of each type and scores columns of each other: the
// rows of the same values have the same predictions, and others are refused in a
// sentence that names the column, or warned of. There is no silent other answer. Columns of
// another meaning are scored by the tree of one type of each meaning; with -tags long, by all.
func TestKinds(t *testing.T) {
	longtest.Skip(t)
	folder, types := t.TempDir(), valueTypes()
	files, runs, own := make([]string, len(types)), make([]string, len(types)), make([]*metric.Metrics, len(types))
	for i := range types {
		files[i], runs[i] = types[i].write(t, folder), filepath.Join(folder, "run-"+strconv.Itoa(i))
		c := oneTree()
		c.Input, c.Label, c.Output = []string{files[i]}, "class", runs[i]
		c.Split, c.Theta, c.LeafEstimate = dataset.Shares{100, 0, 0}, []float64{0}, tree.Raw
		r, err := train.Train(t.Context(), c, new(silent))
		if err != nil {
			t.Fatalf("%s: %v", types[i].name, err)
		}
		own[i] = r.Metrics.Train
		if *own[i].Accuracy != 1 && types[i].meaning != "boolean" {
			t.Fatalf("%s: the accuracy on its own rows is %v, want 1", types[i].name, *own[i].Accuracy)
		}
	}
	equal, refused, warned := 0, 0, 0
	for i := range types {
		for j := range types {
			first := slices.IndexFunc(types, func(v valueType) bool { return v.meaning == types[i].meaning }) == i
			if !first && types[i].meaning != types[j].meaning && !longtest.Enabled() {
				continue
			}
			name := fmt.Sprintf("a tree of %s on %s", types[i].name, types[j].name)
			reporter := new(silent)
			_, m, err := pipelines.Evaluate(t.Context(), config.Evaluate{Model: runs[i], Input: []string{files[j]}}, reporter)
			same := err == nil && cmp.Equal(own[i].Confusion, m.Test.Confusion) && *m.Test.LogLoss == *own[i].LogLoss
			var e *dataset.DataError
			switch {
			case same && types[i].meaning == types[j].meaning:
				equal++
			case errors.As(err, &e) && e.Column == "x" && e.File == files[j] && e.Hint != "" && !strings.Contains(err.Error(), "\n"):
				refused++
				if types[i].meaning == types[j].meaning && !strings.HasPrefix(types[i].name, "text of") {
					t.Errorf("%s: %v, want equal predictions", name, err)
				}
			case len(reporter.warnings) > 0 && strings.Contains(reporter.warnings[0], `column "x"`):
				warned++
			case err == nil && types[i].meaning != types[j].meaning && sameNumbers(types[i].meaning, types[j].meaning):
				equal++ // numbers are numbers: those of each are in the range of the other
			case err == nil && types[i].meaning == "timestamp" && types[j].name == "text of dates":
				equal++ // a day as a text is its first moment
			default:
				t.Errorf("%s: error %v, warnings %q, the same predictions %t", name, err, reporter.warnings, same)
			}
		}
	}
	t.Logf("%d pairs of types: %d equal, %d refused, %d warned of", equal+refused+warned, equal, refused, warned)
}

// sameNumbers reports whether both meanings are plain numbers.
func sameNumbers(a, b string) bool {
	plain := func(s string) bool { return s == "half" || s == "whole" || s == "boolean" }
	return plain(a) && plain(b)
}

// typed writes a file of one column of a type, and classes.
func typed(t *testing.T, folder, name string) string {
	t.Helper()
	for _, v := range valueTypes() {
		if v.name == name {
			return v.write(t, folder)
		}
	}
	t.Fatalf("no type %q", name)
	return ""
}

// trainTree trains on files and returns tree.json.
func trainTree(t *testing.T, inputs ...string) ([]byte, error) {
	t.Helper()
	c := oneTree()
	c.Input, c.Label, c.Output = inputs, "class", filepath.Join(t.TempDir(), "run")
	c.Split, c.Theta = dataset.Shares{100, 0, 0}, []float64{0}
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(c.Output, "tree.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b, nil
}

// TestMixedUnits: files of one kind whose units differ, or with texts that spell it, train the tree that files of
// one unit do; files of several kinds are refused.
func TestMixedUnits(t *testing.T) {
	folder, twice := t.TempDir(), t.TempDir()
	for _, c := range [][]string{
		{"timestamp us", "timestamp ms", "timestamp ns", "int96", "timestamp us local", "text of timestamps"},
		{"date", "text of dates"},
		{"double", "text of halves"},
		{"time us", "time ms", "time ns"},
		{"int32", "uint8", "int64", "whole decimal"},
	} {
		want, err := trainTree(t, typed(t, folder, c[0]), typed(t, twice, c[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range c[1:] {
			got, err := trainTree(t, typed(t, folder, c[0]), typed(t, folder, other))
			if err != nil {
				t.Errorf("%s and %s: %v", c[0], other, err)
			} else if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s and %s: another tree than of %s alone (-want +got):\n%s", c[0], other, c[0], diff)
			}
		}
	}
	for _, c := range [][2]string{{"timestamp us", "date"}, {"date", "int32"}, {"time us", "timestamp us"}, {"int64", "string"}, {"boolean", "boolean as int8"}, {"text of dates", "int32"}} {
		_, err := trainTree(t, typed(t, folder, c[0]), typed(t, folder, c[1]))
		var e *dataset.DataError
		if !errors.As(err, &e) || e.Column != "x" || !strings.Contains(e.Problem, "in other files") {
			t.Errorf("%s and %s: %v, want an error that names the column and both kinds", c[0], c[1], err)
		}
	}
}

// TestUnitOfFeature: tree.json and schema.json say what numbers count, and cuts are
// whole numbers of it.
func TestUnitOfFeature(t *testing.T) {
	for name, want := range map[string]string{"date": `"unit": "date"`, "time ns": `"unit": "time"`, "timestamp ns": `"unit": "timestamp"`} {
		b, err := trainTree(t, typed(t, t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := tree.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), want) || len(m.Features) != 1 || len(m.Features[0].Cuts) != 19 {
			t.Errorf("%s: want 19 cuts and %s in:\n%.400s", name, want, b)
			continue
		}
		for _, cut := range m.Features[0].Cuts {
			if cut != math.Trunc(cut) {
				t.Errorf("%s: the cut %v is not whole", name, cut)
			}
		}
	}
}

// far is a timestamp in milliseconds, of which microseconds need more than 53 bits.
func far(name string, millis int64) *valueType {
	return &valueType{name, "timestamp", parquet.Timestamp(parquet.Millisecond), func(k int) parquet.Value {
		if k == 7 {
			return parquet.Int64Value(millis)
		}
		return parquet.Int64Value(microsOf(k) / 1000)
	}}
}

// TestFarTimes: times that float64 cannot hold in microseconds are refused, in words
// of their unit; others are taken, however far away.
func TestFarTimes(t *testing.T) {
	for name, c := range map[string]struct {
		millis int64
		want   string // empty: it is taken
	}{
		"the last second of 9999":      {253402300799000, ""},
		"the last millisecond of 9999": {253402300799999, `a timestamp of more microseconds than floating point can hold exactly (2^53, some 285 years from 1970) (value "9999-12-31T23:59:59.999"); write null`},
		"the year 300,000":             {9404838806400001, "9404838806400001 x 1ms"},
		"the least of all":             {math.MinInt64, "x 1ms"},
	} {
		_, err := trainTree(t, far(name, c.millis).write(t, t.TempDir()))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestNestedColumnsAtOnce: all columns that cannot be read are told in one error.
func TestNestedColumnsAtOnce(t *testing.T) {
	c := oneTree()
	c.Input, c.Label, c.Output = []string{filepath.Join("..", "..", "io", "parquetio", "testdata", "types.parquet")}, "bool", filepath.Join(t.TempDir(), "run")
	c.DropNullLabels = true
	_, err := train.Train(t.Context(), c, new(silent))
	if want := "--ignore fixed,list,struct,map"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Fatalf("%v, want an error that ends in %s", err, want)
	}
	c.Ignore = []string{"fixed", "list", "struct", "map"}
	if _, err := train.Train(t.Context(), c, new(silent)); err != nil { // a column of Parquet's type Null among them
		t.Error(err)
	}
}
