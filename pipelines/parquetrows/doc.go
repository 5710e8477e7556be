// Package parquetrows reads Parquet files as rows of Go types in Beam pipelines, with the
// reader and the object stores of Espalier.
package parquetrows
