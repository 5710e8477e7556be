// Package parquetio reads columns of Parquet files into dataset vectors. It is
// the only package that knows Parquet.
//
// # The way of a column
//
//	Open         two ranged reads at most: the footer
//	schema.go    each top-level column gets a kind: how its values become
//	             numbers or texts
//	RowGroup     nothing is read yet
//	ReadColumn   one ranged read: the bytes of one column chunk
//	chunk.go     the chunk's pages, one by one: checks, decompression, levels
//	decode.go    dictionary indexes and plain values into the vector
//
// All encodings are first brought into the PLAIN layout (or into dictionary
// indexes), so that each type is converted in one place.
//
// # Hostile files
//
// Every length that a file states is checked against what is really there
// before memory is taken for it, and no decoder is given more than it was
// checked for. What is wrong with a file's content is reported as
// *dataset.DataError with the place; faults of storage are not.
package parquetio
