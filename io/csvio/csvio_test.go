package csvio_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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
		"early Mac": "a,b\r1,\"x, \"\"y\"\"\rz\"\r", "early Mac, but the last line": "a,b\r1,\"x, \"\"y\"\"\rz\"\n",
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
	if columns, rows, err := readAll("sep=;\na,b;c\n1,2;3\n", 0); err != nil || !slices.Equal(columns, []string{"a,b", "c"}) || len(rows) != 1 {
		t.Errorf("the line of Excel: %q, %q, %v", columns, rows, err)
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
		"":                              {"empty", "first line"},
		"a,b\n1,2\n3\n":                 {`column "b"`, "line 3", "is 1", "expected 2", "--delimiter"},
		"a,b\n1,2\n3,4,5\n":             {"line 3", "is 3", "expected 2"},
		"a,\"b\nc\"\n1,2\n\n3\n":        {"line 5"},
		"a,b\n1,2,3\n1,5,6\n":           {"line 2", "is 3", "expected 2"}, // no names of rows: they are equal
		"a,b,c\n1,2\n3,4\n":             {`column "c"`, "line 2", "is 2", "expected 3"},
		"a,b\n1,\xff\n":                 {`column "b"`, "line 2", "field 2 is not UTF-8"},
		"a,\xff\n1,2\n":                 {"line 1", "field 2 is not UTF-8", "import - --output FOLDER"},
		"\xff\xfea\x00":                 {"UTF-16", "iconv", "import - --output FOLDER"},
		"a\x00,\x00b\x00\n\x00":         {"UTF-16", "iconv -f UTF-16LE", "import - --output FOLDER"},
		"\x00a\x00,\x00b\x00\n":         {"UTF-16", "iconv -f UTF-16BE"},
		"\xff\xfe\x00\x00a\x00\x00\x00": {"UTF-32", "iconv -f UTF-32"},
		"BZh91AY&SY\xff":                {"bzip2", "bzip2 -dc"},
		"\x28\xb5\x2f\xfd\x00":          {"Zstandard", "zstd -dc"},
		"PK\x03\x04\x14\x00":            {".xlsx", "save the sheet"},
		"PAR1\x15\x04":                  {"a Parquet file"},
		"<!DOCTYPE HTML>\n<p>":          {"HTML"},
		"[{\"a\": 1}]":                  {"JSON"},
		"# by X\na,b\n1,2\n":            {"line 2", "is 2", "lines above the names"},
		"a,b\n1,\"" + strings.Repeat("x,\n", 6<<20): {"behind line 1", "4 MiB", "double quote"},
		strings.Repeat("a", 17<<20):                 {"behind line 0", "4 MiB"},
		"a,b\n1,x\"y\"\n":                           {"line 2", "byte 4", "double quotes"},
		"a,b\n1,\"x\n\n2,3\n":                       {"the record begins in line 2"},
		cut.String()[:30]:                           {"gzip"},
		"\x1f\x8bno":                                {"gzip"},
	} {
		_, _, err := readAll(content, 0)
		var fault *dataset.DataError
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), "x.csv") || fault.Hint == "" {
			t.Errorf("%.80q: %v, want a DataError about x.csv with a hint", content, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%.80q: %q does not say %q", content, err, part)
			}
		}
	}
}

