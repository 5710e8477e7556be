// Package counting counts rows by what trees say about them, in integers that add up in any
// order to the same bytes.
//
// A Table counts rows by a key of whole words and of probabilities. Rows with the same key
// share an entry, which has their number and the sums of some counters, such as weights by
// class. A table has a bound. Beyond it probabilities lose their lowest bits, as few as
// possible, until the entries fit; words and counters stay exact.
package counting
