// Package frontier chooses among the pruned trees of several grown trees: a
// grid of algorithms, lambdas, thetas and so on, each tree pruned along its
// sequences (see prune).
//
// # What is compared
//
// Trees are compared by billed expected cost on the training rows and by merit:
// the area under the ROC curve on the validation rows, or half and half with that
// on folds of the training rows, averaged over prunings of nearly the same size
// (see Judge). Test figures are carried along and never looked at. Where the
// validation rows are all of one class they have no area, and minus the log loss
// in nats takes its place. The merit is of one kind for all points of a choice:
// areas only where all points have one.
//
// # Ties
//
// Equal merit and cost go by fewer leaves, then by the order of the grid, the
// currency and the step, so that every choice is a function of the points alone
// and not of their order.
package frontier
