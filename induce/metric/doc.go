// Package metric measures a tree on rows: accuracy, areas under the ROC curve, log loss, Brier
// score, calibration, gains and the cost of the tests, with confidence intervals.
//
// A tree gives all rows of a leaf the same probabilities. So the metrics follow from
// a table of the leaves with the weight of each class (see Leaf), for any number of
// rows.
//
// # Intervals
//
// All intervals have 95 % confidence and follow from the same table: DeLong's for
// areas, Wilson's for shares, normal ones for means. If rows are weighted, a weight of
// w counts as w N/W rows, where W is the weight of all N rows. This is exact for equal
// weights. The table does not have the squares of the weights. With them the
// intervals would be wider by sqrt(1 + v), if the weights are independent of the
// outcome; v is the squared coefficient of variation of the weights.
//
// # Determinism
//
// Weights are integers, and so are the sums for confusion matrices and areas. Sums of floats run
// over the leaves sorted by their contents: the order of the caller's leaves never matters, not
// even in the last bit.
package metric
