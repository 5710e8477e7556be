package transforms

import (
	"bytes"
	"encoding/binary"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// A numbered tree is the end of its window and the number of its pane, in numberBytes, followed by a
// tree.json. The greatest by bytes is the tree of the latest pane of the latest window, in whatever order
// a runner delivers the panes: trees of several windows meet where a larger window scores the rows.
const numberBytes = 16

// numberedTrees numbers the trees of Train or of WindowedTree.
func numberedTrees(s beam.Scope, trees beam.PCollection) beam.PCollection {
	if trees.Type().Type() == reflect.TypeFor[WindowTree]() {
		return beam.ParDo(s, &numberWindowTreeFn{}, trees)
	}
	return beam.ParDo(s, &numberTreeFn{}, trees)
}

// numberTreeFn numbers the only tree of Train.
type numberTreeFn struct{}

func (*numberTreeFn) ProcessElement(encoded []byte) []byte { return appendTree(0, 0, encoded) }

// numberWindowTreeFn numbers the trees of WindowedTree.
type numberWindowTreeFn struct{}

func (*numberWindowTreeFn) ProcessElement(t WindowTree) []byte {
	return appendTree(t.End, t.Pane, t.JSON)
}

func appendTree(end, pane int64, encoded []byte) []byte {
	ordered := binary.BigEndian.AppendUint64(nil, uint64(end)^1<<63) // negative times come first
	return append(binary.BigEndian.AppendUint64(ordered, uint64(pane)), encoded...)
}

// latestTree returns the tree.json of the latest pane of the latest window; nil if there is no tree.
func latestTree(trees func(*[]byte) bool) []byte {
	var latest, b []byte
	for trees(&b) {
		if bytes.Compare(b, latest) > 0 {
			latest = bytes.Clone(b)
		}
	}
	if len(latest) < numberBytes {
		return nil
	}
	return latest[numberBytes:]
}
