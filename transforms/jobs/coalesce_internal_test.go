package jobs

import (
	"encoding/binary"
	"testing"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Tables of distinct objects take at most the bytes of tableBytesOf, and not much less.
func TestTableBytes(t *testing.T) {
	const stride = 40
	layout := dataset.Layout{Stride: stride}
	for range stride {
		layout.Offsets = append(layout.Offsets, len(layout.Widths))
		layout.Widths = append(layout.Widths, 1)
	}
	table, key := dataset.NewTable(layout, false), make([]byte, stride)
	add := func(objects int) {
		for table.Len() < objects {
			binary.LittleEndian.PutUint64(key, uint64(table.Len()))
			table.Add(key, dataset.HashKey(key), 1, 1, 1)
		}
	}
	for _, objects := range []int{40_000, 49_200, 60_000} { // the slots double within
		add(objects)
		most := int64(objects)*tableBytesOf(stride) + 1<<17 // and a page that is not full
		if got := int64(table.Bytes()); got > most || got < most/2 {
			t.Errorf("%d objects: a table of %d bytes, expected at most %d", objects, got, most)
		}
	}
}
