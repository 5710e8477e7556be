// Package forest grows random forests of trees. A forest is a teacher: a model that gives
// soft labels to training rows. Forests are never written or shipped.
//
// # The trees
//
// A tree draws rows with replacement, with chances by the weight of the objects (bagging, Breiman
// 2001). In each node it considers some features, drawn at random, and takes the test with
// the least Gini index: a threshold between two codes of a numeric feature, with missing
// values on the better side, or a set of categories, ordered by their share of one class.
// Trees grow until leaves are pure. A leaf's probabilities are its class shares, mixed with
// a little of the class shares of all objects. The forest's probabilities are the mean over its
// trees.
//
// # Out of bag
//
// A tree has learned nothing from the rows that it did not draw. OutOfBag rates each row by the
// trees that did not draw it, so a row's own label does not influence its probabilities. The
// rows of an object are drawn independently, in up to 16 lots for each class.
//
// # Made-up objects
//
// MakeUp returns objects around the training objects, for a teacher to label.
//
// # The same bits
//
// The draws of a tree depend on the seed, the number of the tree and the codes of each
// object. Weights are integers, and tests are compared by sums of them. So forests and made-up
// objects depend neither on the order of the objects nor on the number of goroutines.
package forest
