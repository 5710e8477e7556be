// Package boost fits boosters: sums of small regression trees, by gradient boosting (Friedman,
// Annals of Statistics 29, 2001; Newton steps as in Chen and Guestrin, KDD 2016). A booster
// begins with scores that rows have already, such as those of the models of a tree's leaves,
// and adds to them. It may use only features that are paid for, so it costs nothing.
//
// The scores are those of leaf models: the logit of the second of two classes, or one score for
// each class of more. A leaf of a regression tree has a number for each score.
//
// An ensemble is a teacher: boosted trees over all features, that rate objects out of fold.
package boost
