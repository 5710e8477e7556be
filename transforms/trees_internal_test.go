package transforms

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
)

// TestLatestTree: a tree of a later window wins, whatever its panes and bytes are; in a window, the later pane.
func TestLatestTree(t *testing.T) {
	before := numbered(5, -1000, 9, []byte("z"))
	early := numbered(5, 3600_000, 0, []byte("y"))
	late := numbered(5, 3600_000, 1, []byte("x"))
	next := numbered(5, 7200_000, 0, []byte("a"))
	other := numbered(6, 7200_000, 1, []byte("b")) // in another window of the side input
	for _, c := range []struct {
		trees [][]byte
		want  string
	}{
		{nil, ""},
		{[][]byte{before}, "z"},
		{[][]byte{before, early}, "y"},
		{[][]byte{early, late}, "x"},
		{[][]byte{before, early, late, next}, "a"},
		{[][]byte{before, other}, "z"},
		{[][]byte{other}, ""},
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
			}, 5)
			if string(got) != c.want {
				t.Errorf("%q: the latest tree is %q, want %q", c.trees, got, c.want)
			}
			slices.Reverse(c.trees)
		}
	}
}

// TestSideTime: rows find the window of a side input that contains the last time of their window.
func TestSideTime(t *testing.T) {
	hour := window.IntervalWindow{Start: 7200_000, End: 10800_000}
	for _, c := range []struct {
		side *window.Fn
		want beam.EventTime
	}{
		{window.NewFixedWindows(time.Hour), 10800_000 - 1},
		{window.NewFixedWindows(24 * time.Hour), 86400_000 - 1},
		{window.NewSlidingWindows(time.Hour, 3*time.Hour), 10800_000 - 1},
		{window.NewSlidingWindows(30*time.Minute, time.Hour), 10800_000 - 1},
		{window.NewGlobalWindows(), mtime.EndOfGlobalWindowTime},
	} {
		if got := sideTime(c.side, hour); got != c.want {
			t.Errorf("%v: %v, want %v", c.side, got, c.want)
		}
	}
	fixed := window.NewFixedWindows(time.Hour)
	if got := sideTime(fixed, window.GlobalWindow{}); got != mtime.EndOfGlobalWindowTime {
		t.Errorf("the global window: %v", got)
	}
}
