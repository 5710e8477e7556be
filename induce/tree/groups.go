package tree

import "github.com/espalier-ml/espalier/induce/dataset"

// GroupCount is the weight and the number of rows of one class at a leaf.
type GroupCount struct {
	Leaf         int // node
	Class        uint16
	Weight, Rows int64
}

// GroupCounts counts rows by the bucket of their group, leaf and true class.
type GroupCounts [dataset.Buckets][]GroupCount

// CountGroups counts the rows of grouped objects. The order of a bucket's counts depends on the order of
// the objects.
func (t *Tree) CountGroups(o *dataset.Objects) *GroupCounts {
	type place struct {
		bucket uint8
		class  uint16
		leaf   int
	}
	counts, at, router := new(GroupCounts), make(map[place]int), t.Router()
	for i := range o.Len() {
		leaf := router.Leaf(o, i)
		for _, s := range o.Groups(i) {
			if s.Weight == 0 && s.Rows == 0 {
				continue // part of a soft label
			}
			list := &counts[s.Bucket]
			p := place{s.Bucket, s.Class, leaf}
			n, found := at[p]
			if !found {
				n = len(*list)
				at[p], *list = n, append(*list, GroupCount{Leaf: leaf, Class: s.Class})
			}
			(*list)[n].Weight += s.Weight
			(*list)[n].Rows += s.Rows
		}
	}
	return counts
}