// TestFirstLine: first lines that do not fit the other lines, names that occur twice, and the choice of the delimiter.
func TestFirstLine(t *testing.T) {
	for content, c := range map[string]struct {
		columns, first string // between bars
		note           string
	}{
		"a,b,y,\n1,2,p\n3,4,q\n":                        {"a|b|y", "1|2|p", "ends in a delimiter"},
		"a,b,y\n1,2,p,\n3,4,q,\n":                       {"a|b|y|", "1|2|p|", ""},
		"a,b,y,\n1,2,p,\n3,4,q,\n":                      {"a|b|y|", "1|2|p|", ""},
		"\"a\",\"y\"\n\"r1\",1,\"p\"\n\"r2\",2,\"q\"\n": {"|a|y", "r1|1|p", "names of rows"},
		"a,b,a,a\n1,2,3,4\n":                            {"a|b|a.1|a.2", "1|2|3|4", `"a.1", "a.2"`},
		"a,a.1,a,,\n1,2,3,4,5\n":                        {"a|a.1|a.2||", "1|2|3|4|5", `"a.2"`},
		"ham\thello, you, there\nspam\tbye, you\n":      {"ham|hello, you, there", "spam|bye, you", ""},
		"id,a|b\n1,x|y|z\n2,x\n":                        {"id|a|b", "", ""},
		"x,y;z\n1,5;2\n3;4\n":                           {"x,y|z", "1,5|2", ""},
	} {
		if c.first == "" { // a comma here, not the bars of some fields
			c.columns, c.first = "id,a|b", "1,x|y|z"
			columns, rows, err := readAll(content, 0)
			if err != nil || strings.Join(columns, ",") != c.columns || strings.Join(rows[0], ",") != c.first {
				t.Errorf("%q: %q, %q, %v", content, columns, rows, err)
			}
			continue
		}
		r, err := csvio.NewReader(strings.NewReader(content), csvio.Options{File: "x.csv"})
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		first, err := r.Read()
		if note := strings.Join(r.Notes(), ";"); err != nil || strings.Join(r.Columns(), "|") != c.columns || strings.Join(first, "|") != c.first ||
			!strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%q: %q, %q, %q, %v, want %+v", content, r.Columns(), first, r.Notes(), err, c)
		}
	}
	for name, want := range map[string]int{"x.tsv": 2, "x.TSV.gz": 2, "x.csv": 3} { // "b, c, d" in a file of tabs
		r, err := csvio.NewReader(strings.NewReader("a\tb, c, d\n1\t2, 3, 4\n"), csvio.Options{File: name})
		if err != nil || len(r.Columns()) != want {
			t.Errorf("%s: %q, %v", name, r.Columns(), err)
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
		{"9999-12-31T23:59:59 0001-01-01T00:00:00", csvio.Local},
		{"9999-12-31T23:59:59.999999 2024-01-31T00:00:00", csvio.Text}, // float64 does not hold its microseconds
		{"", csvio.Text},
	} {
		column := csvio.NewColumn(&csvio.Spelling{})
		for i, value := range strings.Fields(c.values) {
			column.Add(value, i+2)
		}
		if got := column.Kind().Type; got != c.want || column.Reason() != "" != (c.want == csvio.Text && c.values != "") {
			t.Errorf("%q: %v because of %q, want %v", c.values, got, column.Reason(), c.want)
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
		if got, ok := new(csvio.Spelling).Parse(csvio.Kind{Type: c.t}, c.text); !ok || got != c.want {
			t.Errorf("%v %q: %+v, %v, want %+v", c.t, c.text, got, ok, c.want)
		}
	}
}

// TestSpelling reads columns in other spellings of numbers and dates. The days since 1970-01-01 are those
// of date -d of GNU coreutils.
func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		decimal, thousands rune
		format             string
		values             string // between bars
		want               csvio.Type
		last               csvio.Value
	}{
		{',', 0, "", "1,5|-2,75|3", csvio.Float, csvio.Value{Float: 3}},
		{',', 0, "", "3|1,5", csvio.Float, csvio.Value{Float: 1.5}},
		{',', 0, "", "1.5|2,5", csvio.Text, csvio.Value{}},
		{',', '.', "", "1|1.234,5", csvio.Float, csvio.Value{Float: 1234.5}},
		{0, ',', "", "1,234|12,345,678", csvio.Integer, csvio.Value{Whole: 12345678}},
		{0, ',', "", "1,234|-1,234.5", csvio.Float, csvio.Value{Float: -1234.5}},
		{0, ',', "", "1,23", csvio.Text, csvio.Value{}},
		{0, ',', "", "0,123", csvio.Text, csvio.Value{}},
		{0, ',', "", "1,2345", csvio.Text, csvio.Value{}},
		{0, ',', "", ",123", csvio.Text, csvio.Value{}},
		{0, ' ', "", "1 234", csvio.Integer, csvio.Value{Whole: 1234}},
		{0, 0, "%d/%m/%Y", "01/02/2024|31/01/2024", csvio.Date, csvio.Value{Whole: 19753}},
		{0, 0, "%d/%m/%Y", "1/2/2024|2024-01-31", csvio.Text, csvio.Value{}}, // one format a column
		{0, 0, "%d/%m/%Y", "1/13/2024", csvio.Text, csvio.Value{}},
		{0, 0, "%d.%m.%y", "31.01.24", csvio.Date, csvio.Value{Whole: 19753}},
		{0, 0, "%Y%m%d", "20240131", csvio.Date, csvio.Value{Whole: 19753}},
		{0, 0, "%d-%b-%Y", "31-JAN-2024", csvio.Date, csvio.Value{Whole: 19753}},
		{0, 0, "%m/%d/%Y %I:%M %p", "1/31/2024 1:05 pm", csvio.Local, csvio.Value{Whole: 19753*86400e6 + 47100e6}},
		{0, 0, "%d/%m/%Y %H:%M:%S.%f", "31/01/2024 13:05:00.25", csvio.Local, csvio.Value{Whole: 19753*86400e6 + 47100250e3}},
		{0, 0, "%d/%m/%Y %H:%M%z", "31/01/2024 13:05+0200", csvio.Timestamp, csvio.Value{Whole: 19753*86400e6 + 39900e6}},
		{0, 0, "%B %d, %Y", "March 1st, 2024|January 31st, 2024", csvio.Date, csvio.Value{Whole: 19753}},
		{0, 0, "%I:%M %p", "1:05 PM", csvio.Time, csvio.Value{Whole: 47100e6}},
	} {
		s := &csvio.Spelling{Decimal: c.decimal, Thousands: c.thousands}
		if c.format != "" {
			f, err := csvio.ParseFormat(c.format)
			if err != nil {
				t.Fatal(err)
			}
			s.Formats = append(s.Formats, f)
		}
		column, last := csvio.NewColumn(s), ""
		for _, last = range strings.Split(c.values, "|") {
			column.Add(last, 2)
		}
		kind := column.Kind()
		if kind.Type != c.want {
			t.Errorf("%q: %v, want %v", c.values, kind, c.want)
		} else if kind.Type != csvio.Text {
			if v, ok := s.Parse(kind, last); !ok || v != c.last {
				t.Errorf("%q: %+v, want %+v", last, v, c.last)
			}
		}
	}
	for _, bad := range []string{"", "%Q", "%d/%m", "dd/mm/yyyy", "%Y-%m-%d_", "%I:%M", "%f", "%Y", "%"} {
		if f, err := csvio.ParseFormat(bad); err == nil {
			t.Errorf("the format %q is taken: %+v", bad, f)
		}
	}
}

