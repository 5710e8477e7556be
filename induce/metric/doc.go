// Package metric measures a tree on rows: accuracy, areas under the ROC curve, log loss, Brier
// score, calibration, gains and the cost of the tests, with confidence intervals.
//
// A tree gives all rows of a leaf the same probabilities. So the metrics follow from
// a table of the leaves with the weight of each class (see Leaf), for any number of
// rows.
//
// # Intervals
//
// All intervals have 95 % confidence and follow from the same table: Wilson's, with DeLong's variance for
// areas, and with the sample variance for means. Rows are drawn one by one, with weights, or in
// groups:
//
//   - Weights: if leaves have Squares, rows have the information of as many rows as Kish's effective
//     number, by class for figures of classes. Without Squares, a weight of w counts as w N/W rows,
//     where W is the weight of all N rows, which is exact for equal weights.
//   - Groups: rows with the same key are one unit of chance. The standard error follows from a jackknife over
//     buckets of groups, and the interval from Student's t distribution.
//
// tree.GroupCounts, which comes with the counts of the rows, has both the weights and the groups.
//
// # Determinism
//
// Weights are integers, and so are the sums for confusion matrices and areas. Sums of floats run
// over the leaves sorted by their contents: the order of the caller's leaves never matters, not
// even in the last bit.
package metric
