// Package tallies grows trees from tallied rows: rows of Go types, counted by equal values, as a
// dataset.Tally. An Encoder makes the keys of rows, FitTally fits bins and classes to a tally, Code
// turns its rows into objects, and Grow grows and chooses a tree, by the same code as package
// pipelines. The rows are in the memory of one process.
//
// It serves induce/train, where all rows are in memory, and transforms, whose workers tally the rows of
// a pipeline. It is not meant for other programs.
package tallies
