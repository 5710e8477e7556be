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
// # Tests
//
// A feature's codes are 0..B-1 (bins or values), then "other" for a categorical
// feature whose rare values are one code, then missing.
//
//	kind        outcome 1                         where
//	threshold   code >= b and not missing, b >= 1 numeric; families threshold, both, multiway
//	bin         code = b                          numeric; families onehot, both
//	equals      code = b                          categorical; families onehot, threshold, both
//	multiway    one outcome per code              categorical; family multiway
//	other       the code of "other"               beside equals
//	missing     the code of missing               beside all but multiway
//
// Test order is that of the features, within a feature that of this table, and
// within a kind that of the codes. Only tests with two outcomes or more in the
// node compete. Scores within 1e-12 * max(1, |best|) of the best one are equal;
// among equals the cheapest test wins, then the first in test order.
//
// # Costs and constraints
//
// A test costs what is still to be paid at its node: the price of its feature's
// group where no test before was of that group, and its own (Column.At). Where
// nothing is to be paid, the score is divided by a tenth of the feature's cost, and
// of the least price of any test where the feature costs nothing (Columns). Where that
// price is below 1e-6 or above 1e6, all prices are multiplied by a power of two before
// scores are compared, so that the tolerance of ties means what it does at prices
// near 1.
// Trees beside the plain one count less of a group's price in scores (SetUps); what
// is billed is the same. Monotone constraints take tests out of the competition (Bounds).
//
// # Determinism
//
// Counts, weights and the heavy sums are integers. Floating point appears in
// this package's scoring alone, always over the same integers in the same
// order, with products kept apart from sums so that no processor fuses them.
package split
