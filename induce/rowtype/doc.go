// Package rowtype reads rows that are values of Go types: structs by their fields, maps by their
// keys. It serves gorows, which documents what fields may hold, and transforms. It is
// not meant for other programs.
package rowtype
