package tree

import (
	"slices"

	"github.com/espalier-ml/espalier/induce/counting"
	"github.com/espalier-ml/espalier/induce/dataset"
	"github.com/espalier-ml/espalier/induce/split"
)

// MultiRouter sends objects through several trees at once. The trees of a grid begin with the same
// tests: nodes with the same path are a single node of the router, and an object passes it once. A
// router is read-only, so goroutines may share it.
type MultiRouter struct {
	trees  []*Tree
	nodes  []multiNode
	leaves int       // number of distinct leaves
	leafOf [][]int32 // by tree and node: number of the distinct leaf
}

// multiNode represents the nodes of all trees that have the same path.
type multiNode struct {
	leaf  int32 // number of the leaf that it is in some trees; -1 if in none
	tests []multiTest
}

// multiTest is a test that some trees have at a node. Outcome 1 of a two-outcome test is the codes
// from low to low+span. The code of missing, which is the greatest, is either above all of them or
// the only one of them.
type multiTest struct {
	feature   int32
	low, span uint32
	children  [2]int32 // by outcome
	fan       *fan     // for multiway tests
}

// multiMember is a node of a tree.
type multiMember struct{ tree, node int32 }

// NewMultiRouter returns the router of trees with the same features and classes.
func NewMultiRouter(trees []*Tree) *MultiRouter {
	r := &MultiRouter{trees: trees, leafOf: make([][]int32, len(trees))}
	roots := make([]multiMember, len(trees))
	for i, t := range trees {
		r.leafOf[i] = make([]int32, len(t.Nodes))
		roots[i].tree = int32(i)
	}
	for queue := [][]multiMember{roots}; len(queue) > len(r.nodes); {
		at := len(r.nodes)
		r.nodes = append(r.nodes, multiNode{leaf: -1})
		queue = r.expand(&r.nodes[at], queue[at], queue)
	}
	return r
}

// expand fills in a node for its members. It appends the members of each child to queue; the
// position there is the number of the child.
func (r *MultiRouter) expand(n *multiNode, members []multiMember, queue [][]multiMember) [][]multiMember {
	for len(members) > 0 {
		first := r.node(members[0])
		alike, others := members[:0:0], members[:0]
		for _, m := range members {
			if AlikeNodes(first, r.node(m)) {
				alike = append(alike, m)
			} else {
				others = append(others, m)
			}
		}
		members = others
		if first.Leaf() {
			n.leaf = int32(r.leaves)
			r.leaves++
			for _, m := range alike {
				r.leafOf[m.tree][m.node] = n.leaf
			}
			continue
		}
		n.tests = append(n.tests, r.test(first, len(queue)))
		for i := range first.Branches {
			child := make([]multiMember, len(alike))
			for k, m := range alike {
				child[k] = multiMember{m.tree, int32(r.node(m).Branches[i].Child)}
			}
			queue = append(queue, child)
		}
	}
	return queue
}

func (r *MultiRouter) node(m multiMember) *Node { return &r.trees[m.tree].Nodes[m.node] }

// AlikeNodes reports whether two nodes are both leaves, or have the same test and send each code to
// the same branch.
func AlikeNodes(a, b *Node) bool {
	if a.Leaf() || b.Leaf() {
		return a.Leaf() && b.Leaf()
	}
	return a.Test.Test == b.Test.Test && slices.EqualFunc(a.Branches, b.Branches, func(x, y Branch) bool {
		return x.Outcome == y.Outcome && x.Missing == y.Missing && x.Other == y.Other
	})
}

// test returns the test of a node. The children are consecutive nodes of the router, starting at
// child.
func (r *MultiRouter) test(n *Node, child int) multiTest {
	t := multiTest{feature: int32(n.Test.Feature), low: uint32(n.Test.Code), span: uint32(n.Test.Span)}
	feature := &r.trees[0].Features[n.Test.Feature]
	if n.Test.Kind == split.Multiway {
		branches, targets := slices.Clone(n.Branches), make([]int32, len(n.Branches))
		for i := range branches {
			branches[i].Child, targets[i] = i, int32(child+i)
		}
		fan := newFan(branches, feature, targets)
		t.fan = &fan
		return t
	}
	if n.Test.Kind == split.Threshold {
		t.span = uint32(feature.MissingCode() - 1 - n.Test.Code)
	}
	for i, b := range n.Branches {
		t.children[b.Outcome] = int32(child + i)
	}
	return t
}

