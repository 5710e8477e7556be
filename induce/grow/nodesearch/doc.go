// Package nodesearch finds the best tests of an open node, for all trees that share the node. It is not
// meant for other programs.
//
// Both growers use it. A grower supplies the histograms of the node's features: package memory
// all of them at once, shared out among goroutines; package levels in passes of some features
// each. The search is the same:
//
//  1. Search.Scan estimates the best score of each feature, for each tree. Trees whose criteria
//     measure outcomes in the same way form a split.Team, which looks at a test once for all of
//     them. A tree with heavy objects in the node, or with a criterion that no team estimates, has
//     a team of its own, whose scores are exact.
//  2. Search.Collect scores exactly the tests that may still be a tree's best test or, in a node
//     that names it, the runner-up.
//  3. Search.Choose picks the best test and the runner-up from these.
//  4. Search.Parts measures a test.
//
// The trees are the same to the last bit, whoever supplies the histograms, as estimates do not
// decide: each is a pair of bounds of the exact score, and a test is left out only if its upper
// bound is below the lower bound of another test. That the bounds hold is up to split.Team.
package nodesearch
