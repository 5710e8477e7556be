// Package gorows scores rows that are values of Go types: structs by their fields (Scorer), and
// maps by their keys (MapScorer).
//
// A column of a struct is an exported field. Its name comes from the first of the tags espalier,
// parquet, beam and json that has a name, else it is the field's own name. The name "-"
// leaves the field out. Fields of embedded structs are columns too, by Go's rules.
//
// Fields may be numbers, strings, bools, time.Time, types with one of these underneath,
// pointers to them, and structs of a value and a field Valid, as sql.NullFloat64. A nil
// pointer, NaN, a zero time and an invalid value are missing.
package gorows
