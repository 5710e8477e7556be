package train

import (
	"fmt"
	"strings"
	"testing"
)

// TestWarnOfLabels: spellings and missing labels are named, and usual classes are not.
func TestWarnOfLabels(t *testing.T) {
	const usual, rare = 900, 20
	for name, c := range map[string]struct {
		classes []string
		want    []string
		rows    []int64 // nil: all classes are usual
	}{
		"usual":     {[]string{"no", "yes"}, nil, nil},
		"digits":    {[]string{"0", "1", "2"}, nil, nil},
		"spellings": {[]string{"", "A", "a", "a ", "b", "nan"}, []string{`["A" "a" "a "]`, `["" "nan"]`}, nil},
		"misspelled": {
			[]string{"No", "YES", "no", "y", "yes"},
			[]string{`["No" "no"]`, `["YES" "yes"]`, `"y" (20 rows) for "yes" (900)`},
			[]int64{rare, rare, usual, rare, usual},
		},
		"another letter": {
			[]string{"alow", "allow", "deny", "dney", "regular", "regulat"},
			[]string{`"alow" (20 rows) for "allow" (900), "dney" (20 rows) for "deny" (900), "regulat" (20 rows) for "regular"`},
			[]int64{rare, usual, usual, rare, usual, rare},
		},
		"numbers":        {[]string{"1", "01", "1.0", "0", "00", "2"}, []string{`["1" "01" "1.0"]`, `["0" "00"]`}, nil},
		"no-break space": {[]string{"type A", "type\u00a0A", "type  A"}, []string{`["type A" "type\u00a0A" "type  A"]`}, nil},
		"long numbers":   {[]string{"1152921504606846976", "1152921504606846977", "100000", "1E5"}, nil, nil},
		"versions":       {[]string{"1.1", "1.10", "2"}, nil, nil},
		"near, not rare": {[]string{"good", "vgood", "god"}, nil, nil},
		"letters that are words, longer names": {
			[]string{"type A", "type B", "mild", "mild pain"}, nil, []int64{usual, rare, rare, usual},
		},
		"other words": {
			[]string{"normal", "abnormal", "grade 1", "grade 2", "man", "woman", "AA", "A", "B", "high", "higher risk"},
			nil,
			[]int64{usual, rare, usual, rare, usual, rare, usual, rare, usual, usual, rare},
		},
	} {
		rows := make(map[string]int64)
		for i, class := range c.classes {
			if rows[class] = usual; c.rows != nil {
				rows[class] = c.rows[i]
			}
		}
		var told []string
		warnOfLabels(func(text string) { told = append(told, text) }, "y", c.classes, rows)
		if len(told) != len(c.want) {
			t.Errorf("%s: warnings %q, want %q", name, told, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(told[i], want) {
				t.Errorf("%s: warning %q, want %q", name, told[i], want)
			}
		}
	}
}

// TestWarnOfManyClasses: quantities in other spellings and names of single rows are named; codes that many rows have are not.
func TestWarnOfManyClasses(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		rows   int64
		want   string // part of the warning; empty: none
	}{
		"decimal commas": {"%d,5", 9, "numbers with a decimal comma"},
		"shares":         {"%d.5 %%", 9, "numbers with signs"},
		"dates":          {"%d/01/2024", 9, ""}, // few of them are dates
		"names":          {"person %d", 1, "1 rows on average"},
		"codes":          {"code %d", 9, ""},
		"padded numbers": {"%04d", 2, "2 rows on average"},
	} {
		classes := make([]string, 60)
		rows := make(map[string]int64)
		for i := range classes {
			classes[i] = fmt.Sprintf(c.format, i+100)
			rows[classes[i]] = c.rows
		}
		var told []string
		warnOfManyClasses(func(text string) { told = append(told, text) }, "y", classes, rows)
		if len(told) > 1 || (len(told) == 1) != (c.want != "") || len(told) == 1 && !strings.Contains(told[0], c.want) {
			t.Errorf("%s: warnings %q, want %q", name, told, c.want)
		}
		told = nil
		if warnOfManyClasses(func(text string) { told = append(told, text) }, "y", classes[:numbersFrom-1], rows); told != nil {
			t.Errorf("%s: warnings %q of fewer classes", name, told)
		}
	}
}
