// Package frontier chooses among the pruned trees of several grown trees: a
// grid of algorithms, lambdas, thetas and so on, each tree pruned along its
// sequences (see prune).
//
// # What is compared
//
// Trees are compared by expected cost on the training rows and by the area
// under the ROC curve on the validation rows, or half and half with that on folds of
// the training rows (see Point); test figures are carried along
// and never looked at. Where the validation rows have no area, because they are
// all of one class, the log loss takes its place: the merit of a tree is its
// area, else minus its log loss in nats. The merit is of one kind for all points
// of a choice: the area only where all have it.
//
// # Ties
//
// Equal merit and cost go by fewer leaves, then by the order of the grid, the
// currency and the step, so that every choice is a function of the points alone
// and not of their order.
package frontier
