package transforms

import (
	"slices"
	"testing"
)

// TestLatestTree: a tree of a later window wins, whatever its panes and bytes are; in a window, the later pane.
func TestLatestTree(t *testing.T) {
	before := appendTree(-1000, 9, []byte("z"))
	early := appendTree(3600_000, 0, []byte("y"))
	late := appendTree(3600_000, 1, []byte("x"))
	next := appendTree(7200_000, 0, []byte("a"))
	for _, c := range []struct {
		trees [][]byte
		want  string
	}{
		{nil, ""},
		{[][]byte{before}, "z"},
		{[][]byte{before, early}, "y"},
		{[][]byte{early, late}, "x"},
		{[][]byte{before, early, late, next}, "a"},
	} {
		for range 2 {
			left := slices.Clone(c.trees)
			got := latestTree(func(b *[]byte) bool {
				if len(left) == 0 {
					return false
				}
				*b = left[0]
				left = left[1:]
				return true
			})
			if string(got) != c.want {
				t.Errorf("%q: the latest tree is %q, want %q", c.trees, got, c.want)
			}
			slices.Reverse(c.trees)
		}
	}
}
