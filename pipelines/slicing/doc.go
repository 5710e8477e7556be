// Package slicing measures trees on the rows that share a value of a column: the settings
// --slice of training, evaluation and prediction. It is not meant for other programs.
package slicing
