// Package report writes the report of a training run: a single HTML file with its script, its
// style and its data, which any browser opens offline. It describes in words what the tree asks,
// what a row costs and how far the probabilities can be trusted, and it contains as many trees of
// the frontier as fit into a page.
//
// It is not meant for other programs.
package report