// child returns the child for a code.
func (t *multiTest) child(code int) int32 {
	if t.fan != nil {
		return t.fan.child(int32(code))
	}
	if uint32(code)-t.low <= t.span {
		return t.children[1]
	}
	return t.children[0]
}

// MultiCounts counts objects by leaf and class, for all trees of a router. Only one goroutine may
// use it.
type MultiCounts struct {
	router *MultiRouter
	leaves []leafCount      // by number of the distinct leaf
	spare  []counting.Share // memory for shares

	objects *dataset.Objects
	lists   []int32 // numbers of objects: a stack of lists
	yes     []int32 // objects of a list with outcome 1
	byChild []int64 // objects of a list at a multiway test, with the child in the high bits
}

// leafCount is the count of a leaf. A few classes are listed, many are stored densely.
type leafCount struct {
	rows   int64
	shares []counting.Share
	dense  []int64 // by class; nil if shares has the weights
}

// listedClasses is the greatest number of classes that a leaf lists.
const listedClasses = 24

// NewCounts returns zero counts.
func (r *MultiRouter) NewCounts() *MultiCounts {
	return &MultiCounts{router: r, leaves: make([]leafCount, r.leaves)}
}

// multiObjects is how many objects pass the trees together, so that their codes of a feature and
// the lists of them fit into the cache.
const multiObjects = 1 << 15

// Add counts all objects.
func (c *MultiCounts) Add(o *dataset.Objects) {
	for from := 0; from < o.Len(); from += multiObjects {
		c.lists = c.lists[:0]
		for i := from; i < min(o.Len(), from+multiObjects); i++ {
			c.lists = append(c.lists, int32(i))
		}
		c.add(o)
	}
}

// AddSome counts the objects with the given numbers.
func (c *MultiCounts) AddSome(o *dataset.Objects, ids []int32) {
	for part := range slices.Chunk(ids, multiObjects) {
		c.lists = append(c.lists[:0], part...)
		c.add(o)
	}
}

// add counts the objects in lists.
func (c *MultiCounts) add(o *dataset.Objects) {
	c.objects = o
	c.yes = slices.Grow(c.yes[:0], len(c.lists))[:len(c.lists)]
	c.route(0, 0, len(c.lists))
	c.objects = nil
}

// route counts the objects of lists[from:to], which have reached node at. It may reorder them.
func (c *MultiCounts) route(at int32, from, to int) {
	const few = 4 // with at most this many objects, each walks alone
	n := &c.router.nodes[at]
	if to-from <= few {
		for _, id := range c.lists[from:to] {
			c.walk(at, id)
		}
		return
	}
	if n.leaf >= 0 {
		leaf := &c.leaves[n.leaf]
		for _, id := range c.lists[from:to] {
			c.count(leaf, id)
		}
	}
	for i := range n.tests {
		if i == len(n.tests)-1 {
			c.deal(&n.tests[i], from, to)
			return
		}
		end := len(c.lists)
		c.lists = append(c.lists, c.lists[from:to]...)
		c.deal(&n.tests[i], end, len(c.lists))
		c.lists = c.lists[:end]
	}
}

// deal sends the objects of lists[from:to] to the children of a test.
func (c *MultiCounts) deal(t *multiTest, from, to int) {
	codes, list := &c.objects.Codes[t.feature], c.lists[from:to]
	if t.fan != nil {
		c.dealFan(t, codes, from, to)
		return
	}
	var no int
	if codes.U8 != nil {
		no = divide(codes.U8, list, c.yes, t)
	} else {
		no = divide(codes.U16, list, c.yes, t)
	}
	if no > 0 {
		c.route(t.children[0], from, from+no)
	}
	if from+no < to {
		c.route(t.children[1], from+no, to)
	}
}

// divide puts the objects of outcome 0 before the objects of outcome 1, and returns how many have
// outcome 0. It does not branch on the outcome, because the processor could not predict it.
func divide[T uint8 | uint16](codes []T, list, scratch []int32, t *multiTest) int {
	no, yes, low, end := 0, 0, t.low, uint64(t.span)+1
	for _, id := range list {
		one := int((uint64(uint32(codes[id])-low) - end) >> 63)
		list[no], scratch[yes] = id, id
		no, yes = no+1-one, yes+one
	}
	copy(list[no:], scratch[:yes])
	return no
}

