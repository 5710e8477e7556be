package dataset

import "slices"

// Partition sorts objects by their codes: it sets into to the objects of ids with a code outside the range from
// low to low+span, followed by the objects with a code in the range, both in the order of ids. It returns how
// many objects are outside. ids and into are equally long; nil for ids: the objects 0 to len(into)-1.
func (c *Codes) Partition(ids, into []int32, low, span uint32) int {
	if c.U8 != nil {
		return partition(c.U8, ids, into, low, span)
	}
	return partition(c.U16, ids, into, low, span)
}

// partition does not branch on the codes, because the processor could not predict it: it writes each object to
// both ends of the free places, and one of the two is overwritten.
func partition[C uint8 | uint16](codes []C, ids, into []int32, low, span uint32) int {
	front := 0
	back := len(into) - 1
	end := uint64(span) + 1
	for i := range into {
		id := int32(i)
		if ids != nil {
			id = ids[i]
		}
		into[front], into[back] = id, id
		inside := int((uint64(uint32(codes[id])-low) - end) >> 63)
		front += 1 - inside
		back -= inside
	}
	slices.Reverse(into[front:])
	return front
}

// Deal sorts objects into groups, given the group of each code. The groups are consecutive parts of into, each in
// the order of ids. ids and into are as in Partition.
func (c *Codes) Deal(ids, into []int32, groups int, group func(code int) int) [][]int32 {
	object := func(i int) int32 {
		if ids == nil {
			return int32(i)
		}
		return ids[i]
	}
	objects := len(into)
	sizes := make([]int, groups)
	for i := range objects {
		sizes[group(c.At(int(object(i))))]++
	}
	parts := make([][]int32, groups)
	for g, n := range sizes {
		parts[g] = into[:0:n]
		into = into[n:]
	}
	for i := range objects {
		id := object(i)
		g := group(c.At(int(id)))
		parts[g] = append(parts[g], id)
	}
	return parts
}
