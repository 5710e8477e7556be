package contract_test

import (
	"strings"
	"testing"

	"github.com/espalier-ml/espalier/io/contract"
)

// TestWords: faults of values have the words of YAML, not of the decoder's language.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"columns: 5":                              `line 1: got "5", want a list of columns`,
		"columns:\n  - name: [a]\n":               "line 2: got a list, want a text",
		"min_rows: many":                          `line 1: got "many", want a whole number`,
		"columns:\n  - {name: a, max_missing: x}": `line 2: got "x", want a number`,
		"columns:\n  - {name: a, ordered: 7}":     `line 2: got "7", want true or false`,
		"colums: []":                              "line 1: unknown key colums",
	} {
		_, err := contract.Decode([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "!!") || strings.Contains(err.Error(), "contract.") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
