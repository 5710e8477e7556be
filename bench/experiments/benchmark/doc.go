// Package benchmark runs the paper's experiments on a folder of data sets: all algorithms, plain
// and pruned, at two laws of costs, on several splits; and their tables. It is not meant for other
// programs.
package benchmark
