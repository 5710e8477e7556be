// Package prune cuts a grown tree back, weakest link first: the minimal
// cost-complexity pruning of Breiman, Friedman, Olshen and Stone (Classification
// and Regression Trees, 1984, chapter 3) in four currencies.
//
// # What is minimised
//
// The risk R(T) of a pruned tree is the sum over its leaves of their share of
// the training weight times the impurity (entropy in bits or Gini index) of
// their raw class weights. For alpha >= 0 the optimal pruned tree is the
// smallest one that minimises
//
//	R(T) + alpha * C(T)
//
// where C is the number of leaves (Leaves), the expected cost of the tests (Cost), or the cost of
// the tests on the most expensive path (MaxCost). As alpha grows the optimal trees are nested: each
// node has an alpha at and above which it is a leaf, and these alphas give the whole sequence.
//
// With the currency Total, R is the expected cost of the errors of the leaves' decisions, and C the expected cost of the
// tests: alpha 1 gives the pruning of the least total cost on the training rows, and other alphas allow for what training
// rows promise too much or too little.
//
// # How it is computed
//
// Let F_v(alpha) be the least R + alpha C over the prunings of the subtree of v. It is concave and
// piecewise linear; F_v = min(leaf_v, own_v + sum of F over the children), where leaf_v is linear
// and flatter than every subtree, so the two cross once, at the alpha of v. The breakpoints of the
// sum are the breakpoints of all children; those at or beyond the crossing vanish, and the crossing
// is a new one. Breakpoints are kept in a mergeable heap with the largest on top: each node is
// pushed once and popped at most once, O(nodes log nodes) in all, however deep the tree is.
// Searching for the weakest link again after each cut would take the square of that.
//
// For MaxCost the optimal trees are limited: without the tests that lead beyond a limit on the cost
// of a path. The alphas are the slopes of the lower convex hull of their risk over their limit,
// which also takes O(nodes log nodes).
//
// # Equal alphas, and subtrees that gain nothing
//
// Alphas that only differ by rounding are merged, and their nodes are cut at once. The sequence
// begins with the unpruned tree at alpha 0. Subtrees whose leaves are no purer than their root also
// have alpha 0: as in scikit-learn's cost_complexity_pruning_path they are cut in a step of their
// own, so alpha 0 occurs twice then, and At(0) is the smaller tree.
//
// # Scores of the whole sequence
//
// A pruned tree only merges leaves. Sweep walks along the sequence with the rows counted by leaf of
// the unpruned tree. Each node becomes a leaf once and ceases to be a leaf once, and the area under
// the ROC curve is updated exactly at each change, by sums over ranks of probabilities.
package prune
