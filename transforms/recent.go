package transforms

// recentTrees keeps what a worker has made of trees. What was not used is forgotten when other trees of up to
// recentBytes have been used since.
type recentTrees[T any] struct {
	recent map[treeID]recentTree[T]
	before map[treeID]recentTree[T] // those used before recent was empty
	bytes  int                      // of the trees in recent
}

type recentTree[T any] struct {
	made  T
	bytes int // of the tree.json
}

// recentBytes is enough for the trees of all hours of a week, of some hundred nodes each.
const recentBytes = 64 << 20

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
