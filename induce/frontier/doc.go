// Package frontier chooses among the pruned trees of several grown trees: a
// grid of algorithms, lambdas, thetas and so on, each tree pruned along its
// sequences (see prune).
//
// # What is compared
//
// Trees are compared by billed expected cost on the training rows and by merit. The
// merit is a figure on the validation rows, or the mean of this figure and of the
// figure on folds of the training rows: the area under the ROC curve, the accuracy
// or minus the log loss in nats (see Criterion). It is averaged over prunings of
// nearly the same size (see Judge). Figures of the test rows take no part.
// Validation rows of a single class have no area; the merit is then minus the log
// loss. All points of a choice have the same kind of merit.
//
// # Ties
//
// At equal merit and cost the point with fewer leaves comes first, then the order
// of the grid, the currency and the step decides. So a choice does not depend on
// the order of the points.
package frontier
