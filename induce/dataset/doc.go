// Package dataset holds what passes between the stages of training: the
// decoded columns of a row group, the fitted features, the codes of rows and
// the objects they coalesce into.
//
// # Glossary
//
//   - row: one record of the input.
//   - column: any column of the input; feature, label, weight and key are the
//     parts a column can play.
//   - value: what a row holds in a column, before coding.
//   - code: the small integer that stands for a value of a feature. Numeric
//     features have one code per bin and one for missing; categorical features
//     have one per value, then one for "other", then one for "missing".
//   - object: all rows with the same codes, coalesced, with the weight of each
//     class among them.
//   - block: the columnar binary form of many objects.
//
// The package depends on the standard library only and does no I/O.
package dataset
