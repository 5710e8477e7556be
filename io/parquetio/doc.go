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
// All encodings are first converted to the PLAIN layout or to dictionary indexes, so each
// type is converted in one place.
//
// # Hostile files
//
// Every length in a file is checked against the bytes of the file before memory is
// allocated for it. Decoders get only checked bytes. A fault of a file's content is a
// *dataset.DataError with its place; a fault of the storage is another error.
package parquetio
