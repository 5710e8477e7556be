// Package runpage writes the report of a training run: one HTML file with its script, its
// style and its data, which any browser opens offline. It says in words what the tree asks,
// what a row costs and how far the probabilities can be trusted, and it has the trees of the
// frontier as far as the size of the page allows.
//
// It is not meant for other programs.
package runpage
