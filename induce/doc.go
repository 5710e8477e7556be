// Package induce grows classification trees by the greedy criterion of Zhang and Gionis,
// "Regularized impurity reduction: accurate decision trees with complexity guarantees".
//
// # The way of a row
//
//	column vectors       dataset.Vector         one row group
//	value summaries      binning.Summary        mergeable
//	cuts and values      dataset.Feature        fitted on the training rows
//	codes                dataset.Encoder        a small integer per feature
//	objects              dataset.Objects        rows with equal codes, coalesced
//	histograms           split.Histogram        objects and weight by code and class
//	the best test        grow.Search            bounds by split.Team, then exact scores
//	grown nodes          tree.Node              by inmemory.Grow, or by bylevel.Grower
//	the tree             tree.Tree              made by tree.New; canonical JSON, routing
//	models in leaves     leafmodel.Fit          if they are asked for
//	metrics              metric.Evaluate        from the leaves' class weights
//
// # Growing
//
// A tree is grown from the root. Each open node is counted: its objects by code and class,
// for each feature. All tests are scored from these counts, and the best one splits the
// node. A node without a test, or that the parameters close, is a leaf.
//
// There are two growers. Package inmemory grows whole trees over objects in memory.
// Package bylevel splits nodes whose objects do not fit in memory, level by level, from
// counts that many workers make and add up. Neither knows the other: each supplies
// histograms to package grow, which finds the tests of a node. So both grow the same
// tree to the last bit. This package has what all three share.
//
// # Glossary
//
//   - object: all rows with the same codes in all features, with the weight of these rows.
//     Its class is the class with the greatest weight among them.
//   - code: the number of a value's bin or category in a feature.
//   - cell: the number or the weight of a node's objects of one code and class.
//   - histogram: the cells of a node, for all features or some (see Layout).
//   - raw class weights: the weight of the rows by their own class.
//   - open node: a node that may still be split. A closed node is a leaf; a stopped one is
//     a leaf only because time ran out.
//   - place: the depth of a node and the path to it. The prices of tests depend
//     on the path.
//
// This package and those below it use the standard library only and do no I/O.
package induce
