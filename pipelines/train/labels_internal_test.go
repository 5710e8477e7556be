package train

import (
	"strconv"
	"strings"
	"testing"
)

// TestWarnOfLabels: spellings, missing labels and quantities are named, and usual classes are not.
func TestWarnOfLabels(t *testing.T) {
	var numbers []string
	for i := range numbersFrom {
		numbers = append(numbers, strconv.FormatFloat(float64(i)/10, 'g', -1, 64))
	}
	for name, c := range map[string]struct {
		classes []string
		want    []string
	}{
		"usual":     {[]string{"no", "yes"}, nil},
		"digits":    {[]string{"0", "1", "2"}, nil},
		"spellings": {[]string{"", "A", "a", "a ", "b", "nan"}, []string{`["A" "a" "a "]`, `["" "nan"]`}},
		"numbers":   {numbers, []string{"50 different numbers"}},
	} {
		var told []string
		warnOfLabels(func(text string) { told = append(told, text) }, "y", c.classes)
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
