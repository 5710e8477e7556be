// Package refit gives a tree the counts of other rows. The tests stay, and so do their scores, which tell
// of the rows that the tree was grown from; counts and prices are new.
package refit
