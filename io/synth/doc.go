// Package synth makes up data sets of any size. Their classes follow a hidden tree. The
// package makes values, and does not write files.
//
// # What is in a data set
//
//   - Numeric columns x00, x01, ...: each has its own grid of 64 to 4096 numbers. x01 and
//     x02 are whole numbers; the last column has 2^32 values.
//   - Categorical columns c00, c01, ...: 2 to 32 values, the first the commonest.
//   - The label "class": the class of the row's leaf in the hidden tree or, for a share of
//     noise, another class.
//
// Some columns are dear. Each dear column has a proxy: a cheap column with the dear column's
// value, blurred. The hidden tree tests dear columns and some of the cheap ones. Its root
// tests a dear column, and no node tests a proxy.
//
// # How a value is made
//
// A value is a hash of the seed, its column and its row's number. So each part of a data set
// can be made on its own. A value does not depend on the number of workers, or on the files
// and row groups. A copy is a row that uses the number of a prototype in place of its own.
//
//	number of the row
//	  -> id          its own number, or that of a prototype
//	  -> level       per column: a hash of key and id, shaped, or missing
//	  -> value       the level's value in the column's dictionary
//	  -> leaf        by levels, through the hidden tree
//	  -> class       the leaf's class, or another by a hash of the row's own number
//
// All of this is integer arithmetic, and floating point values are whole multiples of powers
// of two. So every processor makes the same bytes.
package synth
