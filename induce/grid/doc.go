// Package grid lists the trees that one training grows, and makes models of them.
//
// The grid has a member for each combination of an algorithm, a lambda, a theta, a family of
// tests and a number of bins. All members grow from the same objects.
package grid
