// Package drifting measures how far the rows of Parquet files have moved from the training rows of a
// run. It is not meant for other programs: package pipelines has Drift.
package drifting
