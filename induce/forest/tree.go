package forest

import "slices"

// tree is a grown tree. nodes[0] is its root.
type tree struct {
	nodes  []node
	sets   []uint64 // sets of the categorical tests
	shares []share  // shares of the leaves
}

// node is an inner node or a leaf. An object of an inner node goes to node child + 1 if
// code - cut < span in unsigned 16-bit arithmetic, otherwise to node child. A categorical test
// has a set: the bits of the codes that go to child + 1. A leaf has the shares in [child, set).
type node struct {
	feature   int32 // -1: a leaf
	child     int32
	set       int32 // word of tree.sets where the set begins; -1: no set
	cut, span uint16
}

// share is the share of a class in a leaf. The shares of a leaf add up to less than 1. What is
// missing goes to all classes by the class shares of all objects.
type share struct {
	class uint16
	share float32
}

// leaf returns the number of the leaf that an object with the given codes reaches.
func (t *tree) leaf(codes []uint16) int32 {
	at := int32(0)
	for n := &t.nodes[0]; n.feature >= 0; n = &t.nodes[at] {
		at = n.child + int32(t.side(n, codes[n.feature]))
	}
	return at
}

// side returns 1 if objects with the code go to the second child, otherwise 0.
func (t *tree) side(n *node, code uint16) int {
	if n.set >= 0 {
		return int(t.sets[int(n.set)+int(code>>6)] >> (code & 63) & 1)
	}
	if code-n.cut < n.span {
		return 1
	}
	return 0
}

// open is a node that is still to be grown, with the items [from, to) of grower.ids.
type open struct {
	node     int32
	from, to int32
	key      uint64 // key of the random choices in the node
}

// grower grows one tree after the other in the same memory.
type grower struct {
	forest *Forest
	tree   tree
	scan   scan
	ids    []int32 // items by node
	aside  []int32
	order  []int32 // all features, as drawn so far
	stack  []open
	least  int64   // least weight of a leaf
	smooth float64 // weight of the shares of all objects in a leaf
}

func newGrower(f *Forest) *grower {
	g := &grower{forest: f, order: make([]int32, len(f.features))}
	g.scan = newScan(f.features, f.objects.Classes)
	g.least = max(int64(f.options.Leaf*f.drawing.row), 1)
	g.smooth = f.options.Smooth * f.drawing.row
	return g
}

// grow returns the tree with the given number.
func (g *grower) grow(number int) tree {
	key := g.forest.key(number)
	g.draw(key)
	for i := range g.order {
		g.order[i] = int32(i)
	}
	g.tree = tree{nodes: append(g.tree.nodes[:0], node{}), sets: g.tree.sets[:0], shares: g.tree.shares[:0]}
	g.stack = append(g.stack[:0], open{to: int32(len(g.ids)), key: mix(key, 1)})
	for len(g.stack) > 0 {
		o := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		g.expand(o)
	}
	return tree{slices.Clone(g.tree.nodes), slices.Clone(g.tree.sets), slices.Clone(g.tree.shares)}
}

// key returns the key of the random choices of the tree with the given number.
func (f *Forest) key(number int) uint64 { return mix(mix(f.options.Seed, 0), uint64(number)) }

// draw draws the items of the tree with the given key.
func (g *grower) draw(key uint64) {
	d, s := g.forest.drawing, &g.scan
	s.clear()
	objects := g.aside[:0]
	for i := range d.entries {
		e := &d.entries[i]
		if drawn, _ := d.draw(key, e); drawn > 0 {
			s.add(e.class, uint32(drawn)*e.weight)
			objects = append(objects, e.object)
		}
	}
	s.load(g.forest.objects, objects)
	g.aside = objects
	g.ids = slices.Grow(g.ids[:0], len(objects))[:len(objects)]
	for i := range g.ids {
		g.ids[i] = int32(i)
	}
}

// expand turns an open node into a leaf, or into an inner node with two open children.
func (g *grower) expand(o open) {
	ids := g.ids[o.from:o.to]
	s := &g.scan
	s.begin(ids)
	best := test{gain: -1}
	if !s.pure() && s.total >= 2*g.least {
		best = g.search(ids, o.key)
	}
	if best.gain < 0 {
		g.leaf(o.node)
		return
	}
	n := node{feature: best.feature, child: int32(len(g.tree.nodes)), set: -1, cut: best.cut, span: best.span}
	if best.left != nil {
		n.set = int32(len(g.tree.sets))
		g.tree.sets = append(g.tree.sets, g.set(&best)...)
	}
	g.tree.nodes[o.node] = n
	g.tree.nodes = append(g.tree.nodes, node{}, node{})
	middle := o.from + g.divide(ids, &n)
	g.stack = append(g.stack,
		open{n.child + 1, middle, o.to, mix(o.key, 1)}, open{n.child, o.from, middle, mix(o.key, 0)})
}

// search returns the best test of some features, drawn at random. Features for which all objects
// have the same code do not count. The first of equally good tests wins.
func (g *grower) search(ids []int32, key uint64) test {
	best, r := test{gain: -1}, random(key)
	for i, left := 0, g.forest.options.Features; i < len(g.order) && left > 0; i++ {
		k := i + r.below(len(g.order)-i)
		g.order[i], g.order[k] = g.order[k], g.order[i]
		if g.scan.feature(int(g.order[i]), ids, g.least, &best) {
			left--
		}
	}
	return best
}

// set returns the bits of the codes that go to the second child. Codes that no object of
// the node has go to the heavier child.
func (g *grower) set(t *test) []uint64 {
	bits := make([]uint64, (g.forest.features[t.feature].Codes()+63)/64)
	codes := t.right
	if t.heavyRight {
		for i := range bits {
			bits[i] = ^uint64(0)
		}
		codes = t.left
	}
	for _, c := range codes {
		bits[c>>6] ^= 1 << (c & 63)
	}
	return bits
}

// divide sorts the items ids of a node by child, and returns the number of items of the first child.
func (g *grower) divide(ids []int32, n *node) int32 {
	column, aside := g.scan.columns[n.feature], g.aside[:len(ids)]
	first, second := 0, 0
	for _, id := range ids {
		side := g.tree.side(n, column[id])
		ids[first], aside[second] = id, id
		first += 1 - side
		second += side
	}
	copy(ids[first:], aside[:second])
	return int32(first)
}

// leaf makes node number at a leaf, with the class shares of the node that scan.begin was called for.
func (g *grower) leaf(at int32) {
	n := node{feature: -1, child: int32(len(g.tree.shares))}
	whole := float64(g.scan.total) + g.smooth
	for class, w := range g.scan.weights() {
		g.tree.shares = append(g.tree.shares, share{class, float32(float64(w) / whole)})
	}
	n.set = int32(len(g.tree.shares))
	g.tree.nodes[at] = n
}