// dealFan is deal for a multiway test.
func (c *MultiCounts) dealFan(t *multiTest, codes *dataset.Codes, from, to int) {
	list := c.lists[from:to]
	c.byChild = c.byChild[:0]
	for _, id := range list {
		c.byChild = append(c.byChild, int64(t.fan.child(int32(codes.At(int(id)))))<<32|int64(id))
	}
	slices.Sort(c.byChild)
	var runs []struct {
		child int32
		end   int
	}
	for i, x := range c.byChild {
		list[i] = int32(x)
		if child := int32(x >> 32); len(runs) == 0 || runs[len(runs)-1].child != child {
			runs = append(runs, struct {
				child int32
				end   int
			}{child, from + i})
		}
		runs[len(runs)-1].end++
	}
	for _, r := range runs {
		c.route(r.child, from, r.end)
		from = r.end
	}
}

// walk counts an object that has reached a node.
func (c *MultiCounts) walk(at, id int32) {
	for {
		n := &c.router.nodes[at]
		if n.leaf >= 0 {
			c.count(&c.leaves[n.leaf], id)
		}
		if len(n.tests) == 0 {
			return
		}
		last := len(n.tests) - 1
		for i := range n.tests[:last] {
			c.walk(c.next(&n.tests[i], id), id)
		}
		at = c.next(&n.tests[last], id)
	}
}

// next returns the child of an object at a test.
func (c *MultiCounts) next(t *multiTest, id int32) int32 {
	return t.child(c.objects.Codes[t.feature].At(int(id)))
}

// count adds an object to a leaf.
func (c *MultiCounts) count(leaf *leafCount, id int32) {
	leaf.rows += c.objects.RowsOf(int(id))
	for _, cw := range c.objects.Labels(int(id)) {
		if leaf.dense != nil {
			leaf.dense[cw.Class] += cw.Weight
		} else {
			c.addShare(leaf, counting.Share{Class: int32(cw.Class), Weight: cw.Weight})
		}
	}
}

// addShare adds a weight to a leaf that lists its classes.
func (c *MultiCounts) addShare(leaf *leafCount, s counting.Share) {
	for i := range leaf.shares {
		if leaf.shares[i].Class == s.Class {
			leaf.shares[i].Weight += s.Weight
			return
		}
	}
	if len(leaf.shares) < listedClasses {
		if leaf.shares == nil { // most leaves have few classes
			const usual, many = 3, 1 << 10
			if len(c.spare) < usual {
				c.spare = make([]counting.Share, usual*many)
			}
			leaf.shares, c.spare = c.spare[:0:usual], c.spare[usual:]
		}
		leaf.shares = append(leaf.shares, s)
		return
	}
	leaf.dense = make([]int64, len(c.router.trees[0].Label.Classes))
	for _, s := range leaf.shares {
		leaf.dense[s.Class] = s.Weight
	}
	leaf.shares = nil
	leaf.dense[s.Class] += s.Weight
}

// Tree returns the counts of a tree.
func (c *MultiCounts) Tree(at int) *LeafCounts {
	t := c.router.trees[at]
	counts := t.NewLeafCounts()
	for v := range t.Nodes {
		if !t.Nodes[v].Leaf() {
			continue
		}
		leaf := &c.leaves[c.router.leafOf[at][v]]
		counts.Rows[v] = leaf.rows
		copy(counts.Weights[v], leaf.dense)
		for _, s := range leaf.shares {
			counts.Weights[v][s.Class] = s.Weight
		}
	}
	return counts
}

// Encode returns the counts of a tree as LeafCounts.Encode does.
func (c *MultiCounts) Encode(at int) []byte {
	var b []byte
	for v := range c.router.trees[at].Nodes {
		if c.router.trees[at].Nodes[v].Leaf() {
			leaf := &c.leaves[c.router.leafOf[at][v]]
			shares := leaf.shares
			if leaf.dense != nil {
				shares = counting.Listed(leaf.dense)
			}
			slices.SortFunc(shares, func(a, b counting.Share) int { return int(a.Class - b.Class) })
			b = counting.AppendRecord(b, leaf.rows, shares)
		}
	}
	return b
}
