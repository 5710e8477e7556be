// Package pmml writes a tree as a PMML 4.4 document.
//
// A tree is a TreeModel. The first child of a node has the condition of yes, and the second child
// takes all other rows, because a comparison with a missing value is not true. Leaf models are
// RegressionModels, which a chain of models chooses by the leaf; boosters are sums of regression
// trees in this chain.
package pmml
