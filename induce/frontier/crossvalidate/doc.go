// Package crossvalidate compares the prunings of a pool (see frontier.Pool) on folds
// of the training objects.
//
// The rows are divided into folds by group if rows have keys, otherwise one by one: see Deal. For
// each fold, all trees of the grid are grown again from the objects of the other folds, pruned in
// the same currencies, and scored on the objects of the fold. The counterpart of a point is the
// pruning of the fold's tree that costs about as much as the point. The area of a point is the
// average area of its counterparts.
//
// All folds have the codes of the whole training data: bins are not fitted again. So folds show how
// far a tree depends on the objects, given the bins.
package crossvalidate
