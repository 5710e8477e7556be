package memory

import (
	"math/bits"

	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// defaultMemory is Options.Memory if it is 0.
const defaultMemory = 1 << 30

// memory returns the bytes that open nodes may hold.
func (o *Options) memory() int64 {
	if o.Memory <= 0 {
		return defaultMemory
	}
	return o.Memory
}

// Bytes returns about the most bytes that GrowBelow holds beside the objects and the
// trees, if Options.Memory does not bound it further: for objects of the columns' codes,
// so many classes, trees and workers.
func Bytes(objects int64, columns []split.Column, classes, trees, workers int) int64 {
	perObject := int64(4 + 2 + 8)
	for i := range columns {
		perObject += 2
		if columns[i].Codes <= 1<<8 {
			perObject--
		}
	}
	gathered := objects * perObject / (sparse - 1) // each code table of a path has a quarter of the one above
	return int64(max(1, min(workers, trees)))*(least(objects, columns, classes, trees)+gathered) +
		int64(max(1, workers))*scratch(objects, columns, classes)
}

// least returns about the most bytes of the nodes on one path that gathers nothing. The
// blocks of numbers on a path halve, but for those of nodes that are split by several
// tests. The last of these tests is that of the most trees, so their nodes are nested at
// most log2 of the number of trees deep.
func least(objects int64, columns []split.Column, classes, trees int) int64 {
	nested := int64(bits.Len(uint(max(1, trees))))
	cells := int64(0)
	for i := range columns {
		cells += 2 * int64(classes) * int64(columns[i].Codes)
	}
	kept := int64(0)
	if cells <= 2*keptCells {
		levels := objects * int64(len(columns)) / max(1, cells) // of nodes that keep their histograms
		kept = 8 * cells * (int64(bits.Len64(uint64(levels))) + nested)
	}
	return 4*objects*(2+nested) + kept
}

// scratch returns the bytes of a worker's own memory.
func scratch(objects int64, columns []split.Column, classes int) int64 {
	codes := 0
	for i := range columns {
		codes = max(codes, columns[i].Codes)
	}
	return objects*(2+8) + int64(codes)*int64(classes)*8*4
}

// together returns how many of the trees are grown at a time.
func together(o *dataset.Objects, columns []split.Column, trees int, opts Options) int {
	for trees > 1 && least(int64(o.Len()), columns, o.Classes, trees) > opts.memory() {
		trees = (trees + 1) / 2
	}
	return max(1, trees)
}
