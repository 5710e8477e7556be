package transforms

import (
	"bytes"
	"encoding/binary"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
)

// A numbered tree is the end of the window that the tree is grown from and the number of its pane, in numberBytes,
// followed by a tree.json. The greatest by bytes is the tree of the latest pane of the latest window, in whatever order
// a runner delivers the panes: trees of several windows meet where a larger window scores the rows. In a side input,
// the last time of the window of the side input comes before, in timeBytes.
const (
	numberBytes = 16
	timeBytes   = 8
)

// numberedTrees numbers the trees of Train or of WindowedTree.
func numberedTrees(s beam.Scope, trees beam.PCollection) beam.PCollection {
	if trees.Type().Type() == reflect.TypeFor[WindowTree]() {
		return beam.ParDo(s, &numberWindowTreeFn{}, trees)
	}
	return beam.ParDo(s, &numberTreeFn{}, trees)
}

// numberTreeFn numbers the only tree of Train.
type numberTreeFn struct{}

func (*numberTreeFn) ProcessElement(w beam.Window, encoded []byte) []byte {
	return numbered(w.MaxTimestamp(), 0, 0, encoded)
}

// numberWindowTreeFn numbers the trees of WindowedTree.
type numberWindowTreeFn struct{}

func (*numberWindowTreeFn) ProcessElement(w beam.Window, t WindowTree) []byte {
	return numbered(w.MaxTimestamp(), t.End, t.Pane, t.JSON)
}

func numbered(side beam.EventTime, end, pane int64, encoded []byte) []byte {
	return append(appendTime(nil, int64(side)), appendTree(end, pane, encoded)...)
}

func appendTree(end, pane int64, encoded []byte) []byte {
	return append(binary.BigEndian.AppendUint64(appendTime(nil, end), uint64(pane)), encoded...)
}

// appendTime encodes a time so that bytes have the order of times: negative times come first.
func appendTime(b []byte, millis int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(millis)^1<<63)
}

// latestTree returns the tree.json of the latest pane of the latest window, among the trees in the window of the side
// input that ends with this time; nil if there is no tree. The direct runner delivers the trees of all windows.
func latestTree(trees func(*[]byte) bool, side beam.EventTime) []byte {
	var latest, b []byte
	for in := appendTime(nil, int64(side)); trees(&b); {
		if bytes.HasPrefix(b, in) && bytes.Compare(b, latest) > 0 {
			latest = bytes.Clone(b)
		}
	}
	if len(latest) < timeBytes+numberBytes {
		return nil
	}
	return latest[timeBytes+numberBytes:]
}

// sideTime returns the last time of the window of a side input that belongs to a window of the rows, as Beam maps
// windows: the earliest window that contains the last time of the row's window.
func sideTime(side *window.Fn, w beam.Window) beam.EventTime {
	last := w.MaxTimestamp()
	size := mtime.FromDuration(side.Size)
	switch side.Kind {
	case window.FixedWindows:
		last += size - (last+size)%size - 1
	case window.SlidingWindows:
		period := mtime.FromDuration(side.Period)
		start := last - last%period
		for start-period > last-size {
			start -= period
		}
		last = start + size - 1
	default:
		return mtime.EndOfGlobalWindowTime
	}
	return min(last, mtime.EndOfGlobalWindowTime)
}
