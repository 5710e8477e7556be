package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// LeafCounts counts rows by the leaf that they reach: all that metrics need.
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

// Encode returns the counts as varints: of each leaf its rows, then its
// weights.
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

// Add adds encoded counts of the same tree.
func (c *LeafCounts) Add(b []byte) error {
	read := func() int64 {
		x, n := binary.Varint(b)
		b = b[max(n, 0):]
		return x
	}
	for i, weights := range c.Weights {
		if weights == nil {
			continue
		}
		if len(b) <= len(weights) {
			return fmt.Errorf("leaf counts of another tree: node %d is cut short", i)
		}
		c.Rows[i] += read()
		for k := range weights {
			weights[k] += read()
		}
	}
	if len(b) > 0 {
		return errors.New("leaf counts of another tree: bytes left over")
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
				return nil, errors.New("leaf counts of different trees")
			}
			b = b[k:]
			if i == 0 {
				sums = append(sums, x)
			} else {
				sums[n] += x
			}
		}
		if n != len(sums) {
			return nil, errors.New("leaf counts of different trees")
		}
	}
	var b []byte
	for _, x := range sums {
		b = binary.AppendVarint(b, x)
	}
	return b, nil
}
