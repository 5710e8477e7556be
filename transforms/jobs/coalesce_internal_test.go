package jobs

import (
	"encoding/binary"
	"testing"

	"github.com/espalier-ml/espalier/transforms/elements"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// Tables and blocks of distinct objects take what CoalesceBytes reckons with, and not much
// less.
func TestCoalesceBytes(t *testing.T) {
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
	bytes := 0
	for _, b := range elements.Blocks(table, stride) {
		bytes += len(b)
	}
	if want := 60_000 * blockBytesOf(stride); int64(bytes) > want+100 || int64(bytes) < want {
		t.Errorf("blocks of %d bytes, expected %d", bytes, want)
	}
	free, bound := CoalesceBytes(1e8, stride, 75, 2, 0, false), CoalesceBytes(1e8, stride, 75, 2, 1<<30, true)
	if free < 1e8*blockBytesOf(stride) || bound > 2<<30 {
		t.Errorf("%d bytes in memory, %d bytes with files", free, bound)
	}
}
