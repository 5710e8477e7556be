package transforms

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeptTrees: trees come in any order, late panes replace earlier ones, and the trees before the latest tree of a
// time are forgotten.
func TestKeptTrees(t *testing.T) {
	var k keptTrees
	for _, tree := range []struct {
		end, pane int64
		json      string
	}{{20, 1, "b1"}, {-10, 0, "a"}, {40, 0, "d"}, {20, 0, "b0"}, {30, 0, "c"}, {30, 1, "c1"}} {
		got, err := readTree(appendTree(tree.end, tree.pane, []byte(tree.json)))
		if err != nil || got.End != tree.end {
			t.Fatalf("%s: %d, %v", tree.json, got.End, err)
		}
		k.add(got)
	}
	found := func() string {
		var names []string
		for _, at := range []int64{-11, -10, 19, 20, 30, 39, 50} {
			name := "-"
			if n := k.before(at); n > 0 {
				name = string(k.Trees[n-1].JSON)
			}
			names = append(names, name)
		}
		return strings.Join(names, " ")
	}
	if got, want := found(), "- a a b1 c1 c1 d"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	for _, c := range []struct {
		at   int64
		want string
	}{
		{-20, "- a a b1 c1 c1 d false"}, {19, "- a a b1 c1 c1 d false"}, {30, "- - - - c1 c1 d true"}, {90, "- - - - - - d true"},
	} {
		if k.forget(c.at); fmt.Sprint(found(), " ", k.Forgot) != c.want {
			t.Errorf("forgotten up to %d: %q, want %q", c.at, fmt.Sprint(found(), " ", k.Forgot), c.want)
		}
	}
}
