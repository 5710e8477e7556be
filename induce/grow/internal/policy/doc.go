// Package policy grows trees of the least total cost: the price of the tests and the cost of the errors. Growth by
// impurity does not know what errors cost, and so it neither sees that a test saves more than it costs nor cuts where a decision
// changes.
//
// # The search
//
// The total of a node is the cost of the errors of its best single decision or, if it is lower, the price of a test for
// the rows of the node plus the totals of the children. A search computes it by dynamic programming: nodes with the same
// objects, whose tests have paid for the same features, are computed once (the AND/OR search of Greiner, Grove and Roth:
// Learning cost-sensitive active classifiers, 2002; Verwer and Zhang, van der Linden and others: STreeD, 2023). Class
// shares are drawn towards the shares of all objects, so that few rows do not promise too much; if Params.Empirical is set,
// the errors of the training rows count as they are, as in STreeD.
//
// The candidates at a node are two tests of each feature: the test with the least cost of errors after it, and the test
// that lowers the generalised Gini index the most (Breiman and others: Classification and Regression Trees, 1984, section
// 4.4), which is the cost of errors if decisions are drawn with the class shares. A search has a budget of steps. If the
// budget does not suffice for all candidates, only the most promising ones are searched, and with a smaller budget the
// nodes below are leaves. With few features and values the search is exact over these tests.
//
// # The growth
//
// Each node takes the test of its own search. If no test lowers the total within sight of the search, the test with the
// greatest gain for its price is taken: the prunings of the tree decide whether it stays.
//
// Counts are integers, and floating-point numbers only score, in the same order everywhere: the tree depends neither on
// the order of the objects nor on the processor.
//
// It is not meant for other programs: package inmemory grows all trees.
package policy
