// Package induce grows classification trees by the greedy criterion of Zhang
// and Gionis, "Regularized impurity reduction: accurate decision trees with
// complexity guarantees".
//
// # The way of a row
//
//	column vectors       dataset.Vector         one row group
//	value summaries      binning.Summary        mergeable
//	cuts and values      dataset.Feature        fitted on the training rows
//	codes                dataset.Encoder        a small integer per feature
//	objects              dataset.Objects        rows with equal codes, coalesced
//	histograms           split.Histogram        objects and weight by code and class
//	the best test        split.Scanner          the criterion in closed form
//	the tree             tree.Tree              nodes, canonical JSON, routing
//	metrics              metric.Evaluate        from the leaves' class weights
//
// # Growing
//
// A node whose objects fit in memory is grown whole by package memory. Of nodes
// that do not fit package levels keeps the counts only, and splits them level by
// level. Both score the same integers by the same code, so they give the same tree
// to the last bit. This package has what they share: the nodes and the tree that
// is made of them, the path to a node, histograms, and what the columns want.
//
// This package and those below it use the standard library only and do no
// I/O.
package induce
