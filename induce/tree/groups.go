package tree

import (
	"math"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
)

// GroupCount is the weight and the number of rows of one class at a leaf.
type GroupCount struct {
	Leaf         int // node
	Class        uint16
	Weight, Rows int64
}

// GroupCounts tells how far rows are independent of each other: it counts them by the bucket of their group, leaf and
// true class. If rows have no keys, a bucket has the rows of a class of weights, see dataset.WeightClass.
type GroupCounts struct {
	Keyed   bool // whether rows with the same key form a group
	Buckets [dataset.Buckets][]GroupCount
	// WeightEffect is the design effect of the weights of the rows, see dataset.WeightSums, if the rows are not
	// counted; otherwise 0.
	WeightEffect float64
}

// CountGroups counts the rows of grouped objects.
func (t *Tree) CountGroups(o *dataset.Objects, keyed bool) *GroupCounts {
	counts := newGroupTable()
	router := t.Router()
	for i := range o.Len() {
		leaf := router.Leaf(o, i)
		for _, s := range o.Groups(i) {
			if s.Weight > 0 || s.Rows > 0 { // else part of a soft label
				counts.add(s.Bucket, leaf, int(s.Class), s.Weight, s.Rows)
			}
		}
	}
	return counts.list(keyed)
}

// groupTable counts rows by bucket, leaf and true class.
type groupTable struct{ *counting.Table }

func newGroupTable() groupTable {
	return groupTable{counting.New(counting.Shape{Words: 1, Counters: 2})}
}

// add adds rows.
func (g groupTable) add(bucket uint8, leaf, class int, weight, rows int64) {
	counters := g.Add([]uint64{uint64(bucket)<<48 | uint64(leaf)<<16 | uint64(class)})
	counters[0] += weight
	counters[1] += rows
}

// list returns the counts by bucket, ordered by leaf and class.
func (g groupTable) list(keyed bool) *GroupCounts {
	counts := &GroupCounts{Keyed: keyed}
	for e := range g.All() {
		word := e.Words[0]
		list := &counts.Buckets[word>>48]
		*list = append(*list, GroupCount{
			Leaf: int(word >> 16 & math.MaxUint32), Class: uint16(word), Weight: e.Counters[0], Rows: e.Counters[1],
		})
	}
	return counts
}

// hasGroup reports whether the tree has the leaf and the class of a key.
func (t *Tree) hasGroup(word uint64) bool {
	leaf := word >> 16 & math.MaxUint32
	return word>>48 < dataset.Buckets && leaf < uint64(len(t.Nodes)) && t.Nodes[leaf].Leaf() &&
		word&math.MaxUint16 < uint64(len(t.Label.Classes))
}
