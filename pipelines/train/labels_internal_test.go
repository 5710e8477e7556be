package train

import (
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
		"numbers":        {[]string{"1", "01", "1.0", "0", "00", "2"}, []string{`["1" "01" "1.0"]`}, nil},
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
