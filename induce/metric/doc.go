// Package metric says how good a tree is on some rows: accuracy, areas under the
// ROC curve, log loss, Brier score, calibration, gains, and what asking its tests
// costs; and how uncertain that is.
//
// A tree gives all rows of a leaf the same probabilities, so a table of its
// leaves with the weight of each class in them (see Leaf) is all that is needed,
// however many rows there are.
//
// # Intervals
//
// All intervals are of 95 % and follow from the same table: DeLong's for areas,
// Wilson's for shares, normal ones for means. Where rows are weighted, their
// weights are taken to scale the number of rows in a leaf and class: with W the
// weight of all N rows, a weight of w stands for w N/W rows. That is exact for
// equal weights. The squares of the weights, which the table does not have, would
// make the intervals wider by sqrt(1 + v) where v is the squared coefficient of
// variation of the weights and they have nothing to do with the outcome.
//
// # Determinism
//
// Weights are integers and so are the sums behind confusions and areas. Sums
// of floats run over the leaves in an order of their contents: the order in
// which leaves are given never matters, not even to the last bit.
package metric
