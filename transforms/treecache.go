package transforms

// treeCache keeps trees in the memory of a worker, decoded or not. A tree is forgotten when other trees of treeCacheBytes
// have been used since its last use. So trees of up to twice as many bytes are kept.
type treeCache[T any] struct {
	recent map[treeID]cachedTree[T]
	before map[treeID]cachedTree[T] // trees of the time before recent was emptied
	bytes  int                      // size of the trees in recent
}

type cachedTree[T any] struct {
	made  T
	bytes int // size of the tree.json
}

// treeCacheBytes, in bytes of tree.json, is enough for the trees of all hours of a week, of some hundred nodes each. A
// decoded tree takes less than its tree.json.
const treeCacheBytes = 32 << 20

// get returns what put has kept.
func (c *treeCache[T]) get(id treeID) (made T, found bool) {
	if t, ok := c.recent[id]; ok {
		return t.made, true
	}
	t, ok := c.before[id]
	if ok {
		c.put(id, t.made, t.bytes)
	}
	return t.made, ok
}

// put keeps what was made of a tree of a number of bytes.
func (c *treeCache[T]) put(id treeID, made T, bytes int) {
	if _, ok := c.recent[id]; ok {
		return
	}
	if c.recent == nil || c.bytes+bytes > treeCacheBytes {
		c.before = c.recent
		c.recent = make(map[treeID]cachedTree[T])
		c.bytes = 0
	}
	c.recent[id] = cachedTree[T]{made, bytes}
	c.bytes += bytes
}
