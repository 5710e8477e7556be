package dataset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/espalier-ml/espalier/induce/dataset"
)

func rowGroup(i int) *int { return &i }

// TestDataError: by hand, a sentence of the fields with at most 80 bytes of the value.
func TestDataError(t *testing.T) {
	long := strings.Repeat("x", 80)
	for want, e := range map[string]dataset.DataError{
		"no rows":                                  {Problem: "no rows"},
		"a.parquet: no rows":                       {File: "a.parquet", Problem: "no rows"},
		"row group 0: no rows":                     {RowGroup: rowGroup(0), Problem: "no rows"},
		`column "a\"b": no rows`:                   {Column: `a"b`, Problem: "no rows"},
		`odd (value "x\n")`:                        {Value: "x\n", Problem: "odd"},
		"no rows; add some":                        {Problem: "no rows", Hint: "add some"},
		`odd (value "` + long + `")`:               {Value: long, Problem: "odd"},
		`odd (value "` + long + `... (81 bytes)")`: {Value: long + "y", Problem: "odd"},
		`gs://b/a.parquet, row group 7, column "age": not a number (value "?"); ignore it`: {
			File: "gs://b/a.parquet", RowGroup: rowGroup(7), Column: "age", Value: "?", Problem: "not a number",
			Hint: "ignore it",
		},
	} {
		if got := e.Error(); got != want {
			t.Errorf("message\n%s, want\n%s", got, want)
		}
	}
}

// dataErrors have contents that a machine-readable line could lose.
func dataErrors() []dataset.DataError {
	return []dataset.DataError{
		{Problem: "no rows"},
		{
			File: "a b.parquet", RowGroup: rowGroup(0), Column: "naïve", Value: "日本", Problem: "odd",
			Hint: "see the manual",
		},
		{
			File: `C:\x`, RowGroup: rowGroup(1 << 30), Column: "a\"b'c", Value: "<&>\u2028\x00\t", Problem: "two\nlines}",
			Hint: "{\"problem\":1}",
		},
		{Value: strings.Repeat("v", 80), Problem: "long"},
		{Value: `espalier-data-error:{"problem":"another"}`, Problem: "a value that looks like the line"},
	}
}

func marshal(t *testing.T, e *dataset.DataError) string {
	t.Helper()
	line, err := e.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// TestParseError: the error is found unchanged in any text that runners put around it.
func TestParseError(t *testing.T) {
	for _, e := range dataErrors() {
		line := marshal(t, &e)
		if strings.ContainsAny(line, "\n\r") {
			t.Errorf("line %q is more than one", line)
		}
		for _, text := range []string{
			line,
			fmt.Sprintf("execute failed\n\tcaused by:\n%s\nrunner stack {}", line),
			"bundle 7: " + line + ": " + marshal(t, &dataset.DataError{Problem: "a second one"}),
		} {
			got, ok := dataset.ParseError(text)
			if diff := gocmp.Diff(&e, got); !ok || diff != "" {
				t.Errorf("%q: found %t (-want +got):\n%s", text, ok, diff)
			}
		}
	}
}

// TestParseErrorLong: only the beginning of a long value is kept, up to a whole
// character, and the message stays the same.
func TestParseErrorLong(t *testing.T) {
	e := dataset.DataError{Value: strings.Repeat("v", 79) + strings.Repeat("日", 1<<18), Problem: "long"}
	line := marshal(t, &e)
	got, ok := dataset.ParseError(line)
	if !ok || len(line) > 400 || len(got.Value) != 79 || !strings.HasPrefix(e.Value, got.Value) {
		t.Errorf("line of %d bytes, found %t: %v", len(line), ok, got)
	}
	if got.Error() != e.Error() || !strings.Contains(e.Error(), "(786511 bytes)") { // 79 + 3 * 2^18
		t.Errorf("message %s, once parsed %s", &e, got)
	}
	if len(e.Value) != 786511 {
		t.Error("the error itself was cut")
	}
}

func TestParseErrorNone(t *testing.T) {
	line := marshal(t, &dataErrors()[1])
	for _, text := range []string{
		"", "no data error", "espalier-data-error:", "espalier-data-error: x", "espalier-data-error:[]",
		`espalier-data-error:{"row_group":"x"}`,
		line[:len(line)-1], line[1:],
	} {
		if e, ok := dataset.ParseError(text); ok {
			t.Errorf("%q: found %v", text, e)
		}
	}
}

// TestDataErrorAs: a wrapped data error keeps its type.
func TestDataErrorAs(t *testing.T) {
	var e *dataset.DataError
	if err := fmt.Errorf("coalesce: %w", &dataErrors()[0]); !errors.As(err, &e) || e.Problem != "no rows" {
		t.Errorf("%v is no DataError", err)
	}
}
