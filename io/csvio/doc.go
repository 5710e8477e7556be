// Package csvio reads CSV files with a header, and infers the types of their columns.
//
// Records are those of RFC 4180, read by encoding/csv: fields between delimiters, quotes around
// fields that hold delimiters, quotes or line ends, and doubled quotes inside of them. A file may
// be compressed by gzip, and may begin with a byte-order mark. Empty lines are skipped. Faults are
// dataset.DataErrors that name file, line and column.
package csvio
