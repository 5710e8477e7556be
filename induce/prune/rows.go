package prune

import (
	"fmt"
	"slices"

	"github.com/espalier-ml/espalier/induce/judging"
	"github.com/espalier-ml/espalier/induce/tree"
)

// Rows are rows counted by leaf of a tree and added up towards the root. All sequences of the tree
// may share them.
type Rows struct {
	nodeWeights // known weights, see tree.Tree.Known

	counted *nodeWeights // as they were counted
	judged  *nodeWeights // by which the rows count for all scores but the areas: see package judging
	rows    []int64      // by node: number of rows that reach the node
}

// Leaves returns the rows at the leaves of the tree, as they were counted.
func (r *Rows) Leaves() *tree.LeafCounts {
	t := r.counted.tree
	counts := t.NewLeafCounts()
	for v := range t.Nodes {
		if t.Nodes[v].Leaf() {
			counts.Rows[v] = r.rows[v]
			for _, w := range r.counted.of(v) {
				counts.Weights[v][w.class] = w.weight
			}
		}
	}
	return counts
}

// nodeWeights are the weights of rows that reach the nodes of a tree.
type nodeWeights struct {
	tree   *tree.Tree
	weight []int64 // by node

	list []share // by node, then by class: the weights above 0
	ends []int   // by node: end of its part of the list
}

// share is the weight of the rows of a class.
type share struct {
	class  int32
	weight int64
}

// NewRows adds up counts of rows by leaf of a tree. factors are how much the classes count in all scores but the
// areas. It panics if the counts belong to another tree.
func NewRows(t *tree.Tree, counts *tree.LeafCounts, factors *judging.Factors) *Rows {
	nodes := len(t.Nodes)
	if len(counts.Weights) != nodes || len(counts.Rows) != nodes {
		panic(fmt.Sprintf("prune: counts of %d nodes for a tree of %d", len(counts.Weights), nodes))
	}
	known := t.KnownCounts(counts)
	r := &Rows{nodeWeights: newNodeWeights(t, known), rows: make([]int64, nodes)}
	r.counted = &r.nodeWeights
	if known != counts {
		counted := newNodeWeights(t, counts)
		r.counted = &counted
	}
	r.judged = &r.nodeWeights
	if factors != nil {
		judged := newNodeWeights(t, factors.Counts(known))
		r.judged = &judged
	}
	for v := nodes - 1; v >= 0; v-- {
		if n := &t.Nodes[v]; n.Leaf() {
			r.rows[v] = counts.Rows[v]
		}
		for _, b := range t.Nodes[v].Branches {
			r.rows[v] += r.rows[b.Child]
		}
	}
	return r
}

// newNodeWeights adds up the weights of counted rows.
func newNodeWeights(t *tree.Tree, counts *tree.LeafCounts) nodeWeights {
	r := nodeWeights{tree: t, weight: make([]int64, len(t.Nodes))}
	lists := r.gather(counts)
	all := 0
	for _, list := range lists {
		all += len(list)
	}
	r.list = make([]share, 0, all)
	r.ends = make([]int, len(t.Nodes))
	for v, list := range lists {
		r.list = append(r.list, list...)
		r.ends[v] = len(r.list)
		for _, s := range list {
			r.weight[v] += s.weight
		}
	}
	return r
}

// gather returns for each node the weights above 0.
func (r *nodeWeights) gather(counts *tree.LeafCounts) [][]share {
	lists := make([][]share, len(r.weight))
	sums := newSums(len(r.tree.Label.Classes))
	for v := len(lists) - 1; v >= 0; v-- {
		n := &r.tree.Nodes[v]
		if n.Leaf() {
			for c, w := range counts.Weights[v] {
				if w > 0 {
					sums.add(share{int32(c), w})
				}
			}
		}
		for _, b := range n.Branches {
			for _, s := range lists[b.Child] {
				sums.add(s)
			}
		}
		lists[v] = sums.take()
	}
	return lists
}

// sums adds up weights by class.
type sums struct {
	weight []int64 // by class
	seen   []int32 // classes with weight
	spare  []share // memory for lists
}

func newSums(classes int) *sums { return &sums{weight: make([]int64, classes)} }

func (s *sums) add(x share) {
	if s.weight[x.class] == 0 {
		s.seen = append(s.seen, x.class)
	}
	s.weight[x.class] += x.weight
}

// take returns the sums by class, and resets them.
func (s *sums) take() []share {
	slices.Sort(s.seen)
	if len(s.spare) < len(s.seen) {
		s.spare = make([]share, max(1<<12, len(s.seen)))
	}
	list := s.spare[:len(s.seen):len(s.seen)]
	s.spare = s.spare[len(s.seen):]
	for i, c := range s.seen {
		list[i] = share{c, s.weight[c]}
		s.weight[c] = 0
	}
	s.seen = s.seen[:0]
	return list
}

// of returns the weights above 0 of the rows that reach a node, by class.
func (r *nodeWeights) of(node int) []share {
	if node == 0 {
		return r.list[:r.ends[0]]
	}
	return r.list[r.ends[node-1]:r.ends[node]]
}

// nodeShare is the weight of a class's rows at a node.
type nodeShare struct {
	node   int32
	weight int64
}

// byClass returns for each class the nodes that its rows reach, with their weights.
func (r *nodeWeights) byClass() [][]nodeShare {
	classes := make([][]nodeShare, len(r.tree.Label.Classes))
	counts := make([]int, len(classes))
	for i := range r.list {
		counts[r.list[i].class]++
	}
	all := make([]nodeShare, len(r.list))
	for c, n := range counts {
		classes[c] = all[:0:n]
		all = all[n:]
	}
	for v := range r.ends {
		for _, s := range r.of(v) {
			classes[s.class] = append(classes[s.class], nodeShare{int32(v), s.weight})
		}
	}
	return classes
}
