// Package binning summarises the columns of the training rows and fits bins
// and categories to the summaries.
//
// # Glossary
//
//   - summary: the distinct values of one column with their weights.
//   - bucket: an interval of neighbouring float64 values that counts as one
//     distinct value, once a column has too many of them.
//   - bin: interval of a numeric feature with one code; bin b holds the values
//     between cuts b-1 and b.
//   - cut: boundary of two bins; values below it belong to the left bin.
//   - tail: the categories beyond the limit, which become "other".
//
// # Use
//
//	s := binning.New(dataset.Numeric, dataset.Number, binning.DefaultLimits())
//	s.AddVector(vector, rows, nil) // for each row group, then Merge the summaries
//	cuts := binning.FitNumeric(s, binning.Quantile, 128)
//
// # Determinism
//
// Weights are integers. A summary depends only on the multiset of added values and
// weights: not on their order, nor on their distribution over merged summaries. Fits
// read the values in ascending order.
package binning
