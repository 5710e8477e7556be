package inmemory

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

// Bytes estimates the peak memory of GrowBelow, in bytes and without the objects and the trees, if
// Options.Memory does not limit it further. columns are the columns of the objects; classes, trees and
// workers are numbers.
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

// least estimates the peak memory of the open nodes on one path, in bytes, if no node gathers its
// objects. The blocks of object numbers halve from node to node, except below nodes that are split
// by several tests. The test of the most trees is the last of these tests, so at most log2(trees)
// such nodes hold a full block at the same time.
func least(objects int64, columns []split.Column, classes, trees int) int64 {
	nested := int64(bits.Len(uint(max(1, trees))))
	cells := int64(0)
	for i := range columns {
		cells += 2 * int64(classes) * int64(columns[i].Codes)
	}
	kept := int64(0)
	if cells <= 2*keptCells {
		levels := objects * int64(len(columns)) / max(1, cells) // levels of nodes that keep their histograms
		kept = 8 * cells * (int64(bits.Len64(uint64(levels))) + nested)
	}
	return 4*objects*(2+nested) + kept
}

// scratch estimates the memory of one worker's workspace, in bytes.
func scratch(objects int64, columns []split.Column, classes int) int64 {
	codes := 0
	for i := range columns {
		codes = max(codes, columns[i].Codes)
	}
	return objects*(2+8) + int64(codes)*int64(classes)*8*4
}

// together returns the number of trees to grow at a time, so that one path fits the memory.
func together(o *dataset.Objects, columns []split.Column, trees int, opts Options) int {
	for trees > 1 && least(int64(o.Len()), columns, o.Classes, trees) > opts.memory() {
		trees = (trees + 1) / 2
	}
	return max(1, trees)
}
