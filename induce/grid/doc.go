// Package grid lists the trees of a training, and turns grown nodes into models.
//
// The grid has a member for each combination of an algorithm, a lambda, a theta, a family of
// tests and a number of bins. All members grow from the same objects.
package grid
