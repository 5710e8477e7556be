package csvio_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/io/csvio"
)

// readAll reads a file whole.
func readAll(content string, delimiter rune) (columns []string, rows [][]string, err error) {
	r, err := csvio.NewReader(strings.NewReader(content), csvio.Options{File: "x.csv", Delimiter: delimiter})
	if err != nil {
		return nil, nil, err
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return r.Columns(), rows, nil
		}
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, slices.Clone(fields))
	}
}

// TestRead reads one table in several spellings. The quotes are those of RFC 4180, section 2.
func TestRead(t *testing.T) {
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write([]byte("a,b\n1,\"x, \"\"y\"\"\nz\"\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"comma": "a,b\n1,\"x, \"\"y\"\"\nz\"\n", "semicolon": "a;b\n1;\"x, \"\"y\"\"\nz\"", "tab": "a\tb\n1\t\"x, \"\"y\"\"\nz\"\n",
		"bar, mark, Windows": "\ufeffa|\"b\"\r\n1|\"x, \"\"y\"\"\r\nz\"\r\n", "gzip": compressed.String(),
	} {
		columns, rows, err := readAll(content, 0)
		if err != nil || !slices.Equal(columns, []string{"a", "b"}) || len(rows) != 1 ||
			!slices.Equal(rows[0], []string{"1", "x, \"y\"\nz"}) {
			t.Errorf("%s: columns %q, rows %q, %v", name, columns, rows, err)
		}
	}
	if columns, _, err := readAll("a,b;c\n1,2;3\n", ';'); err != nil || !slices.Equal(columns, []string{"a,b", "c"}) {
		t.Errorf("the given delimiter is not obeyed: %q, %v", columns, err)
	}
	if columns, rows, err := readAll("a\nx\ny\n", 0); err != nil || len(columns) != 1 || len(rows) != 2 {
		t.Errorf("one column: %q, %q, %v", columns, rows, err)
	}
}

// TestFaults: each fault is a sentence that names file, line and column.
func TestFaults(t *testing.T) {
	var cut bytes.Buffer
	z := gzip.NewWriter(&cut)
	if _, err := z.Write([]byte(strings.Repeat("a,b\n", 1000))); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for content, want := range map[string][]string{
		"":                       {"empty", "first line"},
		"a,b\n1,2\n3\n":          {`column "b"`, "line 3", "is 1", "expected 2", "--delimiter"},
		"a,b\n1,2\n3,4,5\n":      {"line 3", "is 3", "expected 2"},
		"a,\"b\nc\"\n1,2\n\n3\n": {"line 5"},
		"a,b,a\n1,2,3\n":         {`column "a"`, "line 1", "columns 1 and 3", "same name"},
		",a\n1,2\n":              {"line 1", "column 1 has no name", "index=False"},
		"a,b\n1,\xff\n":          {`column "b"`, "line 2", "field 2 is not UTF-8"},
		"a,\xff\n1,2\n":          {"line 1", "field 2 is not UTF-8"},
		"\xff\xfea\x00":          {"UTF-16"},
		"a,b\n1,x\"y\"\n":        {"line 2", "byte 4", "double quotes"},
		"a,b\n1,\"x\n\n2,3\n":    {"the record begins in line 2"},
		cut.String()[:30]:        {"gzip"},
		"\x1f\x8bno":             {"gzip"},
	} {
		_, _, err := readAll(content, 0)
		var fault *dataset.DataError
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), "x.csv") || fault.Hint == "" {
			t.Errorf("%q: %v, want a DataError about x.csv with a hint", content, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q does not say %q", content, err, part)
			}
		}
	}
}

func TestInfer(t *testing.T) {
	for _, c := range []struct {
		values string
		want   csvio.Type
	}{
		{"true False TRUE", csvio.Boolean},
		{"1 0 1", csvio.Integer},
		{"-7 0 9007199254740992", csvio.Integer},
		{"9007199254740993", csvio.Text}, // a float64 does not hold it
		{"1e20 1", csvio.Float},
		{"1 2.5 -.5 1e-3 0.25", csvio.Float},
		{"1e999", csvio.Text},
		{"007 8", csvio.Text},
		{"+491234 5", csvio.Text},
		{"1_000", csvio.Text},
		{"0x10", csvio.Text},
		{"inf", csvio.Text},
		{"-", csvio.Text},
		{"true 1", csvio.Text},
		{"2024-02-29 1969-12-31", csvio.Date},
		{"2023-02-29", csvio.Text}, // there is no such day
		{"2024", csvio.Integer},
		{"13:05 23:59:59.5", csvio.Time},
		{"24:00", csvio.Text},
		{"2024-01-31T10:00:00Z 2024-01-31T10:00:00.25+02:00", csvio.Timestamp},
		{"2024-01-31T10:00:00 2024-01-31T10:00 2024-01-31", csvio.Local},
		{"2024-01-31 2024-01-31T10:00:00", csvio.Local},
		{"2024-01-31T10:00:00 2024-01-31T10:00:00Z", csvio.Text},
		{"2024-01-31 7", csvio.Text},
		{"", csvio.Text},
	} {
		var column csvio.Column
		column.AddMissing()
		for _, value := range strings.Fields(c.values) {
			column.Add(value)
		}
		if got := column.Type(); got != c.want || column.Missing != 1 {
			t.Errorf("%q: %v with %d missing, want %v with 1", c.values, got, column.Missing, c.want)
		}
	}
}

// TestParse: days and microseconds since 1970-01-01 by date -d of GNU coreutils.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		t    csvio.Type
		text string
		want csvio.Value
	}{
		{csvio.Boolean, "True", csvio.Value{Whole: 1}},
		{csvio.Boolean, "false", csvio.Value{}},
		{csvio.Integer, "-12", csvio.Value{Whole: -12}},
		{csvio.Float, "-2.5e1", csvio.Value{Float: -25}},
		{csvio.Date, "2024-01-31", csvio.Value{Whole: 19753}},
		{csvio.Date, "1969-12-31", csvio.Value{Whole: -1}},
		{csvio.Time, "13:05:59.123456789", csvio.Value{Whole: 47159123456}},
		{csvio.Timestamp, "2024-01-31T13:05:59+02:00", csvio.Value{Whole: 1706699159000000}},
		{csvio.Local, "1969-12-31 23:59:59.5", csvio.Value{Whole: -500000}},
	} {
		if got, ok := c.t.Parse(c.text); !ok || got != c.want {
			t.Errorf("%v %q: %+v, %v, want %+v", c.t, c.text, got, ok, c.want)
		}
	}
}
