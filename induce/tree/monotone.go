package tree

import (
	"cmp"
	"slices"

	"github.com/espalier-ml/espalier/induce/split"
)

// A tree keeps the probability of the second of two classes monotone in a feature in two ways.
//
// The nodes of a grown tree must satisfy the constraint in every pruning, whichever nodes become
// leaves. So each threshold on such a feature has a separator: a probability that the nodes on one
// side do not exceed, and that the nodes on the other side do not fall below.
//
// The leaves of a tree that is not pruned further need less: only leaves reached by two rows that
// differ in the feature alone have to be in order. See SettleLeaves.

// hasMonotone reports whether the probability of the second class is monotone in some feature.
func (t *Tree) hasMonotone() bool { return len(t.Algorithm.Monotone) > 0 && len(t.Label.Classes) == 2 }

// sides returns the child of a node whose probabilities must not be greater, and then the other
// child. ok is false unless the node has a threshold on a monotone feature.
func (t *Tree) sides(n *Node) (lower, upper int, ok bool) {
	if n.Leaf() || n.Test.Kind != split.Threshold && n.Test.Kind != split.In { // no sets but of ordered values: see split.Column
		return 0, 0, false
	}
	yes, no := n.Branches[0].Child, n.Branches[1].Child
	switch t.Algorithm.Monotone[t.Features[n.Test.Feature].Name] {
	case 1:
		return no, yes, true
	case -1:
		return yes, no, true
	default:
		return 0, 0, false
	}
}

// leafList lists the leaves of a tree with monotone features. For a threshold on such a feature,
// the leaves of its lower side come first, so each leaf comes after all leaves that it must not
// fall below.
type leafList struct {
	leaves []int    // ids of nodes
	spans  [][2]int // by node: the half-open range of its leaves in the list
}

func (t *Tree) listLeaves() *leafList {
	l := &leafList{spans: make([][2]int, len(t.Nodes))}
	stack := []int{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &t.Nodes[i]
		if l.spans[i][0] = len(l.leaves); n.Leaf() {
			l.leaves = append(l.leaves, i)
		}
		if lower, upper, ok := t.sides(n); ok {
			stack = append(stack, upper, lower) // the lower side is taken first
			continue
		}
		for _, b := range n.Branches {
			stack = append(stack, b.Child)
		}
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children come after their parents
		n := &t.Nodes[i]
		if n.Leaf() {
			l.spans[i][1] = l.spans[i][0] + 1
		}
		for _, b := range n.Branches {
			l.spans[i][1] = max(l.spans[i][1], l.spans[b.Child][1])
		}
	}
	return l
}

// of returns the leaves below a node, or the node itself if it is a leaf.
func (l *leafList) of(node int) []int { return l.leaves[l.spans[node][0]:l.spans[node][1]] }

// separate moves the probabilities of all nodes to their side of each separator above them. weight
// holds for each node the weight from which its probabilities were estimated.
func (t *Tree) separate(weight []int64) {
	s := &separation{tree: t, weight: weight, list: t.listLeaves()}
	low, high := make([]float64, len(t.Nodes)), make([]float64, len(t.Nodes))
	high[0] = 1
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for _, b := range n.Branches {
			low[b.Child], high[b.Child] = low[i], high[i]
		}
		if lower, upper, ok := t.sides(n); ok {
			separator := s.separator(lower, upper, low[i], high[i])
			high[lower] = separator
			low[upper] = separator
		}
		n.setSecond(min(max(n.Probabilities[1], low[i]), high[i]))
	}
}

// setSecond sets the probabilities of two classes.
func (n *Node) setSecond(p float64) { n.Probabilities[0], n.Probabilities[1] = 1-p, p }

// separation finds separators.
type separation struct {
	tree   *Tree
	weight []int64 // by node
	list   *leafList
	points []sidePoint // memory for reuse
}

// sidePoint is a leaf on one side of a threshold.
type sidePoint struct {
	probability, weight float64
	upper               bool
}

// separator returns the separator in [low, high] of two nodes for which the leaves below them move
// least, by the weighted sum of squares. If several numbers are equally good, it returns the
// middle. Leaves without weight do not count.
func (s *separation) separator(lower, upper int, low, high float64) float64 {
	s.points = s.points[:0]
	s.collect(lower, false, low, high)
	weight, moment := 0.0, 0.0 // weight and moment of the points that a separator at the current place moves
	for _, p := range s.points {
		weight += p.weight
		moment += float64(p.weight * p.probability)
	}
	s.collect(upper, true, low, high)
	if len(s.points) == 0 {
		return low
	}
	slices.SortStableFunc(s.points, func(a, b sidePoint) int { return cmp.Compare(a.probability, b.probability) })
	if weight == 0 { // nothing is on the lower side
		return s.points[0].probability
	}
	from := low
	for _, p := range s.points {
		if weight == 0 {
			return (from + p.probability) / 2
		}
		if at := moment / weight; at <= p.probability {
			return max(at, from)
		}
		from = p.probability
		change := p.weight // from here on, a lower point is no longer moved, and an upper point is
		if !p.upper {
			change = -change
		}
		weight += change
		moment += float64(change * p.probability)
	}
	return from
}

// collect adds the leaves below a node to the points.
func (s *separation) collect(node int, upper bool, low, high float64) {
	for _, leaf := range s.list.of(node) {
		if s.weight[leaf] > 0 {
			p := min(max(s.tree.Nodes[leaf].Probabilities[1], low), high)
			s.points = append(s.points, sidePoint{p, float64(s.weight[leaf]), upper})
		}
	}
}
