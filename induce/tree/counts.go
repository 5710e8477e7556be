package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/dataset"
)

// LeafCounts counts rows by leaf and true class. All metrics follow from it.
type LeafCounts struct {
	Weights [][]int64 // by node, then by true class
	Rows    []int64   // by node
}

// NewLeafCounts returns zero counts for a tree.
func (t *Tree) NewLeafCounts() *LeafCounts {
	c := &LeafCounts{Weights: make([][]int64, len(t.Nodes)), Rows: make([]int64, len(t.Nodes))}
	classes := len(t.Label.Classes)
	weights := make([]int64, classes*t.CountLeaves())
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			c.Weights[i], weights = weights[:classes:classes], weights[classes:]
		}
	}
	return c
}

// TotalRows returns the number of rows at all leaves.
func (c *LeafCounts) TotalRows() int64 {
	total := int64(0)
	for _, rows := range c.Rows {
		total += rows
	}
	return total
}

// Count adds object i to a leaf.
func (c *LeafCounts) Count(leaf int, o *dataset.Objects, i int) {
	c.Rows[leaf] += o.RowsOf(i)
	for _, cw := range o.Labels(i) {
		c.Weights[leaf][cw.Class] += cw.Weight
	}
}

// Encode returns the counts as varints: for each leaf its rows, then how many classes
// have weight, then these classes with their weights. A class is written as its
// distance from the class before.
func (c *LeafCounts) Encode() []byte {
	var b []byte
	for i, weights := range c.Weights {
		if weights != nil {
			b = appendLeaf(b, c.Rows[i], listed(weights))
		}
	}
	return b
}

// listed returns the classes with weight.
func listed(weights []int64) []share {
	var shares []share
	for k, w := range weights {
		if w != 0 {
			shares = append(shares, share{int32(k), w})
		}
	}
	return shares
}

func appendLeaf(b []byte, rows int64, shares []share) []byte {
	b = binary.AppendUvarint(binary.AppendVarint(b, rows), uint64(len(shares)))
	before := int32(-1)
	for _, s := range shares {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(s.class-before)), s.weight)
		before = s.class
	}
	return b
}

var errLeafCounts = errors.New("leaf counts of another tree")

// leafReader reads encoded counts leaf by leaf.
type leafReader struct {
	b      []byte
	rows   int64
	shares []share // ascending
}

// next reads the next leaf.
func (r *leafReader) next(classes int) error {
	r.shares = r.shares[:0]
	rows, n := binary.Varint(r.b)
	if n <= 0 {
		return fmt.Errorf("%w: cut short", errLeafCounts)
	}
	r.rows, r.b = rows, r.b[n:]
	count, n := binary.Uvarint(r.b)
	if n <= 0 || count > uint64(classes) {
		return fmt.Errorf("%w: %d classes", errLeafCounts, count)
	}
	r.b = r.b[n:]
	class := -1
	for range count {
		step, n := binary.Uvarint(r.b)
		weight, m := binary.Varint(r.b[max(0, n):])
		if n <= 0 || m <= 0 || step == 0 || step > uint64(classes-1-class) {
			return fmt.Errorf("%w: a class that the tree does not have", errLeafCounts)
		}
		class += int(step)
		r.shares, r.b = append(r.shares, share{int32(class), weight}), r.b[n+m:]
	}
	return nil
}

// Add adds encoded counts of the same tree. After an error the counts are invalid.
func (c *LeafCounts) Add(b []byte) error {
	r := leafReader{b: b}
	for i, weights := range c.Weights {
		if weights == nil {
			continue
		}
		if err := r.next(len(weights)); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		c.Rows[i] += r.rows
		for _, s := range r.shares {
			weights[s.class] += s.weight
		}
	}
	if len(r.b) > 0 {
		return fmt.Errorf("%w: bytes left over", errLeafCounts)
	}
	return nil
}

// MergeLeafCounts adds up encoded counts of one tree without the tree itself.
func MergeLeafCounts(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	readers := make([]leafReader, len(list))
	for i := range list {
		readers[i].b = list[i]
	}
	var b []byte
	var shares []share
	for len(readers) > 0 && len(readers[0].b) > 0 {
		rows := int64(0)
		shares = shares[:0]
		for i := range readers {
			r := &readers[i]
			if err := r.next(maxClasses); err != nil {
				return nil, err
			}
			rows += r.rows
			shares = append(shares, r.shares...)
		}
		b = appendLeaf(b, rows, merged(shares))
	}
	for i := range readers {
		if len(readers[i].b) > 0 {
			return nil, errLeafCounts
		}
	}
	return b, nil
}

// merged sorts shares by class, and adds up those of one class.
func merged(shares []share) []share {
	slices.SortFunc(shares, func(a, b share) int { return int(a.class - b.class) })
	kept := shares[:0]
	for _, s := range shares {
		if n := len(kept); n > 0 && kept[n-1].class == s.class {
			kept[n-1].weight += s.weight
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}
