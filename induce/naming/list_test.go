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
