// Package gorows scores rows that are values of Go types: structs by their fields (Scorer), and
// maps by their keys (MapScorer). Given a tree of tree.Read:
//
//	type Patient struct {
//		Age  *float64 `espalier:"age"`
//		Name string   `espalier:"-"`
//	}
//	scorer, err := gorows.NewScorer[Patient](t)
//	prediction, err := scorer.Predict(&patient)
//	fmt.Println(prediction.Class, prediction.Probabilities, prediction.Cost)
//
// A column of a struct is an exported field. Its name comes from the first of the tags espalier,
// parquet, beam, bigquery and json that has a name, else it is the field's own name. The name "-"
// leaves the field out. Fields of embedded structs are columns too, by Go's rules.
//
// Fields may be numbers, strings, bools, time.Time, types with one of these underneath,
// pointers to them, and structs of a value and a field Valid, as sql.NullFloat64. A nil
// pointer, NaN, a zero time and an invalid value are missing. An empty string is a value: use a
// *string for a text that may be missing.
package gorows
