// Package certify computes a lower bound on the expected cost of every tree that
// separates the given objects by the given family of tests over the given bins.
// Cost over bound says how good a tree is. The bound does not hold for trees over
// finer bins.
//
// # Glossary
//
//   - object i: weight w_i, class y_i, the class with the most weight among its rows; W is the sum
//     of the weights.
//   - leaf: homogeneous (its objects have one class), or within theta: it weighs at most theta W.
//   - rival of i: an object of another class. Peer: one of the same class.
//   - cut: the codes around i that a test takes away, see type cut.
//   - region: the codes around i that a set of cuts leaves.
//
// All bounds hold for every tree over the tests, so for the best one. cost(i) is
// the sum of the prices paid on i's path, M(i) the weight of i's leaf, K a test's
// number of outcomes.
//
// Trees that grow from the classes of rows (split.OfRows) separate the objects in this sense too:
// a node with objects of two classes is a leaf only within theta. So the bound holds for them. They
// may test further where all objects of a node have one class. The bound does not count what this
// tells apart, and the paper's factor does not hold with such tests: see Grown.Beyond.
//
// # The leaf that an object can have
//
// If i's leaf is homogeneous, some test on the path separates i from each rival. That test removes
// at least the codes of one of the rival's cuts, and costs no less (appendCuts lists the least
// cuts). So the leaf is in the region of one of the rival's cuts, and has paid for that cut. A
// cut's item is paid once: among the thresholds on one side of i's code, the nearest removes
// everything that the farther ones do. A feature is paid once if repeats are free, and a group is
// paid once. Taking the rivals in turn gives a tree of regions. The search opens the region of
// least value first. Wherever the search stops, the least value among the regions not yet opened
// bounds the leaf, provided that the value grows with the cost and falls with the weight in the
// region. Any choice of rivals is sound: leaving out a rival only makes regions larger. A peer is
// left out only if a rival is in the smallest region around both, because then no homogeneous leaf
// holds both.
//
// A fractional set cover bounds the cost that a leaf in a region has still to pay.
// All rivals in the region must be taken away:
//
//	min sum of c_s x_s  subject to  sum of x_s over the cuts s of rival j >= 1 for all j.
//
// Payments u_j >= 0 are a solution of the dual if no item receives more than its price. In addition
// to these prices, a group may receive its own price once. The sum of the payments is then a bound:
// sum u_j <= sum_j u_j sum_(s of j) x_s <= sum c_s x_s. The method packing pays greedily, and
// leaves a margin of 1e-9 for rounding. Payments made for a region stay valid for the region behind
// a further cut, less the part that the cut's item receives. If all prices are multiples of a unit,
// the cost of a path is rounded up to the unit.
//
// If the leaf is within theta instead, tests must remove at least (1 - theta) W. A test removes at
// most the weight of the widest cut of its kind. A fractional knapsack of these weights bounds the
// cost (shrinking), and M(i) <= theta W.
//
// # From leaves to the tree
//
// A value V(d, M) of a leaf with cost d and weight M grows with d and falls with M.
// The method is the name of the value; v_i is the least V among the leaves that can
// hold i.
//
// cover: V = d. The mean of cost(i) is the expected cost, and cost(i) >= v_i.
//
// kraft: let rate be the most bits that a unit of cost buys: log2 K for a test, and
// log2 of the number of codes for a feature whose repeats are free. Walk down the
// tree at random. Each outcome has probability 1/K; an outcome of a free feature
// has the share of the codes still possible. A leaf of cost d is reached with
// probability at least 2^(-rate d), and the probabilities sum to at most 1. So
//
//	sum_i w_i/M(i) 2^(-rate cost(i)) = sum over leaves of 2^(-rate d) <= 1,
//
// and for any multiplier nu >= 0
//
//	expected cost >= sum_i w_i/W (cost(i) + nu W/M(i) 2^(-rate cost(i))) - nu >= sum_i w_i/W v_i - nu
//
// with V(d, M) the least of x + nu W/M 2^(-rate x) over x >= d. For
// nu = 1/(rate ln 2), and without other bounds on cost(i), this is the entropy of
// the leaves over rate: at least the entropy of the classes, less the bits that
// leaves within theta leave open. The bounds on cost(i) raise it.
//
// A pilot of objects decides between the values; any choice is sound.
//
// # Samples
//
// With many objects, the mean of v_i is taken over draws by weight. With more
// objects still, M is estimated: it is the leaf's share of a fresh sample S whose
// first draw is i. The mean of v_i remains a bound in expectation. The draws in S
// are exchangeable. Let m be the share of S in a leaf. In the sum
// sum_i w_i/M(i) 2^(-rate cost(i)) over S, a homogeneous leaf hit by S contributes
// 2^(-rate d). A leaf within theta contributes m/theta 2^(-rate d), and its m is at
// most theta in expectation. The sum is again at most 1 in expectation. The
// expected entropy of the shares in S is at most the entropy of the weights,
// because entropy is concave.
//
// The draws are independent. The pilot sets the greatest value of a draw; higher
// values are cut to it, which is sound. lowerLimit returns a lower confidence limit
// on the mean of the draws, so it is a bound with that confidence. The draws depend
// on the seed and on a hash of the codes, not on the order of the objects.
package certify
