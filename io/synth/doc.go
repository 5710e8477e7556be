// Package synth generates synthetic data sets of any size. Their classes follow a hidden tree. The
// package generates values, and does not write files.
//
// # What is in a data set
//
//   - Numeric columns x00, x01, ...: each has its own grid of 64 to 4096 numbers. x01 and
//     x02 are whole numbers; the last column has 2^32 values.
//   - Categorical columns c00, c01, ...: 2 to 32 values, the first the commonest.
//   - The label "class": the class of the row's leaf in the hidden tree or, for a share of
//     noise, another class.
//
// Some columns are expensive. Each expensive column has a proxy: a cheap column with the same
// value, blurred. The hidden tree tests expensive columns and some of the cheap ones. Its root
// tests an expensive column, and no node tests a proxy.
//
// # How a value is made
//
// A value is a hash of the seed, its column and its row's number. So each part of a data set can be
// generated independently. A value does not depend on the number of workers, or on the files and
// row groups. A copy is a row that uses the number of a prototype instead of its own.
//
//	number of the row
//	  -> id          its own number, or the number of a prototype
//	  -> level       per column: a hash of key and id, shaped, or missing
//	  -> value       the level's value in the column's dictionary
//	  -> leaf        by levels, through the hidden tree
//	  -> class       the leaf's class, or another by a hash of the row's own number
//
// All computations are integer arithmetic, and floating-point values are integer multiples of
// powers of two. So every processor generates the same bytes.
package synth
