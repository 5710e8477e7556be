// Package csvio reads CSV files with a header, and infers the types of their columns.
//
// Records follow RFC 4180, and are read by encoding/csv: fields between delimiters, quotes around
// fields that contain delimiters, quotes or line ends, and doubled quotes inside them. A file may
// be compressed by gzip, and may begin with a byte-order mark. Empty lines are skipped. Faults are
// dataset.DataErrors that name file, line and column.
package csvio
