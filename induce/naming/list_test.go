package naming_test

import (
	"testing"

	"github.com/espalier-ml/espalier/induce/naming"
)

func TestFirst(t *testing.T) {
	names := naming.Quoted([]string{"a", "b c", "d"})
	for most, want := range map[int]string{1: `"a" and 2 more`, 2: `"a", "b c" and 1 more`, 3: `"a", "b c", "d"`, 9: `"a", "b c", "d"`} {
		if got := naming.First(names, most); got != want {
			t.Errorf("%d: %s, want %s", most, got, want)
		}
	}
}

// TestOf: values have their names, from the first value on, and names their values.
func TestOf(t *testing.T) {
	names := []string{"a", "b"}
	for value, want := range []string{"unknown(0)", "a", "b", "unknown(3)"} {
		if got := naming.Of(uint8(value), 1, names); got != want {
			t.Errorf("%d is named %q, want %q", value, got, want)
		}
		parsed, err := naming.Parse("letter", want, uint8(1), names)
		if named := len(want) == 1; named != (err == nil) || named && parsed != uint8(value) {
			t.Errorf("%q is %d, %v", want, parsed, err)
		}
	}
}
