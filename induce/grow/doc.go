// Package grow is what the two growers have in common: open nodes, the rules of leaves, the search for the best
// tests, and the choices of the trees. It is not meant for other programs.
//
// A grower supplies the histograms of a node's features, and decides which open node comes next. Package inmemory
// has all histograms at once, shared out among goroutines, and grows depth first; package bylevel has them in
// passes of some features each, and grows breadth first. For each open node both do the same:
//
//  1. Search.Open separates the trees in which the node is a leaf from the trees that need a test.
//  2. Search.Scan estimates the best score of each feature, for each tree. Trees whose criteria
//     measure outcomes in the same way form a split.Team, which looks at a test once for all of
//     them. A tree with heavy objects in the node, or with a criterion that no team estimates, has
//     a team of its own, whose scores are exact.
//  3. Search.Collect scores exactly the tests that may still be a tree's best test or, in a node
//     that names it, the runner-up. Search.Measure measures a test.
//  4. Search.Choices picks the best test and the runner-up of each tree from these, writes them to the nodes, and
//     groups the trees by their tests.
//  5. Rules.Describe sets the rows and the class weights of nodes.
//  6. Open.Children makes the open children by each choice.
//
// The trees are the same to the last bit, whoever supplies the histograms, as estimates do not
// decide: each is a pair of bounds of the exact score, and a test is left out only if its upper
// bound is below the lower bound of another test. That the bounds hold is up to split.Team.
package grow
