package parquetio_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/objectstore"
	"github.com/espalier-ml/espalier/io/parquetio"
)

// TestForeignFiles reads files of another writer; see testdata/README.md.
func TestForeignFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			url := strings.TrimSuffix(path, ".json") + ".parquet"
			f, err := parquetio.Open(t.Context(), objectstore.New(), url)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range f.Columns() {
				checkForeignColumn(t, f, c, want[c.Name])
				delete(want, c.Name)
			}
			if len(want) != 0 {
				t.Errorf("columns not listed: %v", want)
			}
		})
	}
}

func checkForeignColumn(t *testing.T, f *parquetio.File, c parquetio.Column, want any) {
	t.Helper()
	if refusal, ok := want.(string); ok {
		var v dataset.Vector
		e := wantDataError(t, readColumn(t, f, 0, c.Name, &v), f.URL)
		if e.Column != c.Name || c.Nested != (refusal == "nested") || (c.Unsupported != "") != (refusal == "refused") {
			t.Errorf("%+v: %v", c, e)
		}
		return
	}
	list, _ := want.([]any)
	texts := make([]string, len(list))
	for i := range list {
		texts[i], _ = list[i].(string)
		// as the file counts
		if x, err := strconv.ParseInt(strings.TrimSuffix(texts[i], ".0"), 10, 64); err == nil && c.Unit > dataset.Date {
			texts[i] = strconv.FormatInt(inMicros(x, &c), 10)
		} else if x, err := strconv.ParseFloat(texts[i], 64); err == nil && c.Type == dataset.Number {
			texts[i] = spellFloat(x)
		}
	}
	if diff := cmp.Diff(texts, spell(t, objectstore.New(), f.URL, c.Name)); diff != "" {
		t.Errorf("%s (%s, %s): (-want +got)\n%s", c.Name, c.Physical, c.Logical, diff)
	}
}

// inMicros converts a time of a file to microseconds.
func inMicros(x int64, c *parquetio.Column) int64 {
	switch {
	case strings.Contains(c.Logical, "MILLIS"):
		return 1000 * x
	case strings.Contains(c.Logical, "NANOS") || c.Physical == "INT96":
		return (x - ((x%1000)+1000)%1000) / 1000
	default:
		return x
	}
}

// TestColumns checks the description of a column of each type.
func TestColumns(t *testing.T) {
	f, err := parquetio.Open(t.Context(), objectstore.New(), "testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.Columns() {
		line := []string{c.Name + ":", c.Physical, c.Logical, c.Type.String(), c.Unit.String()}
		for flag, set := range map[string]bool{
			"empty": c.Null, "nested": c.Nested, "unsupported": c.Unsupported != "",
			"required": !c.Optional,
		} {
			if set { // no column has two
				line = append(line, flag)
			}
		}
		got = append(got, strings.Join(slices.DeleteFunc(line, func(s string) bool { return s == "" }), " "))
	}
	want := strings.Split(strings.TrimSpace(wantColumns), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const wantColumns = `
bool: BOOLEAN text
int8: INT32 INT(8,true) number
uint8: INT32 INT(8,false) number
int16: INT32 INT(16,true) number
uint16: INT32 INT(16,false) number
int32: INT32 number
uint32: INT32 INT(32,false) number
int64: INT64 number
uint64: INT64 INT(64,false) number
float16: FIXED_LEN_BYTE_ARRAY(2) FLOAT16 number
float32: FLOAT number
float64: DOUBLE number
decimal9: FIXED_LEN_BYTE_ARRAY(4) DECIMAL(9,2) number
decimal18: FIXED_LEN_BYTE_ARRAY(8) DECIMAL(18,5) number
decimal38: FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,10) number
decimal76: FIXED_LEN_BYTE_ARRAY(32) DECIMAL(76,20) number
date: INT32 DATE number date
time32: INT32 TIME(isAdjustedToUTC=false,unit=MILLIS) number time
time64: INT64 TIME(isAdjustedToUTC=false,unit=MICROS) number time
timestamp_ms: INT64 TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS) number timestamp
timestamp_us: INT64 TIMESTAMP(isAdjustedToUTC=true,unit=MICROS) number timestamp
timestamp_ns: INT64 TIMESTAMP(isAdjustedToUTC=true,unit=NANOS) number timestamp
string: BYTE_ARRAY STRING text
binary: BYTE_ARRAY text
dictionary: BYTE_ARRAY STRING text
uuid: FIXED_LEN_BYTE_ARRAY(16) UUID text
null: INT32 NULL number empty
fixed: FIXED_LEN_BYTE_ARRAY(3) unknown unsupported
list: LIST unknown nested
struct: unknown nested
map: MAP unknown nested
`

// TestIndex: the columns of a data frame's index are marked, by the metadata of pandas or by
// their names.
func TestIndex(t *testing.T) {
	f, err := parquetio.Open(t.Context(), objectstore.New(), "testdata/frame.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Columns() {
		if want := c.Name == "shop" || c.Name == "__index_level_1__"; c.Index != want {
			t.Errorf("column %q is of the index: %v, want %v", c.Name, c.Index, want)
		}
	}
	url := filepath.Join(t.TempDir(), "a.parquet")
	columns := []parquetio.WriteColumn{{Name: "__index_level_0__", Values: []float64{1}}, {Name: "__index_level_x__", Values: []float64{1}}}
	if err := parquetio.Write(t.Context(), objectstore.New(), url, columns, parquetio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if f, err = parquetio.Open(t.Context(), objectstore.New(), url); err != nil || !f.Columns()[0].Index || f.Columns()[1].Index {
		t.Errorf("without metadata: %+v, %v", f.Columns(), err)
	}
}
