package tree

import (
	"errors"
	"fmt"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/portable"
	"github.com/espalier-ml/espalier/induce/wire"
)

// LeafCounts counts rows by leaf and true class. All metrics follow from it.
type LeafCounts struct {
	Weights [][]int64 // by node, then by true class
	Rows    []int64   // by node

	Groups *GroupCounts  // how far the rows are independent; nil: they are, and have the same weight
	Strata *StrataCounts // the same rows in strata; nil: no presence test has strata
}

// NewLeafCounts returns zero counts for a tree.
func (t *Tree) NewLeafCounts() *LeafCounts {
	c := &LeafCounts{Weights: make([][]int64, len(t.Nodes)), Rows: make([]int64, len(t.Nodes))}
	classes := len(t.Label.Classes)
	weights := make([]int64, classes*t.CountLeaves())
	for i := range t.Nodes {
		if t.Nodes[i].Leaf() {
			c.Weights[i] = weights[:classes:classes]
			weights = weights[classes:]
		}
	}
	return c
}

// TrainingCounts returns the counts of the training rows at the leaves. They share the weights of the nodes.
func (t *Tree) TrainingCounts() *LeafCounts {
	c := &LeafCounts{Weights: make([][]int64, len(t.Nodes)), Rows: make([]int64, len(t.Nodes))}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Leaf() {
			c.Weights[i] = n.RawClassWeights
			c.Rows[i] = n.Rows
		}
	}
	return c
}

// TotalRows returns the number of rows at all leaves.
func (c *LeafCounts) TotalRows() int64 { return portable.Sum(c.Rows) }

// Count adds object i to a leaf.
func (c *LeafCounts) Count(leaf int, o *dataset.Objects, i int) {
	c.Rows[leaf] += o.RowsOf(i)
	for _, cw := range o.Labels(i) {
		c.Weights[leaf][cw.Class] += cw.Weight
	}
}

// CountAll adds objects to the leaves that they reach. r is the tree's router.
func (c *LeafCounts) CountAll(r *Router, o *dataset.Objects) {
	r.Leaves(o, func(leaf int, ids []int32) {
		for _, id := range ids {
			c.Count(leaf, o, int(id))
		}
	})
}

// CountObjects counts objects by leaf and true class.
func (t *Tree) CountObjects(o *dataset.Objects) *LeafCounts {
	c := t.NewLeafCounts()
	c.CountAll(t.Router(), o)
	return c
}

// Encode returns the counts as varints: for each leaf its rows, then how many classes
// have weight, then these classes with their weights. A class is written as its
// distance from the class before.
func (c *LeafCounts) Encode() []byte {
	var b []byte
	for i, weights := range c.Weights {
		if weights != nil {
			b = counting.AppendRecord(b, c.Rows[i], counting.Listed(weights))
		}
	}
	return b
}

var errLeafCounts = errors.New("leaf counts of another tree")

// Add adds encoded counts of the same tree. After an error the counts are invalid.
func (c *LeafCounts) Add(b []byte) error {
	r := counting.Reader{Reader: wire.Reader{Rest: b}}
	for i, weights := range c.Weights {
		if weights == nil {
			continue
		}
		if err := r.Next(len(weights)); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		c.Rows[i] += r.Rows
		for _, s := range r.Shares {
			weights[s.Class] += s.Weight
		}
	}
	if len(r.Rest) > 0 {
		return fmt.Errorf("%w: bytes left over", errLeafCounts)
	}
	return nil
}

// MergeLeafCounts adds up encoded counts of a tree without needing the tree.
func MergeLeafCounts(list [][]byte) ([]byte, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	readers := make([]counting.Reader, len(list))
	for i := range list {
		readers[i].Rest = list[i]
	}
	var b []byte
	var shares []counting.Share
	for len(readers) > 0 && len(readers[0].Rest) > 0 {
		rows := int64(0)
		shares = shares[:0]
		for i := range readers {
			r := &readers[i]
			if err := r.Next(maxClasses); err != nil {
				return nil, err
			}
			rows += r.Rows
			shares = append(shares, r.Shares...)
		}
		b = counting.AppendRecord(b, rows, counting.Merged(shares))
	}
	for i := range readers {
		if len(readers[i].Rest) > 0 {
			return nil, errLeafCounts
		}
	}
	return b, nil
}
