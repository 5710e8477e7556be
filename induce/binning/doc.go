// Package binning summarises the columns of the training rows and fits bins
// and categories to the summaries.
//
// # Glossary
//
//   - summary: the distinct values of one column with their weights.
//   - bucket: an interval of neighbouring float64 values that counts as one
//     distinct value, once a column has too many of them.
//   - bin: what a code stands for in a numeric feature; bin b holds the values
//     between cuts b-1 and b.
//   - cut: boundary of two bins; values below it go to the left one.
//   - tail: the categories that are too many and become "other".
//
// # Use
//
//	s := binning.New(dataset.Numeric, dataset.Number, binning.DefaultLimits())
//	s.AddVector(vector, rows, nil) // for each row group, then Merge the summaries
//	cuts := binning.FitNumeric(s, binning.Quantile, 128)
//
// # Determinism
//
// Weights are integers, and what a summary says depends on nothing but the
// union of the values and weights that went into it: not on their order, nor
// on how they were dealt to summaries that were merged. Fits read the values in
// ascending order.
package binning
