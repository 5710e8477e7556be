package transforms

// recentTrees keeps trees in the memory of a worker, decoded or not. A tree is forgotten when other trees of recentBytes
// have been used since its last use. So trees of up to twice as many bytes are kept.
type recentTrees[T any] struct {
	recent map[treeID]recentTree[T]
	before map[treeID]recentTree[T] // trees of the time before recent was emptied
	bytes  int                      // size of the trees in recent
}

type recentTree[T any] struct {
	made  T
	bytes int // size of the tree.json
}

// recentBytes, of tree.json, is enough for the trees of all hours of a week, of some hundred nodes each. A decoded tree takes
// less than its tree.json.
const recentBytes = 32 << 20

// get returns what put has kept.
func (r *recentTrees[T]) get(id treeID) (made T, found bool) {
	if t, ok := r.recent[id]; ok {
		return t.made, true
	}
	t, ok := r.before[id]
	if ok {
		r.put(id, t.made, t.bytes)
	}
	return t.made, ok
}

// put keeps what was made of a tree of a number of bytes.
func (r *recentTrees[T]) put(id treeID, made T, bytes int) {
	if _, ok := r.recent[id]; ok {
		return
	}
	if r.recent == nil || r.bytes+bytes > recentBytes {
		r.before = r.recent
		r.recent = make(map[treeID]recentTree[T])
		r.bytes = 0
	}
	r.recent[id] = recentTree[T]{made, bytes}
	r.bytes += bytes
}
