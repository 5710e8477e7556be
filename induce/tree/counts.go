package tree

import (
	"encoding/binary"
	"errors"
	"fmt"

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
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			c.Weights[i] = make([]int64, len(t.Label.Classes))
		}
	}
	return c
}

// Count adds object i to a leaf.
func (c *LeafCounts) Count(leaf int, o *dataset.Objects, i int) {
	c.Rows[leaf] += o.RowsOf(i)
	for _, cw := range o.Raw(i) {
		c.Weights[leaf][cw.Class] += cw.Weight
	}
}

// Encode returns the counts as varints: for each leaf its rows, then its weights.
func (c *LeafCounts) Encode() []byte {
	var b []byte
	for i, weights := range c.Weights {
		if weights == nil {
			continue
		}
		b = binary.AppendVarint(b, c.Rows[i])
		for _, w := range weights {
			b = binary.AppendVarint(b, w)
		}
	}
	return b
}

var errLeafCounts = errors.New("leaf counts of another tree")

// Add adds encoded counts of the same tree. After an error the counts are invalid.
func (c *LeafCounts) Add(b []byte) error {
	for i, weights := range c.Weights {
		if weights == nil {
			continue
		}
		for k := range len(weights) + 1 {
			x, n := binary.Varint(b)
			if n <= 0 {
				return fmt.Errorf("%w: node %d is cut short", errLeafCounts, i)
			}
			b = b[n:]
			if k == 0 {
				c.Rows[i] += x
			} else {
				weights[k-1] += x
			}
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%w: bytes left over", errLeafCounts)
	}
	return nil
}

// MergeLeafCounts adds up encoded counts of one tree without the tree itself.
func MergeLeafCounts(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	var sums []int64
	for i, b := range list {
		n := 0
		for ; len(b) > 0; n++ {
			x, k := binary.Varint(b)
			if k <= 0 || i > 0 && n >= len(sums) {
				return nil, errLeafCounts
			}
			b = b[k:]
			if i == 0 {
				sums = append(sums, x)
			} else {
				sums[n] += x
			}
		}
		if n != len(sums) {
			return nil, errLeafCounts
		}
	}
	var b []byte
	for _, x := range sums {
		b = binary.AppendVarint(b, x)
	}
	return b, nil
}
