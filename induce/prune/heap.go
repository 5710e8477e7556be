package prune

// heap holds leftist heaps over the nodes of a tree, the largest key on top
// (Crane 1972; Knuth, The Art of Computer Programming 3, 5.2.3). A heap is named
// by its top. The root of the tree is in none, so 0 is the empty heap.
type heap struct {
	key         []float64
	left, right []int32
	rank        []int32 // number of nodes on the path that goes right until it ends
}

func newHeap(nodes int) heap {
	return heap{
		key: make([]float64, nodes), left: make([]int32, nodes), right: make([]int32, nodes),
		rank: make([]int32, nodes),
	}
}

// single returns the heap of one node.
func (h *heap) single(v int32, key float64) int32 {
	h.key[v] = key
	h.left[v] = 0
	h.right[v] = 0
	h.rank[v] = 1
	return v
}

// meld merges two heaps. It recurses to the right only, so at most log2(nodes)
// deep.
func (h *heap) meld(a, b int32) int32 {
	if a == 0 {
		return b
	}
	if b == 0 {
		return a
	}
	if h.key[a] < h.key[b] {
		a, b = b, a
	}
	h.right[a] = h.meld(h.right[a], b)
	if h.rank[h.left[a]] < h.rank[h.right[a]] {
		h.left[a], h.right[a] = h.right[a], h.left[a]
	}
	h.rank[a] = h.rank[h.right[a]] + 1
	return a
}

// pop returns the heap without its top.
func (h *heap) pop(a int32) int32 { return h.meld(h.left[a], h.right[a]) }
