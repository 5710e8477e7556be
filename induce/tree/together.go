package tree

import "slices"

// Member is a node of one of several trees.
type Member[N any] struct {
	Tree int // number of the tree
	Node N
}

// Together are nodes of several trees to which the same tests lead. They are handled together, since the same
// objects reach them.
type Together[N any] []Member[N]

// Roots returns the roots of trees.
func Roots[N any](nodes []N) Together[N] {
	roots := make(Together[N], len(nodes))
	for i, n := range nodes {
		roots[i] = Member[N]{i, n}
	}
	return roots
}

// Groups returns groups of equal nodes, such as nodes with the same test, in the order of the first node of each.
func (t Together[N]) Groups(equal func(a, b Member[N]) bool) []Together[N] {
	var groups []Together[N]
	for _, m := range t {
		at := slices.IndexFunc(groups, func(group Together[N]) bool { return equal(group[0], m) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// Below returns a child of each node. The nodes have the same test, and the children the same outcome.
func (t Together[N]) Below(child func(m Member[N]) N) Together[N] {
	below := make(Together[N], len(t))
	for i, m := range t {
		below[i] = Member[N]{m.Tree, child(m)}
	}
	return below
}
