// Package refit gives a tree the counts of other rows. The tests stay, and so do their scores,
// which describe the rows from which the tree was grown; counts and prices are new.
package refit
