// Package crossvalidate compares the prunings of a pool (see frontier.Pool) on folds
// of the training objects.
//
// The rows are dealt to the folds by group, where rows have keys, else by object: see Deal. For each fold all trees of the grid are grown
// anew from the objects of the other folds, pruned in the same currencies, and scored on
// the objects of the fold. The pruning of a fold's tree that costs about as much as a point is
// the counterpart of the point. The area of a point is the mean area of its counterparts.
//
// All folds have the codes of the whole training data: bins are not fitted anew. So
// folds show how far a tree depends on the objects, given the bins.
package crossvalidate
