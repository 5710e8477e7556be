// Package boost fits boosters: sums of small regression trees, by gradient boosting (Friedman,
// Annals of Statistics 29, 2001; Newton steps as in Chen and Guestrin, KDD 2016). A booster starts
// from existing scores of the rows, such as the scores of the leaf models of a tree, and adds to
// them. It may only use features that are paid for, so it adds no cost.
//
// The scores are defined as for leaf models (package leafmodel): the logit of the second of two classes,
// or one score for each of several classes. A leaf of a regression tree has a value for each score.
//
// An ensemble is a teacher: boosted trees over all features, which predict objects out of fold.
package boost
