// Package inmemory grows whole trees over objects that are held in memory.
//
// # The loop
//
// Each open node is counted, its tests are scored, and its objects go to the children
// of the best test:
//
//  1. A node is a leaf if the criterion, the depth or the number of rows requires it, or if
//     Options.Stop returns true. Its rows and raw class weights are summed up.
//  2. The codes of each feature are counted into cells: objects and weight by code and
//     class. A node that is large for the number of cells keeps the histogram. Features whose
//     values do not vary in a node are left out in the nodes below.
//  3. A grow.Search finds the best test of each tree in the cells of all features. The
//     best test splits the node.
//  4. The objects are partitioned by outcome, in their order. If the parent kept its
//     histogram, the smaller children are counted and subtracted from it, and the
//     largest child gets what is left.
//
// Each worker grows whole subtrees, depth-first. A worker without a subtree takes over a
// large node of another worker, or helps with its features. See workerPool.
//
// Several trees are grown together: they start as members of one open node, and stay
// members of the same nodes as long as they choose the same tests. Such a node is
// counted once, and scanned once for all criteria that measure outcomes in the same way.
//
// A node has the numbers of its objects in memory of its own, so it can be split by
// several tests. All subtrees below one test are grown before the next test splits the
// node, and their memory is released: only the open nodes of one path are in memory at a time.
//
// Counts are integers, and each tie has a rule, so the tree does not depend on the order
// of the objects, on the workers, or on the other trees.
//
// # Glossary
//
//   - code table: the codes of objects. An open node has the numbers of its objects in a table.
//   - block: the numbers of the objects of siblings, in one slice.
//   - gather: to copy the codes of a node's objects to a table of their own.
package inmemory
