// Package bylevel grows trees level by level from counts, for data with too many objects
// for the memory of one machine. It grows all trees of a grid together: nodes with the same
// path in several trees are counted once.
//
// # The loop
//
//  1. A Growth starts with an open root, which all trees share (NewGrowth).
//  2. Grower.Passes plans how to count the large open nodes within the memory: the
//     objects of one level in one pass, or in several.
//  3. Many workers count objects, each with its own PassCounter, and emit encoded pieces
//     of their counts (PassCounter.Pieces). Pieces of one key add up in any order and
//     grouping (Grower.MergePieces, Grower.AddPiece).
//  4. Grower.Expand reads the merged counts, finds the best test of each tree by a
//     grow.Search, and splits the nodes: by one test or, if trees choose different
//     tests, by several. The children are the next level (Growth.Next), until no large node
//     is left.
//  5. Package inmemory grows the whole subtrees of small nodes: Open.Place is the place of a
//     node in its trees, and a Router on Growth.Routes finds its objects.
//
// A growth and its passes can be written as JSON, so each step may run on another machine,
// and a stopped run continues after its last level. If time runs out, Grower.Close makes
// leaves of the large nodes.
//
// If there is enough memory, the histogram of the largest child of a node is not counted
// but inferred: it is the parent's histogram minus the siblings' histograms.
//
// Counts are integers, and package grow finds the tests for package inmemory too, so both
// grow the same trees to the last bit, whatever the memory, the budget and the number of
// workers.
//
// # Glossary
//
//   - budget: the greatest number of objects of a small node.
//   - large node: an open node with more objects. It is split by counts.
//   - level: the large nodes of a growth, all of which are split in one step.
//   - pass: one pass over all objects, to count some open nodes and features.
//   - route: a node on the way to the nodes that are counted or gathered.
//   - piece: an encoded part of the counts of a pass, with a key.
//   - family: the children of one node by one test, with its histogram.
package bylevel
