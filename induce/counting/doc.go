// Package counting counts rows by the predictions of trees, in integers whose sums have the same
// bytes in any order.
//
// A Table counts rows by a key of integers (words) and probabilities. Rows with the same key share
// an entry, which holds how many there are and the sums of counters, such as weights by class. A
// table is bounded. Beyond the bound, probabilities lose their lowest bits, as few as possible,
// until the entries fit; words and counters stay exact.
package counting
