// Package synth makes up data sets of any size whose classes follow a hidden
// tree. It only makes values; writing them is left to others.
//
// # What is in a data set
//
//   - Numeric columns x00, x01, ...: numbers on a grid of their own each, of 64
//     to 4096 values; x01 and x02 are whole numbers, the last one has 2^32
//     values.
//   - Categorical columns c00, c01, ...: 2 to 32 values, the first the commonest.
//   - The label "class": the class of the leaf that the row reaches in the
//     hidden tree, or, for a share of noise, one of the other classes.
//
// A few columns are dear. Each of them has a proxy: a cheap column that shows
// the dear one's value blurred. The hidden tree asks dear columns and some of
// the cheap ones, its root a dear one; proxies it never asks.
//
// # How a value comes about
//
// A value is a function of the seed, its column and its row's number alone: a
// hash of the three. So any part of a data set can be made by itself, and no
// number of workers, no cut into files or row groups changes a value. Copies
// are rows that take the number of a prototype instead of their own.
//
//	number of the row
//	  -> id          its own number, or that of a prototype
//	  -> level       per column: a hash of key and id, shaped, or missing
//	  -> value       the level's in the column's dictionary
//	  -> leaf        by levels, through the hidden tree
//	  -> class       the leaf's, or another by a hash of the row's own number
//
// All of this is integer arithmetic; floating point values are whole multiples
// of powers of two, so that every processor makes the same bytes.
package synth
