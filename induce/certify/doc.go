// Package certify bounds from below what every tree costs in expectation that
// separates the same objects by the same family of tests over the same bins, and so
// says how good a tree is. Of trees over finer bins it says nothing.
//
// # Glossary
//
//   - object i: weight w_i, class y_i; W is the sum of the weights.
//   - leaf: homogeneous (of one class), or within theta: it weighs at most theta W.
//   - rival of i: an object of another class. Peer: one of the same class.
//   - cut: what a test takes away from the codes around i, see type cut.
//   - region: the codes that some cuts leave.
//
// All bounds hold for every tree over the tests, so for the best one. cost(i) is
// what the tests on i's path cost, M(i) the weight of its leaf, K a test's number
// of outcomes.
//
// # The leaf that an object can have
//
// If i's leaf is homogeneous, each rival must be parted from i by a test on the
// path. That test takes away what one of the rival's cuts does, and costs no less
// (appendCuts lists the least cuts). So the leaf lies in one of the regions that
// the rival's cuts leave, and has paid for that cut: once for each item, as of
// the thresholds on one side of i's code the nearest alone does what all do; once
// for an attribute where repeats are free; and once for a group. Taking rivals
// in turn gives a tree of regions, of which bound opens the most promising
// first. Wherever the search stops, the least value of the regions left bounds
// the leaf, if value grows with cost and falls with the weight in the region.
// Rivals that are left out only make regions larger, so any choice of them is
// sound. Peers are left out only where a rival lies in the least region that
// covers both, when no homogeneous leaf has them.
//
// What the cuts in a region still cost is bounded by a fractional set cover: the
// rivals in the region must all be taken away,
//
//	min sum of c_s x_s  subject to  sum of x_s over the cuts s of rival j >= 1 for all j.
//
// Payments u_j >= 0 such that no item is asked for more than its price (of what
// is beyond, groups bear their own price once) are a solution of the dual, so
// their sum is a bound: sum u_j <= sum_j u_j sum_(s of j) x_s <= sum c_s x_s.
// packing pays greedily, fractional by multiplicative weights scaled down to
// feasibility; both leave 1e-9 to rounding. Paid for a region, the rivals whom a
// cut does not concern are also paid for the region that the cut leaves. If all
// costs are multiples of a unit a path's cost is rounded up to one.
//
// If the leaf is within theta instead, tests must take at least (1 - theta) W
// away. Each takes at most what the widest cut of its kind does, so a fractional
// knapsack of these bounds the cost (shrinking), and M(i) <= theta W.
//
// # From leaves to the tree
//
// A value V(d, M) grows with d and falls with M. The method is the name of the
// value; v_i is the least V of a leaf that i can have.
//
// cover: V = d. The mean of cost(i) is the expected cost, cost(i) >= v_i.
//
// kraft: let rate be the most bits, log2 K, that a test has per unit of cost, or
// log2 of its codes for an attribute whose repeats are free. Walk down the tree
// at random, each outcome with probability 1/K (an outcome of a free attribute
// with the share of the codes left that it has). A leaf of cost d is reached with
// probability at least 2^(-rate d), and these sum up to at most 1. So
//
//	sum_i w_i/M(i) 2^(-rate cost(i)) = sum over leaves of 2^(-rate d) <= 1,
//
// and for any multiplier nu >= 0
//
//	expected cost >= sum_i w_i/W (cost(i) + nu W/M(i) 2^(-rate cost(i))) - nu >= sum_i w_i/W v_i - nu
//
// with V(d, M) the least of x + nu W/M 2^(-rate x) over x >= d. For
// nu = 1/(rate ln 2) and no other bound on cost(i) this is the entropy of the
// leaves over rate, so at least the entropy of the classes less what theta leaves
// open; the bounds on cost(i) make it more.
//
// information: the answers on a path say as much as the leaves' entropy
// H = sum_i w_i/W log2(W/M(i)). By the chain rule the answers of one attribute say
// at most the entropy of its codes in all, and at most log2 K, or log2 of its
// codes where repeats are free, for each price paid. A group's price is paid with
// the probability q that it is asked, and its answers say at most q times the
// sum of its attributes' log2 of codes. So H bits cost at least a fractional
// knapsack of bits, the cheapest first, of which each tangent is a bound:
// expected cost >= slope H - offset. A share tau of it and 1 - tau of cover give
// V = (1 - tau) d + tau slope log2(W/M), less tau offset.
//
// optimum: on tiny data a dynamic programme over sets of objects is exact.
//
// Which value is used is chosen on a pilot of objects; any choice is sound.
//
// # Samples
//
// With many objects the mean of v_i is taken over draws by weight, and where there
// are more still, M is a share too: of a fresh sample S that i is the first draw
// of. In expectation the mean of v_i still bounds. For the draws in S are alike,
// and if m is the share of S in a leaf, the sum over them that stands for
// sum_i w_i/M(i) 2^(-rate cost(i)) is 2^(-rate d) for a homogeneous leaf that S
// hits, and m/theta 2^(-rate d) for a leaf within theta, whose m is at most theta
// in expectation: again at most 1 in all. And the entropy of the shares in S is
// in expectation at most that of the weights, as it is concave.
//
// The draws are independent, and their values at most a number that the pilot
// has set (what is more is cut off, which is sound): lowerLimit is a lower
// confidence limit on their mean, so with its confidence a bound. Draws depend on
// the seed and a hash of the codes, not on the order of the objects.
package certify
