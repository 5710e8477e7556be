// Package source reads the sources of a run: the files of the input with their footers, columns and
// row groups, the columns in their paths, and the storage that the driver and its workers share. It
// is not meant for other programs.
//
//	Files  the stores of one run, and the Parquet reader over them
//	Input  the contents of the footers of all input files
package source