// read parses settings that Looks proposes, as a shell does.
func read(t *testing.T, settings string) *csvio.Spelling {
	t.Helper()
	s := &csvio.Spelling{}
	for _, part := range strings.Split(settings, "--")[1:] {
		flag, value, _ := strings.Cut(strings.TrimSuffix(part, " "), " ")
		if at := strings.IndexAny(value, `'"`); at >= 0 {
			value = strings.Trim(value[at+1:len(value)-1], `"`)
		}
		if code, found := strings.CutPrefix(value, `\u`); found {
			n, err := strconv.ParseInt(code, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			value = string(rune(n))
		}
		r, _ := utf8.DecodeRuneInString(value)
		switch flag {
		case "thousands":
			s.Thousands = r
		case "decimal":
			s.Decimal = r
		case "date_format":
			f, err := csvio.ParseFormat(value)
			if err != nil {
				t.Fatal(err)
			}
			s.Formats = append(s.Formats, f)
		}
	}
	return s
}

// TestLooks: what most texts of a column are, and the settings that read them. Settings of spellings make the column
// none of texts.
func TestLooks(t *testing.T) {
	const (
		long    = "durations, which are to be written as numbers of minutes, for example"
		several = "1.5|2.5|3.25|7|8.5|9|10|11|12|13"
		strange = "numbers in a spelling that import does not read, which are to be written as -1234.5: "
		undated = "dates or times in a spelling that import does not read, which are to be written as 2024-01-31 13:05:59, for example: "
	)
	for values, want := range map[string]string{
		"a|b|1":                          "",
		"1,5|2,75":                       "numbers with a decimal comma: --decimal ,",
		"1,234|2,345":                    "numbers with commas: --thousands , or --decimal ,",
		"1,234|2,345.5":                  "numbers with separators of thousands: --thousands ,",
		"1.234,5|1,5|2,5":                "numbers with a decimal comma: --decimal , --thousands .",
		"10%|12.5 %":                     "numbers with signs such as % or $, which are to be removed: ",
		"$5.00|$1,234.50":                "numbers with signs such as % or $, which are to be removed: ",
		" 12.5| 13":                      "numbers or dates between spaces: --trim",
		"31/12/2024|01/02/2024":          "dates: --date_format '%d/%m/%Y'",
		"01/02/2024|03/04/2024":          "dates: --date_format '%d/%m/%Y' or --date_format '%m/%d/%Y'",
		"01/02/2024|1.2.2024":            "dates: ",
		"1 234|5 678":                    "numbers with spaces between thousands: --thousands ' '",
		"1\u202f234|5":                   "numbers with spaces between thousands: --thousands $'\\u202f'",
		"1'234|5.5":                      `numbers with separators of thousands: --thousands "'"`,
		"663.59|666.45|657.21|1,008.64":  "numbers with separators of thousands: --thousands ,",
		"3|5|7|1,5":                      "numbers with a decimal comma: --decimal ,",
		"3|5|1 234,5":                    "numbers with a decimal comma: --decimal , --thousands ' '",
		"2024-05|2024-06":                "dates: --date_format '%Y-%m'",
		"Jan 2015|Feb 2015":              "dates: --date_format '%b %Y'",
		"January-2005|April-1996":        "dates: --date_format '%B-%Y'",
		"2005 Jan|2006 Feb":              "dates: --date_format '%Y %b'",
		"Jan-05|Feb-96":                  "dates: --date_format '%b-%y'",
		"2016/04/25 00:00:00+00":         "dates: --date_format '%Y/%m/%d %H:%M:%S%z'",
		"2016/04/25 00:00:00 +0200":      "dates: --date_format '%Y/%m/%d %H:%M:%S %z'",
		"Jan 5 2024|Feb 15 2024":         "dates: --date_format '%b %d %Y'",
		"31/12/2024 13:05:59":            "dates: --date_format '%d/%m/%Y %H:%M:%S'",
		"05/11/2024 10:00:00":            "dates: --date_format '%d/%m/%Y %H:%M:%S' or --date_format '%m/%d/%Y %H:%M:%S'",
		"10/31/2013 02:08:41 AM":         "dates: --date_format '%m/%d/%Y %I:%M:%S %p'",
		"13/1/24 4:01":                   "dates: --date_format '%d/%m/%y %H:%M'",
		"05.01.24 10:00":                 "dates: --date_format '%d.%m.%y %H:%M'",
		"1|2|3|?|-":                      "numbers: --missing \"?,-\" if those are missing values",
		"1|2|3|4|a|b|c|d":                "numbers: ",
		"?|?|?|?|5.00|7.20":              "numbers: --missing \"?\" if that is a missing value",
		"-|-|-|-|2024-01-31":             "dates or times: --missing \"-\" if that is a missing value",
		"none|none|none|1.5":             "", // one of two categories
		"+|-|-|+|-":                      "",
		"1|2|3|136A":                     "numbers: ",
		"1|2|3|April 4th, 2015":          "numbers: ",
		"April 4th, 2015|May 31st, 2016": "dates: --date_format '\"%B %d, %Y\"'",
		"Tuesday, July 4, 2023|Friday, July 28, 2023": "dates: --date_format '\"%A, %B %d, %Y\"'",
		"Tue, 04 Jul 2023 19:58:55 +0200":             "dates: --date_format '\"%a, %d %b %Y %H:%M:%S %z\"'",
		"Tue Jul  4 19:58:55 2023":                    "dates: --date_format '%a %b %d %H:%M:%S %Y'",
		"04/Jul/2023:19:58:55 +0000":                  "dates: --date_format '%d/%b/%Y:%H:%M:%S %z'",
		"07/14/2023, 7:58 PM|08/01/2023, 7:58 AM":     "dates: --date_format '\"%m/%d/%Y, %I:%M %p\"'",
		"2023-07-04 19:58:55,123|2023-07-05 01:02:03": "dates: --date_format '%Y-%m-%d %H:%M:%S'",
		"07:58PM|11:10am":                             "dates: --date_format '%I:%M%p'",
		"4 Jul 2023 10:00|4 Jul 2023":                 "dates: ",
		"3rd of May|21st Street":                      "",
		"36:15:00|12:10:00|101:00:01":                 long + ": ",
		"1 days 02:03:04|0 days 00:00:07.5":           long + ": ",
		"PT3M|P1DT2H":                                 long + ": ",
		"13:05|23:10|?|24:10":                         long + ": ",
		"13:05|23:10|?":                               "dates or times: --missing \"?\" if that is a missing value",
		strings.Repeat("none|", 30) + several:         "numbers: --missing \"NA,none\" if that is a missing value",
		"none|1|2|3|?|4":                              "numbers: --missing \"?,none\" if those are missing values",
		"113803|373450|17463|PC 1|PC 2|STON 3|C.A. 4": "",
		"3|1|?|2":                              "numbers: --missing \"?\" if that is a missing value",
		"2024-01-31|never":                     "dates or times: --missing \"never\" if that is a missing value",
		"007|12":                               "",
		"1|9007199254740993":                   "",
		"1:05 PM|2:00 AM":                      "dates: --date_format '%I:%M %p'",
		"2024-01-31|2024-01-31T10:00:00Z":      "dates or times: ",
		"1\u00a0234,5|2\u00a0345,6|12,5":       "numbers with a decimal comma: --decimal , --thousands $'\\u00a0'",
		"1\u202f234,5|12,5":                    "numbers with a decimal comma: --decimal , --thousands $'\\u202f'",
		"1\u2019234|2\u2019345|12":             "numbers with separators of thousands: --thousands $'\\u2019'",
		"\u22121.5|\u22122.5|3":                strange,
		"+150|-110|+200":                       strange, // odds of bets
		"-110|+150|+200":                       strange,
		"1,23,456|12,000|5":                    strange, // India
		"12.5-|13|14|15":                       strange, // SAP
		"+41|+49|+1":                           "",      // codes of countries
		"+41|+49|-":                            "",
		"Octavia 2015|Octavia 2018|Marea 1999": "",
		"2024-001|2024-002":                    "", // numbers of orders
		"10.0.0.1|10.0.0.2":                    "",
		"Model May 2020|Model June 2021":       "",
		"May 5|June 6":                         "",
		"Fri, 05 Jan 2024 10:00:00 GMT|Sat, 06 Jan 2024 10:00:00 GMT": undated,
		"Fri Jan  5 10:00:00 UTC 2024|Sat Jan  6 10:00:00 UTC 2024":   undated,
		"12/31/2024 12:05 a.m.|12/30/2024 12:05 p.m.":                 undated,
		"2024-01-05 10:00:00 EST|2024-07-05 10:00:00 EDT":             undated,
		"2024-01-05T10:00:00+01:00[Europe/Berlin]":                    undated,
		"2024-01-05t10:00:00z|2024-01-05T10":                          undated,
		"2024-W01-1|2024-W52-3":                                       undated,
		"2024-Q1|2024-Q4":                                             undated,
		"Q12024|2024_Q4":                                              undated,
		"2024-01-02_10:11:12|2024-01-03_10-11-12":                     undated,
		"Q1 2024|Q4 2024":                                             undated,
		"4Q2024|1Q2025":                                               undated,
		"2024:01:05 10:00:00|2024:01:06 23:59:59":                     undated, // photographs (Exif)
		"20240105_100000|20240106_235959":                             undated,
		"Q101|W1234":                                                  "", // codes
		"Sept 5 2024|5. Januar 2024|31 d\u00e9cembre 2024":            undated,
		"05-JAN-24 10.00.00.000000 AM":                                undated,
	} {
		column := csvio.NewColumn(&csvio.Spelling{})
		for i, value := range strings.Split(values, "|") {
			column.Add(value, i+2)
		}
		if what, settings := column.Looks.Mostly(); what+": "+settings != want && (what != "" || want != "") {
			t.Errorf("%q: %q, %q, want %q", values, what, settings, want)
		}
		_, settings, _ := strings.Cut(want, ": ")
		if settings == "" || strings.HasPrefix(settings, "--missing") || settings == "--trim" {
			continue
		}
		for _, one := range strings.Split(settings, " or ") {
			column := csvio.NewColumn(read(t, one))
			for i, value := range strings.Split(values, "|") {
				column.Add(value, i+2)
			}
			if column.Kind().Type == csvio.Text {
				t.Errorf("%q: a text, with %s, because of %s", values, one, column.Reason())
			}
		}
	}
}
