// Package dataset has the data types passed between the stages of training: the decoded
// columns of a row group, the fitted features, the codes of rows, and the objects into
// which rows coalesce.
//
// # Glossary
//
//   - row: one record of the input.
//   - column: any column of the input. Its role is feature, label, weight or key.
//   - value: the content of a row in a column, before coding.
//   - code: a small integer for a value of a feature. A numeric feature has one code
//     per bin, then one for missing. A categorical feature has one code per value,
//     then one for "other", then one for missing.
//   - object: all rows with the same codes, coalesced, with their weight by class.
//   - block: the columnar binary form of many objects.
//
// The package depends on the standard library only and does no I/O.
package dataset
