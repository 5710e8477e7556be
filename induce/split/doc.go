// Package split scores tests: the criterion in closed form over histograms, and
// the scan that finds a node's best test.
//
// # Glossary
//
//   - histogram: objects and weight by (code, class) of one feature in one node.
//   - test: a question on one feature; its outcomes are disjoint sets of codes.
//   - light, heavy object: one that weighs at most, or more than, theta W.
//   - candidate: a test with its cost and score in a node.
//
// # The criterion
//
// For a node v and a test t with outcomes x, over N[x][c] objects and M[x][c]
// weight of class c (the greedy criterion of the paper):
//
//	balance        = (w_v - w_big) / W,  big = the outcome with most objects
//	efficiency     = 1/W * sum over objects i of w_i * (1 - r(x_i, max(w_i, theta W)))
//	                 r(x, m) = max(w_x - m, 0) / (w_v - m) * pairs(x) / pairs(v)
//	discrimination = w_v/W * (phi(v) - sum_x w_x/w_v * phi(x))
//	score          = (balance + efficiency + lambda * discrimination) / cost
//
// Light objects share one term per outcome. For a heavy object w_x >= w_i, so
//
//	w_i * (1 - (w_x - w_i)/(w_v - w_i) * q) = w_i * (1 - q) + q * (w_v - w_x) * w_i/(w_v - w_i)
//
// with q = pairs(x)/pairs(v): the heavy objects of an outcome need no list
// either, only the sum of their weights and the sum of w_i/(w_v - w_i). The
// latter is kept in 64.64 fixed point, so that it is an integer too, adds in any
// order and any number of workers to the same bits, and errs by less than
// 2^-64 an object. Any theta, zero included, costs O(1) per test.
//
// # Classes of objects and of rows
//
// An object has one class, the class with the most weight among its rows: N counts objects by that
// class. The guarantee needs it, as no test tells the rows of an object apart. M is weight by class,
// and Classes says of what. By OfObjects, the paper's rule, the whole weight of an object counts for
// the object's class. By OfRows each row counts for its own class, so that the impurity sees a rare
// class that nowhere has the most rows. The weights of soft objects are always counted as by OfRows.
//
// By OfObjects a node without pairs, pairs(v) = 0, is a leaf. By OfRows such a node can still be
// split if M has several classes and, for soft objects, the labels have several classes. There
// efficiency is 0, and only tests with a discrimination above 1e-12 compete. In nodes with pairs a
// test that gains nothing competes as well, because the guarantee needs it.
//
// # Tests
//
// A feature's codes are 0..B-1 (bins or values), then "other" for a categorical
// feature whose rare values are one code, then missing.
//
//	kind        outcome 1                         where
//	threshold   code >= b and not missing, b >= 1 numeric; families threshold, both, multiway, set, all
//	bin         code = b                          numeric; families onehot, both, all
//	equals      code = b                          categorical; all families but multiway
//	multiway    one outcome per code              categorical; family multiway
//	other       the code of "other"               in addition to equals
//	missing     the code of missing               in addition to all but multiway
//	in          one of a set of codes             categorical; families set, and all for many codes
//
// Tests for sets take the values in the order of the share of a class, and divide them at each place: see groups. A
// value without rows in the node, or with a single row, and "other" go with the heavier side, missing with the no
// branch. A set is not tested where values have prices of their own.
//
// Test order: tests are sorted by feature (dataset.TestOrder gives features their
// order), then by kind in the order of this table, then by code. Only tests with at least two outcomes in the node compete. Scores
// within 1e-12 * max(1, |best|) of the best one are equal; among equals the
// cheapest test wins, then the first in test order.
//
// # Costs and constraints
//
// The cost of a test at a node is the price still to be paid there: the test's own
// price, and the price of the feature's group unless a test above was of the group
// (Column.At). If nothing is to be paid, the score is divided by a tenth of the
// feature's cost. If the feature itself is free, the score is divided by a tenth of
// the least price of any test (Columns). A least price below 1e-6 or above 1e6 makes
// ties meaningless; all prices are then multiplied by a power of two before scores
// are compared. Variants of the tree count only part of a group's price in scores
// (SetUps); the bill stays the same. A monotone feature excludes thresholds
// whose sides are in the wrong order.
//
// # Determinism
//
// Counts, weights and the sums of heavy objects are integers. Only the scoring uses
// floating point, always over the same integers in the same order. Products are
// rounded before they are added, so no processor fuses the two.
package split
