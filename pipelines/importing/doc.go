// Package importing makes Parquet files of CSV files. It is not meant for other programs.
package importing
