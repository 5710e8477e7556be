// Package metric says how good a tree is on some rows: accuracy, areas under the
// ROC curve, log loss, Brier score, and what asking its tests costs.
//
// A tree gives all rows of a leaf the same probabilities, so a table of its
// leaves with the weight of each class in them (see Leaf) is all that is needed,
// however many rows there are.
//
// # Determinism
//
// Weights are integers and so are the sums behind confusions and areas. Sums
// of floats run over the leaves in an order of their contents: the order in
// which leaves are given never matters, not even to the last bit.
package metric
